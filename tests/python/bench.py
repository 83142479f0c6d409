"""What a question costs inside Python, beside the same in Rust: `should_run` on unchanged state, by
turns in one run. Run by `cargo xtask python --bench`, which fails when it costs more than BOUND above
Rust; TODOS and CALLS are read from the environment."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from statistics import median

import loopx

TODOS = int(os.environ.get("TODOS", "10"))
CALLS = int(os.environ.get("CALLS", "1000"))
ROUNDS = 11
BOUND = 20.0
"""Microseconds that a question may cost above Rust."""
RUST, PYTHON = "Rust, text to text", "should_run"


def times(work: Callable[[], object]) -> list[float]:
    clock = time.perf_counter_ns
    found = []
    for _ in range(CALLS):
        began = clock()
        work()
        found.append(clock() - began)
    return [took / 1000 for took in found]


def main() -> int:
    folder = tempfile.mkdtemp(prefix="loopx-bench-")
    try:
        made = loopx.Kernel.open(folder, home=folder)
        made.goal_create(goal_id="g", objective="x", agents=["ada"])
        for n in range(TODOS):
            made.todo_add(goal_id="g", role="agent", text=f"[P2] Todo number {n}")
        # A write of the last two seconds is not trusted to be the last one.
        time.sleep(2.5)
        return measure(loopx.Kernel.open(folder, home=folder))
    finally:
        shutil.rmtree(folder)


def measure(kernel: loopx.Kernel) -> int:
    """Prints each row and the verdict; the exit status."""
    native = kernel._native  # type: ignore[attr-defined]
    ask = {"goal_id": "g", "agent_id": "ada"}
    text = json.dumps(ask)
    rows: dict[str, Callable[[], list[float]]] = {
        RUST: lambda: [
            took / 1000 for took in native.times_for_tests("quota.should_run", ask, CALLS)
        ],
        "call_json": lambda: times(lambda: kernel.call_json("quota.should_run", text)),
        "json.loads(call_json)": lambda: times(
            lambda: json.loads(kernel.call_json("quota.should_run", text))
        ),
        PYTHON: lambda: times(lambda: kernel.should_run(goal_id="g", agent_id="ada")),
    }
    for work in rows.values():
        work()
    found: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, work in rows.items():
            found[name].append(median(work()))
    print(f"{TODOS} todos, unchanged; medians of {ROUNDS} rounds of {CALLS} calls")
    # Of a round, whose rows stand beside one another in time: what else the machine does is in both.
    above = {name: [x - rust for x, rust in zip(rows, found[RUST])] for name, rows in found.items()}
    for name, medians in found.items():
        print(f"  {name:24}{median(medians):7.1f} us   {median(above[name]):+6.1f} us above Rust")
    cost = median(above[PYTHON])
    least, most = min(above[PYTHON]), max(above[PYTHON])
    met = cost < BOUND
    print(
        f"{'met' if met else 'NOT MET'}: {PYTHON} costs {cost:.1f} us above Rust"
        f" (rounds: {least:.1f} to {most:.1f}), the bound is {BOUND:.0f} us"
    )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
