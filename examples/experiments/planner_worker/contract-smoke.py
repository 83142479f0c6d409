#!/usr/bin/env python3
"""Checks the contract of the planner-worker: which plans are taken, which step is next, what may
be approved, and when a cost is known. Starts no model and nothing else."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    from planner_worker import ContractError, ModelRoute, Price, Usage, parse_plan, read_plan, select
    from planner_worker.fake import plan, step
    from planner_worker.routes import cost
    from planner_worker.validation import approved
except ImportError as error:
    if (error.name or "").partition(".")[0] != "loopx":
        raise
    print(
        f"the loopx wheel is missing ({error}): build it in a checkout with `cargo xtask python --pack`"
        " and install it with `python3 -m pip install target/python/wheels/loopx_kernel-*.whl`",
        file=sys.stderr,
    )
    sys.exit(2)

BUDGET = {"max_files": 0, "max_bytes_per_file": 1, "allow_extra_files": False}
REFUSED = [
    ("an unknown field", plan([step()], x=1), "unknown fields: x"),
    ("a missing field", plan([{k: v for k, v in step().items() if k != "instruction"}]), "missing"),
    ("nine steps", plan([step(f"s{n}", n) for n in range(1, 10)]), "at most 8 steps"),
    ("no steps", plan([]), "non-empty"),
    ("an absolute target", plan([step(target_files=["/a"])]), "repository-relative"),
    ("a target above", plan([step(target_files=["../a"])]), "repository-relative"),
    ("a target in .git", plan([step(target_files=[".git/hooks/x"])]), "repository-relative"),
    ("another tier", plan([step(worker_model_tier="strong")]), "must equal cheap"),
    ("ready with blockers", plan([step(worker_blockers=["b"])]), "must be false"),
    ("an unknown dependency", plan([step(depends_on=["zz"])]), "unknown dependency: zz"),
    ("a cycle", plan([step(depends_on=["one"])]), "cycle at one"),
    ("no budget", plan([step(context_budget=BUDGET)]), "max_files must be a positive integer"),
    ("no checks", plan([step(validation_commands=[])]), "non-empty for an executable step"),
    ("true as an order", plan([step(planner_order=True)]), "positive integer"),
    ("one id twice", plan([step(), step(order=2)]), "step_id of its own"),
    ("another role", plan([step(role="planner")]), "must be worker"),
]
NOT_APPROVED = [
    "rm -rf build", "python3 -c pass", "python3 /tmp/x.py", "python3 ../x.py", "sh check.sh",
    "python3 a.py | cat", "/usr/bin/python3 a.py", "pytest --rootdir=/x", "python3 'a",
    "python3 -", "python3 -W ignore -Bc pass", "npx --call x", "npm exec -- x", "npx node -e x",
]  # fmt: skip


def refusal(work) -> str:
    try:
        work()
    except ContractError as error:
        return str(error)
    return ""


def check(name: str, holds: bool) -> bool:
    print(f"{'ok' if holds else 'FAILED'} {name}")
    return holds


def main() -> int:
    held = []
    whole = json.dumps(plan([step(), step("two", 2, depends_on=["one"])]))
    held.append(check("a whole plan is taken", len(parse_plan(whole).steps) == 2))
    for name, given, part in REFUSED:
        held.append(check(f"{name} is refused", part in refusal(lambda: read_plan(given))))
    for around in (f"Here: {whole}", f"```json\n{whole}\n```", f"[{whole}]", f"{whole}{whole}", ""):
        held.append(check("what is not one bare object is refused", "bare JSON" in refusal(lambda: parse_plan(around))))
    twice = whole.replace('"plan_id"', '"plan_id": "x", "plan_id"', 1)
    held.append(check("a field twice is refused", "twice" in refusal(lambda: parse_plan(twice))))

    several = [
        step("p", 1, recommended_executor="planner_only", worker_model_tier="none"),
        step("b", 2, worker_ready=False, worker_blockers=["a key"]),
        step("w", 3, depends_on=["e"]),
        step("e", 4),
    ]
    for left, done, status, chosen in [
        (several, (), "selected", "e"),
        (several, ("e",), "selected", "w"),
        (several, ("e", "w"), "planner_required", "p"),
        (several, ("e", "w", "p"), "blocked", "b"),
        (several, ("p", "b", "w", "e"), "completed", None),
    ]:
        found = select(read_plan(plan(left)), done)
        held.append(check(f"after {len(done)} steps: {status}", (found.status, found.step and found.step.step_id) == (status, chosen)))
    waits = read_plan(plan([step("w", 1, depends_on=["b"]), step("b", 2, worker_ready=False, worker_blockers=["x"])]))
    held.append(check("a step waits for others", select(waits).status == "waiting_dependencies"))
    held.append(check("an unknown completed step is refused", "not in the plan" in refusal(lambda: select(waits, ("zz",)))))

    for command in NOT_APPROVED:
        held.append(check(f"not to be approved: {command.split()[0]} ...", bool(refusal(lambda: approved([command])))))
    held.append(check("plain checks can be approved", len(approved(["python3 check.py", "cargo test --lib"])) == 2))

    route, other = ModelRoute("m", "low"), ModelRoute("n", "low")
    prices = {"m": Price(Decimal(1), Decimal(2), "EUR"), "n": Price(Decimal(1), Decimal(2), "USD")}
    spent = [(route, Usage(1_000_000, 500_000)), (route, Usage(0, 0))]
    for name, turns, pricing, amount, reason in [
        ("without prices a cost is incomplete", spent, None, None, "pricing_missing"),
        ("without a count a cost is incomplete", [(route, Usage(1, None))], prices, None, "usage_incomplete"),
        ("in two currencies a cost is incomplete", [*spent, (other, Usage(1, 1))], prices, None, "currencies_differ"),
        ("with prices a cost is complete", spent, prices, Decimal(2), None),
    ]:
        found = cost(turns, pricing)
        held.append(check(name, (found.complete, found.amount, found.reason) == (amount is not None, amount, reason)))

    print(f"planner-worker contract: {sum(held)} of {len(held)} checks hold")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
