"""A git worktree with scripts that may check, and calls of the planner-worker on it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/experiments"))

from planner_worker import (  # noqa: E402
    ApprovedCommands, GitWorkspace, ModelRoute, Receipt, run_planner_worker_once,
)  # fmt: skip
from planner_worker.fake import FakeRuntime, completed, plan, step  # noqa: E402

TOKEN = "ghp_" + "a1B2c3D4e5" * 4
WHO = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
ROUTES = {"planner": ModelRoute("big", "high"), "cheap_worker": ModelRoute("small", "low")}


class Workspace(unittest.TestCase):
    """A worktree with scripts that may check, and a call of the planner-worker on it."""

    def setUp(self) -> None:
        if shutil.which("git") is None:
            self.skipTest("git is not on PATH")
        self.folder = Path(tempfile.mkdtemp(prefix="loopx-planner-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.put("check.py", "import sys; sys.exit(open('answer.txt').read() != '42')")
        self.put("slow.py", "import time; time.sleep(60)")
        self.put("writes.py", "open('answer.txt', 'a').write('x')")
        for words in (["init", "-q"], ["add", "."], [*WHO, "commit", "-q", "-m", "x"]):
            subprocess.run(["git", *words], cwd=self.folder, check=True)

    def put(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text, encoding="utf-8")

    def again(self) -> None:
        """Makes the worktree what was committed."""
        for words in (["checkout", "-q", "."], ["clean", "-fdqx"]):
            subprocess.run(["git", *words], cwd=self.folder, check=True)

    def once(
        self,
        worker: FakeRuntime | None = None,
        *steps: dict[str, Any],
        planner: FakeRuntime | None = None,
        approved: tuple[str, ...] = ("python3 check.py", "python3 slow.py", "python3 writes.py"),
        timeout: float = 30.0,
        **more: Any,
    ) -> Receipt:
        answer = json.dumps(plan(steps or [step()]))
        return run_planner_worker_once(
            objective="x",
            task_instruction="y",
            cwd=self.folder,
            planner=planner or FakeRuntime(completed(answer)),
            worker=worker or FakeRuntime(),
            validation_runner=more.pop("runner", None) or ApprovedCommands(approved, timeout_seconds=timeout),
            workspace_observer=more.pop("observer", None) or GitWorkspace(self.folder),
            approved_validation_commands=approved,
            model_routes=more.pop("routes", ROUTES),
            **more,
        )

    def good(self, **more: Any) -> FakeRuntime:
        return FakeRuntime(completed(), writes={"answer.txt": "42"}, **more)
