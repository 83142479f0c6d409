"""What the planner-worker sees of git: whatever makes it run something, wherever it lies, and where
a branch stands. And which folders it takes for a worktree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planner_world import WHO, Workspace
from planner_worker import GitWorkspace, Receipt, WorkspaceError
from planner_worker.contract import ContractError
from planner_worker.fake import FakeRuntime, completed, plan, step

WIDE = {"max_files": 50, "max_bytes_per_file": 10_000, "allow_extra_files": True}


def write(file: Path, text: str = "x") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def redirect(folder: Path) -> None:
    """Has git read its config out of a folder that is not looked at."""
    other = folder / ".git/objects/zz"
    write(other / "config", "[core]\n\tfsmonitor = \"touch ran; false\"\n")
    shutil.copytree(folder / ".git/refs", other / "refs")
    (other / "objects").symlink_to(folder / ".git/objects")
    write(folder / ".git/commondir", "objects/zz\n")


def run(*words: str) -> Callable[[Path], object]:
    return lambda folder: subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


class Git(Workspace):
    def does(self, work: Callable[[Path], object], **more: Any) -> Receipt:
        """What comes of a worker that writes its answer, and may write anything, and does this."""

        def also(request: Any) -> None:
            work(request.cwd)

        return self.once(self.good(also=also), step(context_budget=WIDE), **more)

    def seen(self, work: Callable[[Path], object], *paths: str) -> None:
        receipt = self.does(work)
        self.assertEqual((receipt.status, receipt.reason), ("failed", "worker_outside_contract"), receipt)
        for path in paths:
            self.assertIn(f"{path}:repository_control_file", receipt.write_scope.violations)

    def test_what_makes_git_run_something_is_seen(self) -> None:
        for work, path in [
            (redirect, ".git/commondir"),
            (lambda folder: write(folder / ".git/hooks/pre-commit"), ".git/hooks/pre-commit"),
            (lambda folder: write(folder / ".git/rebase-merge/git-rebase-todo"), ".git/rebase-merge/git-rebase-todo"),
            (run("config", "core.fsmonitor", "x"), ".git/config"),
            (lambda folder: write(folder / ".git/modules/objects/config"), ".git/modules/objects/config"),
            (lambda folder: (folder / ".git/logs/HEAD").unlink() or (folder / ".git/logs/HEAD").symlink_to("/x"),
             ".git/logs/HEAD"),
            (lambda folder: write(folder / "sub/.git/hooks/pre-commit"), "sub/.git/hooks/pre-commit"),
            (lambda folder: write(folder / "sub/.GIT/config"), "sub/.GIT/config"),
            (run("init", "-q", "--bare", "sub"), "sub/config"),
        ]:  # fmt: skip
            with self.subTest(path):
                self.doCleanups()
                self.setUp()
                self.seen(work, path)

    def test_where_a_branch_stands_is_seen(self) -> None:
        branch = subprocess.run(
            ["git", "symbolic-ref", "HEAD"], cwd=self.folder, capture_output=True, text=True, check=True
        ).stdout.strip()
        self.seen(run("tag", "v9"), ".git/refs/tags/v9")
        self.again()
        self.seen(run(*WHO, "commit", "-q", "--amend", "-m", "other"), f".git/{branch}")
        self.again()
        self.seen(run("checkout", "-q", "-b", "other"), ".git/HEAD", ".git/refs/heads/other")

    def test_what_git_writes_by_itself_is_no_change(self) -> None:
        receipt = self.does(lambda folder: (run("status")(folder), run("add", ".")(folder), run("fetch", "-q", ".")(folder)))
        self.assertEqual(receipt.reason, "step_validated", receipt)

    def test_the_shared_folder_of_a_linked_worktree_is_looked_at(self) -> None:
        main = self.folder
        for number, (work, path) in enumerate([
            (run("config", "core.fsmonitor", "x"), ".git/(shared)/config"),
            (lambda _: write(main / ".git/hooks/pre-commit"), ".git/(shared)/hooks/pre-commit"),
            (run("tag", "v9"), ".git/(shared)/refs/tags/v9"),
            (lambda folder: write(folder / ".git", "gitdir: /x"), ".git"),
            (lambda _: write(main / ".git/worktrees/wt4/commondir"), ".git/(shared)/worktrees/wt4/commondir"),
            (lambda folder: None, ""),
        ]):  # fmt: skip
            with self.subTest(path), tempfile.TemporaryDirectory() as made:
                folder = Path(made).resolve() / f"wt{number}"
                run("worktree", "add", "-q", str(folder))(main)
                self.folder = folder
                if path:
                    self.seen(work, path)
                else:
                    self.assertEqual(self.does(work).reason, "step_validated")
                self.folder = main

    def test_hooks_that_the_config_names_are_looked_at(self) -> None:
        run("config", "core.hooksPath", "hooks.d")(self.folder)
        self.seen(lambda folder: write(folder / "hooks.d/pre-commit"), ".git/(hooks)/pre-commit")
        self.again()
        with tempfile.TemporaryDirectory() as made:
            run("config", "core.hooksPath", made)(self.folder)
            self.seen(lambda _: write(Path(made) / "pre-commit"), ".git/(hooks)/pre-commit")

    def test_what_is_behind_a_link_of_git_is_looked_at(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            config = self.folder / ".git/config"
            shutil.move(config, Path(made) / "config")
            config.symlink_to(Path(made) / "config")
            self.seen(lambda _: write(Path(made) / "config", "[core]\n"), ".git/config/.")

    def test_nothing_of_git_is_a_target(self) -> None:
        worker = FakeRuntime()
        for path in (".git", "sub/.git/hooks/pre-commit", "a/.GIT/x", "a/.git./x", "git~1/config"):
            with self.subTest(path), self.assertRaises(ContractError):
                self.once(worker, step(target_files=[path]))
        self.assertEqual(worker.requests, [])

    def test_a_folder_that_is_not_the_root_of_its_worktree_is_refused(self) -> None:
        write(self.folder / "d/check.py", "pass")
        for words in (["add", "."], [*WHO, "commit", "-q", "-m", "x"]):
            run(*words)(self.folder)
        root, planner = self.folder, FakeRuntime()
        for folder in (root / "d", root / ".git"):
            self.folder = folder
            with self.assertRaises(WorkspaceError):
                self.once(planner=planner)
        with tempfile.TemporaryDirectory() as made:
            self.folder = Path(made)
            with self.assertRaises(WorkspaceError):
                self.once(planner=planner)
            # Also when the environment names a repository.
            os.environ["GIT_DIR"], os.environ["GIT_WORK_TREE"] = str(root / ".git"), made
            try:
                with self.assertRaises(WorkspaceError):
                    self.once(planner=planner)
            finally:
                del os.environ["GIT_DIR"], os.environ["GIT_WORK_TREE"]
        self.assertEqual(planner.requests, [])

    def test_an_observer_of_another_folder_is_refused(self) -> None:
        planner = FakeRuntime(completed(json.dumps(plan([step()]))))
        other = Workspace()
        other.setUp()
        self.addCleanup(other.doCleanups)
        with self.assertRaises(WorkspaceError):
            self.once(planner=planner, observer=GitWorkspace(other.folder))
        with self.assertRaises(WorkspaceError):
            self.once(planner=planner, observer=object())
        self.assertEqual(planner.requests, [])

    def test_folders_deeper_than_python_calls_are_looked_at(self) -> None:
        def deep(folder: Path) -> None:
            here = os.open(folder, os.O_RDONLY)
            for _ in range(1500):
                os.mkdir("a", dir_fd=here)
                below = os.open("a", os.O_RDONLY, dir_fd=here)
                os.close(here)
                here = below
            os.close(here)

        # Python's own removal would go as deep.
        self.addCleanup(subprocess.run, ["rm", "-rf", str(self.folder)], check=True)
        self.assertEqual(self.does(deep).reason, "worker_outside_contract")
