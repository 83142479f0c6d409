"""The Python worker beside that of the program, on one route. That it does all that the other does is
told by the suite of the other: `cargo xtask python` runs it with this one (LOOPX_WORKER_PYTHON)."""

from __future__ import annotations

import json
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

from loopx.worker import run
from world import BINARY, ROOT, Project, clean

PYTHON = [sys.executable, str(ROOT / "scripts/external_scheduler_worker.py")]
PROGRAM = [BINARY, "worker", "run"]


@unittest.skipUnless(Path(BINARY).is_file(), "loopx is not built: the two workers are not compared")
class Together(Project):
    def command(self, worker: list[str], *words: str) -> list[str]:
        return [*worker, "--goal-id", "g", "--agent-id", "ada", "--format", "json", *words]

    def once(self, worker: list[str], now: str) -> list[dict[str, Any]]:
        said = subprocess.run(
            self.command(worker, "--once"), cwd=self.folder, capture_output=True, text=True,
            env=clean(HOME=str(self.folder), LOOPX_NOW=now),
        )  # fmt: skip
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        return [json.loads(line) for line in said.stdout.splitlines()]

    def test_one_of_the_two_has_a_route(self) -> None:
        self.kernel.gate_open(goal_id="g", question="May we?", global_gate=True)
        for first, second in [(PYTHON, PROGRAM), (PROGRAM, PYTHON), (PYTHON, PYTHON)]:
            environment = clean(HOME=str(self.folder))
            with subprocess.Popen(
                self.command(first), cwd=self.folder, env=environment, stdout=subprocess.PIPE
            ) as holder:
                assert holder.stdout is not None
                holder.stdout.readline()
                said = subprocess.run(
                    self.command(second, "--wake-cmd", "touch woken"),
                    cwd=self.folder, env=environment, capture_output=True, text=True,
                )  # fmt: skip
                holder.terminate()
            self.assertEqual(said.returncode, 3, said.stdout)
            self.assertIn(f"process {holder.pid} ", json.loads(said.stdout)["reason"])
            self.assertFalse((self.folder / "woken").exists())

    def test_one_goes_on_where_the_other_stopped(self) -> None:
        self.kernel.gate_open(goal_id="g", question="May we?", global_gate=True)
        for worker, time, phase in [
            (PYTHON, "12:00", "unchanged#1"), (PROGRAM, "12:30", "unchanged#2"), (PYTHON, "13:30", "unchanged#3"),
        ]:  # fmt: skip
            lines = self.once(worker, f"2026-11-29T{time}:00Z")
            self.assertEqual(lines[0]["phase"], phase)
        self.assertEqual(lines[-1]["status"], "stop_after_unchanged_limit")

    def test_hands_that_raise_end_the_worker_and_its_turn(self) -> None:
        class Hands:
            def say(self, line: str) -> None: ...
            def sleep(self, seconds: float) -> None: ...
            def stopped(self) -> None: ...
            def end_marked(self, mark: str, grace: float) -> int:
                return 0

            def run(self, **_: Any) -> Any:
                raise RuntimeError("no hands")

        with self.assertRaisesRegex(RuntimeError, "no hands"):
            run(self.kernel, Hands(), goal_id="g", agent_id="ada", wake=["true"])
        (goal,) = self.kernel.quota_status(goal_id="g")["goals"]
        self.assertEqual((goal["spent_slots"], goal["reserved_slots"]), (0, 0))


class Missing(unittest.TestCase):
    def test_row_127_without_the_wheel_it_says_how_to_get_it(self) -> None:
        said = subprocess.run(
            [sys.executable, "-I", "-S", PYTHON[1], "--once"], capture_output=True, text=True, env=clean()
        )
        self.assertEqual((said.returncode, said.stdout), (1, ""))
        self.assertIn("python3 -m pip install loopx-kernel", said.stderr)
        self.assertNotIn("Traceback", said.stderr)
