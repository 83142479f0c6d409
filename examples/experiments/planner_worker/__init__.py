"""Planner-worker, an experiment: one call plans, runs at most one worker step, checks it with what
the caller approved, and answers a typed receipt. Nothing stable may import it."""

from .contract import ContractError, Plan, Step, parse_plan, read_plan, select
from .receipt import Receipt
from .repository import WorkspaceError
from .routes import Cost, ModelRoute, Price, Usage
from .runtime import run_planner_worker_once
from .turn import Runtime, TurnRequest, TurnResult
from .validation import ApprovedCommands, Validation
from .workspace import GitWorkspace, WriteScope

__all__ = [
    "ApprovedCommands",
    "ContractError",
    "Cost",
    "GitWorkspace",
    "ModelRoute",
    "Plan",
    "Price",
    "Receipt",
    "Runtime",
    "Step",
    "TurnRequest",
    "TurnResult",
    "Usage",
    "Validation",
    "WorkspaceError",
    "WriteScope",
    "parse_plan",
    "read_plan",
    "run_planner_worker_once",
    "select",
]
