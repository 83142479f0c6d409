"""A model's turn: what it is asked, and what it may answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, TypeGuard, get_args

from .contract import Plan, Step
from .routes import ModelRoute, Usage, is_usage

Outcome = Literal["completed", "failed", "timeout"]


@dataclass(frozen=True)
class TurnRequest:
    """What a model is asked."""

    role: Literal["planner", "worker"]
    prompt: str
    cwd: Path
    route: ModelRoute
    may_write: bool
    timeout_seconds: float


@dataclass(frozen=True)
class TurnResult:
    """How a model's turn ended."""

    outcome: Outcome
    text: str = ""
    usage: Usage | None = None
    """As it was reported at the turn's end; None when it was not. Counts are from 0 up."""


class Runtime(Protocol):
    """A provider of models. It ends a turn at its time limit, and everything that it started."""

    def __call__(self, request: TurnRequest) -> TurnResult: ...


def is_result(found: object) -> TypeGuard[TurnResult]:
    """Whether a provider answered what it has to, its parts of their types."""
    return (
        isinstance(found, TurnResult)
        and isinstance(found.outcome, str)
        and found.outcome in get_args(Outcome)
        and isinstance(found.text, str)
        and is_usage(found.usage)
    )


def turn_of(runtime: Runtime, request: TurnRequest) -> TurnResult | None:
    """A worker's turn, or None for an answer that is none; one that raises has failed, and what it
    says stays with it."""
    try:
        found = runtime(request)
        return found if is_result(found) else None
    except TimeoutError:
        return TurnResult("timeout")
    except Exception:  # noqa: BLE001, a provider may raise anything
        return TurnResult("failed")


def planner_prompt(objective: str, task_instruction: str, commands: list[str]) -> str:
    """What the planner is asked."""
    checks = "\n".join(f"- {command}" for command in commands) or "- none"
    return (
        f"Objective: {objective}\nTask: {task_instruction}\n"
        "Answer with one JSON object of the schema planner_worker_plan_v0, at most 8 steps of the "
        "schema planner_worker_step_v0, and nothing around it. Change no file.\n"
        f"Checks that may be run, word for word:\n{checks}"
    )


def worker_prompt(plan: Plan, step: Step) -> str:
    """What the worker is asked: its step and no other."""
    files = "\n".join(f"- {path}" for path in step.target_files)
    criteria = "\n".join(f"- {text}" for text in step.done_criteria)
    notes = "".join(f"\n- {text}" for text in step.implementation_notes) or " none"
    return (
        f"Objective: {plan.objective}\nStep {step.step_id}: {step.instruction}\n"
        f"Files that may be changed:\n{files}\nNotes:{notes}\nDone when:\n{criteria}\n"
        f"When it cannot be done: {step.escalation_policy}"
    )
