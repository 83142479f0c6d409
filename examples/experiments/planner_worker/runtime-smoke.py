#!/usr/bin/env python3
"""Runs the planner-worker with a runtime that needs no provider, in a repository of its own, and
shows a receipt: what is done, what is refused, and that at most one step is run."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    from planner_worker import ApprovedCommands, GitWorkspace, ModelRoute, Price, TurnResult
    from planner_worker import run_planner_worker_once
    from planner_worker.fake import FakeRuntime, completed, plan, step
except ImportError as error:
    if (error.name or "").partition(".")[0] != "loopx":
        raise
    print(
        f"the loopx wheel is missing ({error}): build it in a checkout with `cargo xtask python --pack`"
        " and install it with `python3 -m pip install target/python/wheels/loopx_kernel-*.whl`",
        file=sys.stderr,
    )
    sys.exit(2)

CHECK = "import sys\nsys.exit(open('answer.txt').read() != '42\\n')\n"
ROUTES = {"planner": ModelRoute("fake-large", "high"), "cheap_worker": ModelRoute("fake-small", "low")}
PRICES = {
    "fake-large": Price(Decimal(10), Decimal(30), "USD"),
    "fake-small": Price(Decimal(1), Decimal(3), "USD"),
}
COMMANDS = ["python3 check.py"]


def repository(folder: Path) -> Path:
    (folder / "check.py").write_text(CHECK, encoding="utf-8")
    for words in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "--quiet", "-m", "x"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def once(worker: FakeRuntime, *steps: dict, pricing=None, commands=COMMANDS):
    with tempfile.TemporaryDirectory() as made:
        folder = repository(Path(made))
        return run_planner_worker_once(
            objective="The answer is written down",
            task_instruction="Write 42 into answer.txt",
            cwd=folder,
            planner=FakeRuntime(completed(json.dumps(plan(steps or [step()])))),
            worker=worker,
            validation_runner=ApprovedCommands(commands, timeout_seconds=60),
            workspace_observer=GitWorkspace(folder),
            approved_validation_commands=commands,
            model_routes=ROUTES,
            pricing=pricing,
        )


def main() -> int:
    good = {"answer.txt": "42\n"}
    two = [step(), step("two", 2, depends_on=["one"])]
    cases = [
        ("a step that its check passes", ("completed", "step_validated", 1), once(FakeRuntime(completed(), writes=good), *two, pricing=PRICES)),
        ("a step that its check fails", ("failed", "validation_failed", 1), once(FakeRuntime(completed(), writes={"answer.txt": "41\n"}))),
        ("a file that is no target", ("failed", "worker_outside_contract", 1), once(FakeRuntime(completed(), writes={**good, "other.txt": "x"}))),
        ("a check that nobody approved", ("failed", "validation_not_approved", 0), once(FakeRuntime(), step(validation_commands=["python3 other.py"]))),
        ("a worker that fails", ("failed", "worker_failed", 1), once(FakeRuntime(RuntimeError("a token that nobody is to see")))),
        ("a worker that takes too long", ("failed", "worker_timeout", 1), once(FakeRuntime(TurnResult("timeout")))),
        ("a step of the planner's own", ("planner_required", "step_for_planner", 0), once(FakeRuntime(), step(recommended_executor="planner_only", worker_model_tier="none"))),
    ]
    held = []
    for name, expected, receipt in cases:
        found = (receipt.status, receipt.reason, receipt.worker_calls)
        held.append(found == expected)
        print(f"{'ok' if held[-1] else 'FAILED'} {name}: {receipt.status}, {receipt.reason}, {receipt.worker_calls} worker step(s)")
    priced, unpriced = cases[0][2].cost, cases[1][2].cost
    for name, holds in [
        ("with prices the cost is complete", (priced.complete, priced.amount) == (True, Decimal("0.00275"))),
        ("without prices the cost is incomplete", (unpriced.complete, unpriced.reason) == (False, "pricing_missing")),
    ]:
        held.append(holds)
        print(f"{'ok' if holds else 'FAILED'} {name}")
    print(json.dumps(cases[0][2].to_dict(), indent=2))
    print(f"planner-worker runtime: {sum(held)} of {len(held)} checks hold")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
