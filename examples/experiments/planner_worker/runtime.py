"""One call: plan, run at most one step, check it, answer a receipt."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from . import routes as money
from . import workspace as place
from .contract import ContractError, Plan, Step, parse_plan, select
from .receipt import Reason, Receipt, Status
from .repository import WorkspaceError
from .routes import ModelRoute, Price, Usage
from .turn import (
    Runtime, TurnRequest, TurnResult, is_result, planner_prompt, turn_of, worker_prompt,
)  # fmt: skip
from .validation import ValidationRunner, approved, checked
from .workspace import Snapshot, WorkspaceObserver, WriteScope


def run_planner_worker_once(
    *,
    objective: str,
    task_instruction: str,
    cwd: str | os.PathLike[str],
    planner: Runtime,
    worker: Runtime,
    validation_runner: ValidationRunner,
    workspace_observer: WorkspaceObserver,
    approved_validation_commands: Iterable[str],
    model_routes: Mapping[str, ModelRoute],
    completed_step_ids: Iterable[str] = (),
    pricing: Mapping[str, Price] | None = None,
    turn_timeout_seconds: float = 1800.0,
) -> Receipt:
    """Plans once, runs at most one worker step, and checks it with what the caller approved.

    Raises :class:`ContractError` for a plan, a route, a price or an approval that is not what it
    has to be, :class:`WorkspaceError` for a workspace that is not clean, no worktree's root, or not
    the one that is watched, and what the planner raised; nothing of a worker was run then, and the
    workspace is as it was. Everything else is a receipt, which has no `plan_id` where a planner
    failed and left a change, or answered no whole :class:`TurnResult`.
    """
    folder = place.root_of(cwd, workspace_observer)
    commands = approved(approved_validation_commands)
    routes = money.checked(model_routes)
    prices = money.priced(pricing)
    completed = completed_of(completed_step_ids)
    workspace_observer.assert_clean()
    before = workspace_observer.snapshot()

    asked = TurnRequest(
        role="planner",
        prompt=planner_prompt(objective, task_instruction, sorted(commands)),
        cwd=folder,
        route=routes["planner"],
        may_write=False,
        timeout_seconds=turn_timeout_seconds,
    )
    spent: list[tuple[ModelRoute, Usage | None]] = []
    is_malformed = False
    plan: Plan | None = None

    def receipt(status: Status, reason: Reason, **known: object) -> Receipt:
        return Receipt(
            status=status,
            reason=reason,
            plan_id=None if plan is None else plan.plan_id,
            usage=money.total(spent),
            cost=money.cost(spent, prices),
            **known,  # type: ignore[arg-type]
        )

    def looked() -> Snapshot | None:
        try:
            return workspace_observer.snapshot()
        except WorkspaceError:
            return None

    failure: Exception | None = None
    try:
        planned = planner(asked)
        is_malformed = not is_result(planned)
        spent.append((asked.route, None if is_malformed else planned.usage))
        plan = None if is_malformed else plan_of(planned)
    except Exception as error:  # noqa: BLE001, a provider may raise anything
        failure = error
        spent = spent or [(asked.route, None)]
    # Before anything else is said: a planner that failed may have changed something, too.
    after_plan = looked()
    if after_plan is None:
        return receipt("failed", "workspace_unreadable")
    if changed := place.changes(before, after_plan):
        scope = WriteScope(False, changed, tuple(f"{path}:by_planner" for path in changed))
        return receipt("failed", "planner_changed_workspace", write_scope=scope)
    if is_malformed:
        return receipt("failed", "planner_result_malformed")
    if failure is not None:
        raise failure
    assert plan is not None
    chosen = select(plan, completed)
    step = chosen.step
    if step is None:
        return receipt("completed", "all_steps_completed")
    named = {"step_id": step.step_id, "executor": step.recommended_executor}
    if chosen.status == "planner_required":
        return receipt("planner_required", "step_for_planner", **named)
    if chosen.status == "blocked":
        return receipt("blocked", "step_has_blockers", **named)
    if chosen.status == "waiting_dependencies":
        return receipt("waiting_dependencies", "step_waits_for_others", **named)
    if not set(step.validation_commands) <= commands:
        return receipt("failed", "validation_not_approved", **named)
    if unsafe := place.unsafe_targets(folder, step, before):
        scope = WriteScope(False, {}, tuple(f"{path}:unsafe_target" for path in unsafe))
        return receipt("failed", "unsafe_targets", write_scope=scope, **named)
    route = routes.get(step.recommended_executor)
    if route is None:
        return receipt("failed", "route_missing", **named)
    named = {**named, "model_route": route, "worker_calls": 1}

    done = turn_of(
        worker,
        replace(
            asked, role="worker", prompt=worker_prompt(plan, step), route=route, may_write=True
        ),
    )
    spent.append((route, None if done is None else done.usage))
    after = looked()
    if after is None:
        return receipt("failed", "workspace_unreadable", **named)
    scope = place.check(folder, step, before, after)
    if done is None:
        return receipt("failed", "worker_result_malformed", write_scope=scope, **named)
    if done.outcome != "completed":
        reason: Reason = "worker_timeout" if done.outcome == "timeout" else "worker_failed"
        return receipt("failed", reason, write_scope=scope, **named)
    if not scope.passed:
        return receipt("failed", "worker_outside_contract", write_scope=scope, **named)

    # What was really written: extra files are no targets.
    written = {*step.target_files, *scope.changed_files}
    checks = [checked(validation_runner, command, folder, written) for command in _once(step)]
    named = {**named, "validation": checks}
    at_end = looked()
    if at_end is None:
        return receipt("failed", "workspace_unreadable", write_scope=scope, **named)
    if place.changes(after, at_end):
        scope = replace(place.check(folder, step, before, at_end), passed=False)
        return receipt("failed", "validation_outside_contract", write_scope=scope, **named)
    named = {**named, "write_scope": scope}
    if not all(check.passed for check in checks):
        return receipt("failed", "validation_failed", **named)
    if not any(check.independent for check in checks):
        return receipt("completed", "step_checked_by_its_own_files", **named)
    return receipt("completed", "step_validated", **named)


def plan_of(planned: TurnResult) -> Plan:
    """The plan that a planner's turn ended with."""
    if planned.outcome != "completed":
        raise ContractError(f"the planner's turn ended as {planned.outcome}, without a plan")
    return parse_plan(planned.text)


def completed_of(step_ids: Iterable[str]) -> tuple[str, ...]:
    """The ids of steps that are done, by what the caller says."""
    found = () if isinstance(step_ids, str) else tuple(step_ids)
    if isinstance(step_ids, str) or not all(isinstance(step_id, str) for step_id in found):
        raise ContractError("completed steps are a list of ids")
    return found


def _once(step: Step) -> list[str]:
    return list(dict.fromkeys(step.validation_commands))
