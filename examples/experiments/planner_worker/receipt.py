"""What a call answers: words, ids, numbers and paths of the workspace. Nothing that a model or a
check said is in it, no secret, and no place of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from loopx.boundary import redact

from .contract import ContractError, Executor
from .routes import Cost, ModelRoute, TotalUsage
from .validation import Validation
from .workspace import WriteScope

RECEIPT_SCHEMA = "planner_worker_receipt_v0"

Status = Literal["completed", "failed", "planner_required", "blocked", "waiting_dependencies"]
Reason = Literal[
    "step_validated",
    "step_checked_by_its_own_files",
    "all_steps_completed",
    "step_for_planner",
    "step_has_blockers",
    "step_waits_for_others",
    "planner_changed_workspace",
    "planner_result_malformed",
    "validation_not_approved",
    "unsafe_targets",
    "route_missing",
    "worker_failed",
    "worker_timeout",
    "worker_result_malformed",
    "worker_outside_contract",
    "validation_outside_contract",
    "validation_failed",
    "workspace_unreadable",
]


@dataclass(frozen=True)
class Receipt:
    """What was planned, what was done about at most one step, and what is known of it."""

    status: Status
    reason: Reason
    plan_id: str | None
    usage: TotalUsage
    cost: Cost
    step_id: str | None = None
    executor: Executor | None = None
    model_route: ModelRoute | None = None
    planner_calls: int = 1
    worker_calls: int = 0
    validation: Sequence[Validation] = ()
    write_scope: WriteScope = field(default_factory=WriteScope)

    def __post_init__(self) -> None:
        if self.status not in get_args(Status) or self.reason not in get_args(Reason):
            raise ContractError(f"a receipt has no {self.status}/{self.reason}")
        if self.worker_calls not in (0, 1) or self.planner_calls != 1:
            raise ContractError("a call plans once and runs at most one worker step")

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        said = asdict(self)
        said["cost"]["amount"] = None if self.cost.amount is None else str(self.cost.amount)
        return {"schema_version": RECEIPT_SCHEMA, **_public(said)}


def _public(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(key): _public(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_public(inner) for inner in value]
    return value
