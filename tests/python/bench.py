"""What a question costs inside Python, beside the same in Rust: `should_run` on unchanged state, by
turns in one run. Run by `cargo xtask python --bench`; TODOS and CALLS are read from the environment."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from statistics import median

import loopx

TODOS = int(os.environ.get("TODOS", "10"))
CALLS = int(os.environ.get("CALLS", "2000"))
ROUNDS = 5


def times(work: Callable[[], object]) -> list[float]:
    clock = time.perf_counter_ns
    found = []
    for _ in range(CALLS):
        began = clock()
        work()
        found.append(clock() - began)
    return [took / 1000 for took in found]


def main() -> None:
    folder = tempfile.mkdtemp(prefix="loopx-bench-")
    try:
        made = loopx.Kernel.open(folder, home=folder)
        made.goal_create(goal_id="g", objective="x", agents=["ada"])
        for n in range(TODOS):
            made.todo_add(goal_id="g", role="agent", text=f"[P2] Todo number {n}")
        # A write of the last two seconds is not trusted to be the last one.
        time.sleep(2.5)
        measure(loopx.Kernel.open(folder, home=folder))
    finally:
        shutil.rmtree(folder)


def measure(kernel: loopx.Kernel) -> None:
    native = kernel._native  # type: ignore[attr-defined]
    ask = {"goal_id": "g", "agent_id": "ada"}
    text = json.dumps(ask)
    rows: dict[str, Callable[[], list[float]]] = {
        "Rust, text to text": lambda: [
            took / 1000 for took in native.times_for_tests("quota.should_run", ask, CALLS)
        ],
        "call_json": lambda: times(lambda: kernel.call_json("quota.should_run", text)),
        "json.loads(call_json)": lambda: times(
            lambda: json.loads(kernel.call_json("quota.should_run", text))
        ),
        "should_run": lambda: times(lambda: kernel.should_run(goal_id="g", agent_id="ada")),
    }
    for work in rows.values():
        work()
    found: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, work in rows.items():
            found[name].append(median(work()))
    base = median(found["Rust, text to text"])
    print(f"{TODOS} todos, unchanged; medians of {ROUNDS} rounds of {CALLS} calls")
    for name, medians in found.items():
        middle = median(medians)
        print(f"  {name:24}{middle:7.1f} us   {middle - base:+6.1f} us above Rust")


if __name__ == "__main__":
    main()
