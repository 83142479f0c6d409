"""The Python worker beside that of the program, on one route. That it does all that the other does is
told by the suite of the other: `cargo xtask python` runs it with this one (LOOPX_WORKER_PYTHON)."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import loopx
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


def without_rights() -> None:
    """In a child: what root may beyond the rights of files is given up."""
    if os.geteuid() == 0:
        for capability in (1, 2, 3):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


GONE = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
# Each: what is done to the project before, options beside the usual, and the exit status of both.
SURROUNDINGS: dict[str, tuple[str, list[str], int]] = {
    "nothing is wrong": ("", [], 0),
    "the registry may not be read": ("chmod 0 .loopx/registry.json", [], 2),
    "the registry is none": ("echo { > .loopx/registry.json", [], 2),
    "the registry is not there": ("", ["--registry", "nowhere/registry.json"], 2),
    "the registry is a folder": ("", ["--registry", "."], 2),
    "the runtime root is a file": ("touch file", ["--runtime-root", "file"], 2),
    "the state file's folder is a file": ("touch file", ["--state-file", "file/state.json"], 2),
    "the state file is a folder": ("mkdir folder", ["--state-file", "folder"], 3),
    "the state file's folder may not be written": (
        "mkdir folder; chmod 555 folder", ["--state-file", "folder/state.json"], 2
    ),
    "the project may not be written": ("chmod -R a-w .", [], 2),
    "the project may not be written, and there is a command": ("chmod -R a-w .", ["--wake-cmd", "true"], 2),
    "there is no such command": ("", ["--wake-cmd", "no-such-program"], 2),
    "the command is no program": ("echo x > x; chmod 644 x", ["--wake-cmd", "./x"], 2),
    "the command is a folder": ("mkdir x", ["--wake-cmd", "./x"], 2),
    "the command has no words": ("", ["--wake-cmd", " "], 2),
    "the command has an open quote": ("", ["--wake-cmd", "echo 'x"], 2),
    "the longest wait there is": ("", ["--quota-timeout-seconds", str(2**64 - 1)], 0),
    "a longer wait than there is": ("", ["--quota-timeout-seconds", str(2**64)], 2),
    "more bytes than there are": ("", ["--wake-output-limit-bytes", "9" * 30], 2),
    "a time without end": ("", ["--wake-cmd", "true", "--wake-timeout-seconds", "1e300"], 2),
    "an instant that is none": ("", ["LOOPX_NOW=yesterday"], 2),
    "no home": ("", ["-HOME"], 0),
    "an empty home": ("", ["HOME="], 0),
    "no search path": ("", ["-PATH", "--wake-cmd", "true"], 2),
    "the working directory is gone": ("", [GONE], 2),
    "the working directory is gone, and a registry is named": ("", [GONE, "--registry", "{root}/.loopx/registry.json"], 2),
    "standard output is closed": ("", ['exec "$@" >&-'], 0),
    "standard output is full": ("", ['exec "$@" >/dev/full'], 0),
    "standard output is a pipe that nobody reads": ("", ['{ "$@"; echo $? >status; } | true; exit $(cat status)'], 0),
    "all standard streams are closed": ("", ['exec "$@" <&- >&- 2>&-'], 0),
    "standard error is closed, and the usage is wrong": ("", ['exec "$@" 2>&-', "--wake-cmd", "no-such-program"], 2),
    "closed output, and a command": ("", ['exec "$@" >&-', "--wake-cmd", "sh -c 'echo x'"], 0),
}  # fmt: skip
# What differs from run to run.
VARYING = ("at", "todo", "turn", "wake_seconds")


@unittest.skipUnless(
    sys.platform == "linux" and Path(BINARY).is_file(), "loopx is not built: the two workers are not compared"
)
class Surroundings(unittest.TestCase):
    """What is wrong around the worker is said in the words of the program, and never as a traceback."""

    maxDiff = None

    def test_both_workers_say_the_same_and_neither_has_a_traceback(self) -> None:
        for name, (before, given, status) in SURROUNDINGS.items():
            with self.subTest(name):
                program, python = (self.said(worker, before, given) for worker in (PROGRAM, PYTHON))
                self.assertEqual(python[:2], program[:2], f"{program[2]}\n{python[2]}")
                self.assertEqual(python[0], status, python)
                self.assertNotIn("Traceback", python[2])
                self.assertNotIn("Exception ignored", python[2])

    def test_a_working_directory_that_is_gone_is_told_with_what_to_do(self) -> None:
        for worker in (PROGRAM, PYTHON):
            self.assertEqual(
                self.said(worker, "", [GONE]),
                (2, [], "loopx: the working directory is gone\n  change to a folder that is there, then call again\n"),
            )
        script = "import loopx, os, tempfile\nos.chdir(tempfile.mkdtemp()); os.rmdir(os.getcwd())\n"
        for project in ("None", "'.'", "'below'"):
            said = subprocess.run(
                [sys.executable, "-c", f"{script}loopx.Kernel.open({project})"], capture_output=True, text=True
            )
            self.assertIn("StateError: the working directory is gone", said.stderr)

    def test_a_word_that_is_not_utf_8_is_wrong_usage(self) -> None:
        for option in ("--state-file", "--registry", "--wake-cmd", "--available-capability", "--agent-id"):
            status, lines, said = self.said(PYTHON, "", [option, os.fsdecode(b"/tmp/\xff")])
            self.assertEqual((status, lines), (2, []), option)
            self.assertIn(option, said)
            self.assertNotIn("Traceback", said)

    def said(self, worker: list[str], before: str, given: list[str]) -> tuple[int, list[Any], str]:
        """Exit status, status lines and standard error of one look in a project of its own."""
        root = Path(tempfile.mkdtemp(prefix="loopx-python-")).resolve()
        try:
            kernel = loopx.Kernel.open(root, home=root)
            kernel.goal_create(goal_id="g", objective="x", agents=["ada"])
            kernel.todo_add(goal_id="g", role="agent", text="[P1] First")
            del kernel
            subprocess.run(["sh", "-c", before], cwd=root, check=True)
            environment, under, options = clean(HOME=str(root), LC_ALL="C.UTF-8"), 'exec "$@"', []
            for word in given:
                name, equals, value = word.partition("=")
                if word in ("-HOME", "-PATH"):
                    del environment[word[1:]]
                elif equals and name in ("HOME", "LOOPX_NOW"):
                    environment[name] = value
                elif '"$@"' in word:
                    under = word
                else:
                    options.append(word.replace("{root}", str(root)))
            usual = ["--goal-id", "g", "--agent-id", "ada", "--once", "--format", "json"]
            if "--agent-id" in options:
                usual = [word for word in usual if word not in ("--agent-id", "ada")]
            said = subprocess.run(
                ["/bin/sh", "-c", under, "sh", *worker, *usual, *options], cwd=root, env=environment,
                capture_output=True, text=True, errors="surrogateescape", preexec_fn=without_rights, timeout=120,
            )  # fmt: skip
            lines = [
                {key: value for key, value in json.loads(line).items() if key not in VARYING}
                for line in said.stdout.splitlines()
            ]
            return said.returncode, lines, said.stderr.replace(str(root), "<root>")
        finally:
            subprocess.run(["chmod", "-R", "u+rwX", root], check=True)
            shutil.rmtree(root)


class Missing(unittest.TestCase):
    def test_row_127_without_the_wheel_it_says_how_to_get_it(self) -> None:
        said = subprocess.run(
            [sys.executable, "-I", "-S", PYTHON[1], "--once"], capture_output=True, text=True, env=clean()
        )
        self.assertEqual((said.returncode, said.stdout), (1, ""))
        self.assertIn("python3 -m pip install loopx-kernel", said.stderr)
        self.assertNotIn("Traceback", said.stderr)
