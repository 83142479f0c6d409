"""Projects for the tests of the wheel, each in a folder of its own."""

from __future__ import annotations

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

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("LOOPX_BIN_UNDER_TEST", str(ROOT / "target/debug/loopx"))
NOW = "2026-11-29T12:00:00Z"

#: The exception of each class of the catalogue.
CLASSES = {
    "usage": loopx.UsageError,
    "identity": loopx.IdentityError,
    "refused": loopx.RefusedError,
    "busy": loopx.BusyError,
    "state": loopx.StateError,
    "boundary": loopx.BoundaryError,
    "internal": loopx.InternalError,
}


def clean(**more: str) -> dict[str, str]:
    """The environment without what would lead to another project."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("LOOPX_")}
    return {**kept, **more}


class Project(unittest.TestCase):
    """A goal ``g`` with the agent ``ada``, todos, and a kernel on it."""

    agents = ["ada"]
    todos = ["[P1] First", "[P2] Second"]

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="loopx-python-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.kernel = self.opened()
        self.kernel.goal_create(goal_id="g", objective="x", agents=self.agents)
        for text in self.todos:
            self.kernel.todo_add(goal_id="g", role="agent", text=text)

    def opened(self, **options: Any) -> loopx.Kernel:
        return loopx.Kernel.open(self.folder, **{"home": self.folder, **options})

    def stored(self, name: str) -> Path:
        """A file of the goal's store."""
        (found,) = self.folder.rglob(name)
        return found

    def cli(self, *words: str, **environment: str) -> Any:
        """What the command line answers."""
        said = subprocess.run(
            [BINARY, *words, "--format", "json"],
            cwd=self.folder,
            env=clean(HOME=str(self.folder), **environment),
            capture_output=True,
            text=True,
        )
        try:
            return json.loads(said.stdout)
        except ValueError:
            raise AssertionError(f"{words}: {said.stdout}{said.stderr}") from None

    def python(self, script: str, *words: str) -> str:
        """What a script of this interpreter prints; it must end well."""
        said = subprocess.run(
            [sys.executable, "-c", script, *words],
            cwd=self.folder,
            env=clean(HOME=str(self.folder)),
            capture_output=True,
            text=True,
        )
        self.assertEqual(said.returncode, 0, said.stderr)
        return said.stdout
