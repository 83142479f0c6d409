#!/usr/bin/env python3
"""Checks the contract of the Python worker on a project of its own: one public line a look, waits
by the hint's ladder, one recheck before it stops, nothing spent for any of it, and a wake that is
admitted before it runs. Needs the `loopx` wheel; prints a line for each check."""

from __future__ import annotations

import json
import os
import plistlib
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

try:
    import loopx
except ImportError as error:
    if (error.name or "").partition(".")[0] != "loopx":
        raise
    print(
        f"the loopx wheel is missing ({error}): build it in a checkout with `cargo xtask python --pack`"
        " and install it with `python3 -m pip install target/python/wheels/loopx_kernel-*.whl`",
        file=sys.stderr,
    )
    sys.exit(2)

HERE = Path(__file__).resolve().parent
WORKER = HERE.parent / "scripts/external_scheduler_worker.py"
PLIST = HERE / "external-scheduler-worker.launchd.plist"
NOON = "2026-11-29T12:00:00Z"
SECRET_TASK = "Tidy the cupboard of the third floor"
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ status=[a-z_]+( [a-z_]+=('[^']*'|[^ ']+))*")
SETTLE = """
import os, loopx
loopx.Kernel.open().turn_settle(
    goal_id=os.environ["LOOPX_GOAL_ID"], agent_id=os.environ["LOOPX_AGENT_ID"],
    turn_instance_id=os.environ["LOOPX_TURN"], outcome="completed", evidence=["checked"],
    no_follow_up=True)
"""

held: list[bool] = []


def check(name: str, found: Any, expected: Any) -> None:
    held.append(found == expected)
    print(f"ok {name}" if held[-1] else f"FAILED {name}: {found!r}, not {expected!r}")


class Project:
    """A goal `g` of agent `ada` with one todo, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.home = self.folder / "home"
        self.home.mkdir()
        self.kernel = loopx.Kernel.open(self.folder, home=self.home, now=NOON)
        self.kernel.goal_create(goal_id="g", objective="A tidy house", agents=["ada"])
        self.kernel.todo_add(goal_id="g", role="agent", text=SECRET_TASK)

    def command(self, *words: str) -> list[str]:
        registry = str(self.folder / ".loopx/registry.json")
        return [sys.executable, str(WORKER), "--registry", registry, "--goal-id", "g", *words]

    def environment(self, now: str | None) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LOOPX_")}
        return {**kept, "HOME": str(self.home), **({"LOOPX_NOW": now} if now else {})}

    def worker(self, *words: str, now: str | None = NOON, agent: str = "ada"):
        said = subprocess.run(
            self.command("--agent-id", agent, *words),
            cwd=self.folder,
            env=self.environment(now),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return said.returncode, said.stdout

    def lines(self, *words: str, now: str | None = NOON) -> tuple[int, list[dict[str, Any]]]:
        status, text = self.worker("--format", "json", *words, now=now)
        return status, [json.loads(line) for line in text.splitlines()]

    def spent(self) -> tuple[int, int]:
        (goal,) = self.kernel.quota_status(goal_id="g")["goals"]
        return goal["spent_slots"], goal["reserved_slots"]


def observing(project: Project) -> None:
    status, text = project.worker("--once")
    check("observing is a line", (status, text.count("\n"), bool(LINE.fullmatch(text.strip()))), (0, 1, True))
    check("it would wake", ("status=should_run" in text, "phase=would_wake" in text), (True, True))
    leaks = [part for part in (SECRET_TASK, str(project.folder)) if part in text]
    check("no task text and no path is in it", leaks, [])
    check("it has admitted and spent nothing", project.spent(), (0, 0))


def waiting(project: Project) -> None:
    project.kernel.gate_open(goal_id="g", question="May we?", global_gate=True)
    words = ("status", "phase", "class", "next_check_minutes", "unchanged_count")
    for time, count, minutes in (("12:00", 0, 30), ("12:30", 1, 60)):
        status, lines = project.lines("--once", now=f"2026-11-29T{time}:00Z")
        found = [lines[0].get(word) for word in words]
        expected = ["waiting", f"unchanged#{count + 1}", "human_gate", minutes, count]
        check(f"wait {count + 1} is {minutes} minutes", (status, found), (0, expected))
    status, lines = project.lines("--once", now="2026-11-29T13:30:00Z")
    kinds = [line["status"] for line in lines]
    expected = ["waiting", "final_quota_replan_probe", "stop_after_unchanged_limit"]
    check("the third look asks once more, and stops", (status, kinds), (0, expected))
    check("and says how to go on", lines[-1]["next"], "explicit_resume_or_fresh_evidence")
    project.kernel.gate_open(goal_id="g", question="And that?", global_gate=True)
    _, lines = project.lines("--once", now="2026-11-29T13:31:00Z")
    check("another wait begins anew", lines[0]["phase"], "unchanged#1")
    check("waits and rechecks spend nothing", project.spent(), (0, 0))


def waking(project: Project) -> None:
    status, lines = project.lines("--once", "--wake-cmd", "sh -c 'exit 3'", now=None)
    found = (status, lines[0]["phase"], lines[0]["wake_rc"])
    check("a wake that fails hands its status on", found, (3, "wake_failed", 3))
    check("and spends nothing", project.spent(), (0, 0))


def to_the_end(project: Project) -> None:
    project.kernel.todo_add(goal_id="g", role="agent", text="Sweep the yard")
    stop = ["--wake-cmd", "sh -c 'exit 75'", "--wake-stop-exit-code", "75"]
    status, lines = project.lines(*stop, now=None)
    check("the chosen code ends it normally", (status, [x["phase"] for x in lines]), (0, ["wake_stop"]))
    check("and spends nothing, too", project.spent(), (0, 0))
    settle = f"{shlex.quote(sys.executable)} -c {shlex.quote(SETTLE)}"
    status, lines = project.lines("--wake-cmd", f"sh -c {shlex.quote(settle)}", now=None)
    kinds = [line["status"] for line in lines]
    check("wakes follow each other without a wait", (status, kinds), (0, ["should_run"] * 2 + ["terminal"]))
    check("each settled turn spent its slot", project.spent(), (2, 0))


def alone(project: Project) -> None:
    project.kernel.gate_open(goal_id="g", question="May we?", global_gate=True)
    words = project.command("--agent-id", "ada", "--format", "json")
    with subprocess.Popen(
        words, cwd=project.folder, env=project.environment(None), stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout is not None
        first.stdout.readline()
        status, lines = project.lines("--once", now=None)
        check("a second worker is turned away", (status, lines[0]["status"]), (3, "locked"))
        check("and told who has the route", f"process {first.pid} " in lines[0]["reason"], True)
        first.terminate()
        left = [json.loads(line)["status"] for line in first.stdout]
    check("a stop signal is told and handed on", (first.returncode, left), (143, ["stopped"]))


def identity(project: Project) -> None:
    status, lines = project.lines("--agent-id", "ADA", "--once")
    check("another spelling is the same agent", status, 0)
    for name, words in [("an agent is needed", ()), ("one that is registered", ("--agent-id", "eve"))]:
        said = subprocess.run(
            project.command(*words, "--once", "--wake-cmd", "true"),
            cwd=project.folder, env=project.environment(NOON), capture_output=True,
        )  # fmt: skip
        check(name, said.returncode, 2)


def template() -> None:
    text = PLIST.read_text(encoding="utf-8")
    service = plistlib.loads(text.encode())
    check("a service that stopped normally is left alone", service["KeepAlive"], {"SuccessfulExit": False})
    words = service["ProgramArguments"]
    named = {words[n]: words[n + 1] for n in range(2, len(words), 2)}
    expected = {f"--{word}" for word in ("registry", "runtime-root", "goal-id", "agent-id", "state-file")}
    check("the template names the whole route", set(named), expected)
    values = [*words[:2], *named.values(), service["StandardOutPath"], service["Label"]]
    places = [value for value in values if not re.fullmatch(r"__[A-Z_]+__", value)]
    check("and no place of any machine", (places, re.findall(r"/(?:Users|home|opt|private)/", text)), ([], []))


def main() -> int:
    # Each with a project that is as it was made.
    for work in (observing, waiting, waking, to_the_end, alone, identity):
        with tempfile.TemporaryDirectory(prefix="loopx-worker-smoke-") as folder:
            work(Project(Path(folder)))
    template()
    print(f"external scheduler worker: {sum(held)} of {len(held)} checks hold")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
