"""What a plan is: exact fields, checked as a whole, repaired nowhere; and which step is next."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal, get_args

from .repository import is_control

PLAN_SCHEMA = "planner_worker_plan_v0"
STEP_SCHEMA = "planner_worker_step_v0"
MOST_STEPS = 8
LONGEST_PLAN = 256 * 1024
"""Bytes of a planner's answer that are read."""

ActionKind = Literal["edit", "create", "delete", "validate", "research", "design", "investigate"]
Executor = Literal["cheap_worker", "strong_worker", "planner_only"]
Tier = Literal["cheap", "strong", "none"]
Autonomy = Literal["narrow", "bounded", "open"]
TIERS: dict[str, Tier] = {"cheap_worker": "cheap", "strong_worker": "strong", "planner_only": "none"}

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PLAN_FIELDS = ("schema_version", "plan_id", "objective", "steps")
_STEP_FIELDS = (
    "schema_version", "step_id", "planner_order", "role", "target_files", "action_kind",
    "recommended_executor", "worker_model_tier", "worker_autonomy", "worker_ready",
    "worker_blockers", "context_budget", "research_summary", "implementation_notes",
    "instruction", "depends_on", "validation_commands", "done_criteria", "escalation_policy",
    "verification",
)  # fmt: skip
_BUDGET_FIELDS = ("max_files", "max_bytes_per_file", "allow_extra_files")


class ContractError(ValueError):
    """A plan, a route or an approval that is not what it has to be. Nothing was run on it."""


@dataclass(frozen=True)
class ContextBudget:
    """How much a worker may change."""

    max_files: int
    max_bytes_per_file: int
    allow_extra_files: bool


@dataclass(frozen=True)
class Step:
    """One step of a plan, its fields as the planner wrote them."""

    step_id: str
    planner_order: int
    target_files: tuple[str, ...]
    action_kind: ActionKind
    recommended_executor: Executor
    worker_model_tier: Tier
    worker_autonomy: Autonomy
    worker_ready: bool
    worker_blockers: tuple[str, ...]
    context_budget: ContextBudget
    research_summary: str
    implementation_notes: tuple[str, ...]
    instruction: str
    depends_on: tuple[str, ...]
    validation_commands: tuple[str, ...]
    done_criteria: tuple[str, ...]
    escalation_policy: str
    verification: str


@dataclass(frozen=True)
class Plan:
    """A plan whose steps are in their order."""

    plan_id: str
    objective: str
    steps: tuple[Step, ...]


SelectionStatus = Literal[
    "selected", "completed", "planner_required", "blocked", "waiting_dependencies"
]


@dataclass(frozen=True)
class Selection:
    """The step that is next, or why none is."""

    status: SelectionStatus
    step: Step | None


def parse_plan(text: str) -> Plan:
    """The plan in a planner's answer, which is one JSON object and nothing around it.

    Raises :class:`ContractError`, which names the field.
    """
    if len(text.encode("utf-8", "surrogatepass")) > LONGEST_PLAN:
        raise ContractError(f"the planner's answer is longer than {LONGEST_PLAN} bytes")
    try:
        given = json.loads(text, object_pairs_hook=_no_double, parse_constant=_no_constant)
    except RecursionError:
        raise ContractError("the planner's answer is nested too deeply") from None
    except ValueError as error:
        if isinstance(error, ContractError):
            raise
        raise ContractError("the planner's answer is not one bare JSON object") from None
    if not isinstance(given, dict):
        raise ContractError("the planner's answer is not one bare JSON object")
    return read_plan(given)


def read_plan(given: dict[str, Any]) -> Plan:
    """The plan in a JSON object."""
    _exactly(given, _PLAN_FIELDS, "planner-worker plan")
    _is(given, "schema_version", PLAN_SCHEMA, "plan")
    steps = given["steps"]
    if not isinstance(steps, list) or not steps:
        raise ContractError("plan.steps must be a non-empty list")
    if len(steps) > MOST_STEPS:
        raise ContractError(f"planner-worker plan must contain at most {MOST_STEPS} steps")
    read = [_step(step, f"steps[{n}]") for n, step in enumerate(steps, 1)]
    for name in ("step_id", "planner_order"):
        values = [getattr(step, name) for step in read]
        if len(set(values)) != len(values):
            raise ContractError(f"each step needs a {name} of its own")
    plan = Plan(
        plan_id=_id(given, "plan_id", "plan"),
        objective=_text(given, "objective", "plan"),
        steps=tuple(sorted(read, key=lambda step: step.planner_order)),
    )
    _no_cycle(plan)
    return plan


def select(plan: Plan, completed_step_ids: tuple[str, ...] = ()) -> Selection:
    """The first step in order that a worker may do; else why the first that is left waits."""
    known = {step.step_id for step in plan.steps}
    done = set(completed_step_ids)
    if unknown := sorted(done - known):
        raise ContractError(f"a completed step is not in the plan: {unknown[0]}")
    left = [step for step in plan.steps if step.step_id not in done]
    if not left:
        return Selection("completed", None)
    for step in left:
        if _why_not(step, done) is None:
            return Selection("selected", step)
    return Selection(_why_not(left[0], done) or "planner_required", left[0])


def _why_not(step: Step, done: set[str]) -> SelectionStatus | None:
    if step.recommended_executor == "planner_only":
        return "planner_required"
    if step.worker_blockers:
        return "blocked"
    if not set(step.depends_on) <= done:
        return "waiting_dependencies"
    return None if step.worker_ready else "planner_required"


def _step(given: Any, at: str) -> Step:
    if not isinstance(given, dict):
        raise ContractError(f"{at} must be an object")
    _exactly(given, _STEP_FIELDS, at)
    _is(given, "schema_version", STEP_SCHEMA, at)
    _is(given, "role", "worker", at)
    executor = _one_of(given, "recommended_executor", Executor, at)
    tier = _one_of(given, "worker_model_tier", Tier, at)
    if tier != TIERS[executor]:
        raise ContractError(f"{at}.worker_model_tier must equal {TIERS[executor]} for {executor}")
    ready = given["worker_ready"]
    if not isinstance(ready, bool):
        raise ContractError(f"{at}.worker_ready must be true or false")
    blockers = _texts(given, "worker_blockers", at)
    if ready and blockers:
        raise ContractError(f"{at}.worker_ready must be false when worker_blockers exist")
    targets = _texts(given, "target_files", at)
    for path in targets:
        _relative(path, f"{at}.target_files")
    if len(set(targets)) != len(targets):
        raise ContractError(f"{at}.target_files names a file twice")
    step = Step(
        step_id=_id(given, "step_id", at),
        planner_order=_positive(given["planner_order"], f"{at}.planner_order"),
        target_files=targets,
        action_kind=_one_of(given, "action_kind", ActionKind, at),
        recommended_executor=executor,
        worker_model_tier=tier,
        worker_autonomy=_one_of(given, "worker_autonomy", Autonomy, at),
        worker_ready=ready,
        worker_blockers=blockers,
        context_budget=_budget(given["context_budget"], f"{at}.context_budget"),
        research_summary=_text(given, "research_summary", at, may_be_empty=True),
        implementation_notes=_texts(given, "implementation_notes", at),
        instruction=_text(given, "instruction", at),
        depends_on=_texts(given, "depends_on", at),
        validation_commands=_texts(given, "validation_commands", at),
        done_criteria=_texts(given, "done_criteria", at),
        escalation_policy=_text(given, "escalation_policy", at),
        verification=_text(given, "verification", at),
    )
    if ready and executor != "planner_only":
        for name in ("target_files", "validation_commands", "done_criteria"):
            if not getattr(step, name):
                raise ContractError(f"{at}.{name} must be non-empty for an executable step")
    return step


def _budget(given: Any, at: str) -> ContextBudget:
    if not isinstance(given, dict):
        raise ContractError(f"{at} must be an object")
    _exactly(given, _BUDGET_FIELDS, at)
    if not isinstance(given["allow_extra_files"], bool):
        raise ContractError(f"{at}.allow_extra_files must be true or false")
    return ContextBudget(
        max_files=_positive(given["max_files"], f"{at}.max_files"),
        max_bytes_per_file=_positive(given["max_bytes_per_file"], f"{at}.max_bytes_per_file"),
        allow_extra_files=given["allow_extra_files"],
    )


def _no_cycle(plan: Plan) -> None:
    needs = {step.step_id: step.depends_on for step in plan.steps}
    for step, depends_on in needs.items():
        for other in depends_on:
            if other not in needs:
                raise ContractError(f"step {step} has unknown dependency: {other}")
    done: set[str] = set()
    while len(done) < len(needs):
        free = [step for step in needs if step not in done and set(needs[step]) <= done]
        if not free:
            first = next(step for step in needs if step not in done)
            raise ContractError(f"planner-worker plan contains a dependency cycle at {first}")
        done.update(free)


def _exactly(given: dict[str, Any], fields: tuple[str, ...], at: str) -> None:
    if unknown := sorted(set(given) - set(fields)):
        raise ContractError(f"{at} contains unknown fields: {', '.join(unknown)}")
    if missing := [field for field in fields if field not in given]:
        raise ContractError(f"{at} is missing required fields: {', '.join(missing)}")


def _is(given: dict[str, Any], field: str, value: str, at: str) -> None:
    if given[field] != value:
        raise ContractError(f"{at}.{field} must be {value}")


def _one_of(given: dict[str, Any], field: str, words: Any, at: str) -> Any:
    known = get_args(words)
    if not isinstance(given[field], str) or given[field] not in known:
        raise ContractError(f"{at}.{field} must be one of {', '.join(known)}")
    return given[field]


def _id(given: dict[str, Any], field: str, at: str) -> str:
    value = given[field]
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise ContractError(f"{at}.{field} must be 1 to 64 letters, digits, dots, dashes")
    return value


def _text(given: dict[str, Any], field: str, at: str, may_be_empty: bool = False) -> str:
    value = given[field]
    if not isinstance(value, str) or not (may_be_empty or value.strip()):
        raise ContractError(f"{at}.{field} must be a non-empty text")
    return value


def _texts(given: dict[str, Any], field: str, at: str) -> tuple[str, ...]:
    value = given[field]
    if not isinstance(value, list) or not all(isinstance(t, str) and t.strip() for t in value):
        raise ContractError(f"{at}.{field} must be a list of non-empty texts")
    return tuple(value)


def _positive(value: Any, at: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ContractError(f"{at} must be a positive integer")
    return value


def _relative(path: str, at: str) -> None:
    parts = PurePosixPath(path).parts
    plain = path == str(PurePosixPath(path)) and path.isprintable() and "\\" not in path
    if not parts or not plain or path.startswith(("/", "~")) or ".." in parts or is_control(path):
        raise ContractError(f"{at} must be a repository-relative path")


def _no_double(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ContractError("the planner's answer names a field twice")
    return found


def _no_constant(word: str) -> Any:
    raise ContractError(f"the planner's answer holds {word}, which is not JSON")
