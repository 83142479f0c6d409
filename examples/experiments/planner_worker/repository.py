"""Where a git worktree's own files lie, and which of them are watched: whatever there says what git
runs, or where a branch stands."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path

CHANGE_BY_THEMSELVES = frozenset({
    # Content, named by its hash: what is added there is nothing until a ref or the index names it.
    "objects", "lfs",
    # What is staged, and when files were looked at: `git status` writes it. It names nothing to run.
    "index", "index.lock",
    # Where refs stood, one line for each change of a ref; the refs are watched themselves.
    "logs",
    # What the last fetch saw and what the last commit was called; read when somebody names them.
    "FETCH_HEAD", "COMMIT_EDITMSG",
    # What git's upkeep and its watcher of files leave: a log, a process id, a socket.
    "gc.log", "gc.pid", "fsmonitor--daemon", "fsmonitor--daemon.ipc",
})  # fmt: skip
"""What lies at the top of a git directory and is not watched, unless it is a link: git would write
through it. All else is, as `config`, `hooks`, `commondir`, `HEAD`, `refs`, `packed-refs`,
`rebase-merge`, and what lies in `worktrees` and `modules`."""

_ELSEWHERE = frozenset({
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE",
})  # fmt: skip
"""Variables that would have git look at another repository than the folder's."""


class WorkspaceError(RuntimeError):
    """The workspace cannot be watched, or is not clean. Nothing was run in it."""


def git(folder: Path, *words: str) -> bytes:
    """What git says of a folder; raises :class:`WorkspaceError` where it says nothing."""
    kept = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    try:
        said = subprocess.run(
            # Also for this, git starts no watcher of files that a config names.
            ["git", "-c", "core.fsmonitor=false", "--no-optional-locks", *words],
            cwd=folder,
            env=kept,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        raise WorkspaceError("git does not say what the workspace is, or is not found") from None
    if said.returncode != 0:
        raise WorkspaceError("the workspace is not a git worktree")
    return said.stdout


def beside(folder: Path) -> dict[str, Path]:
    """The folders of git that do not lie in the worktree's `.git`, by the name that their paths have
    in a receipt: the one that linked worktrees share, this worktree's own, and the hooks' where the
    config names one, also in the workspace.

    Raises :class:`WorkspaceError` unless the folder is the root of a worktree.
    """
    top, own, shared, hooks = (
        Path(os.path.realpath(folder / os.fsdecode(said.removesuffix(b"\n"))))
        for said in (
            git(folder, "rev-parse", "--show-toplevel"),
            git(folder, "rev-parse", "--git-dir"),
            git(folder, "rev-parse", "--git-common-dir"),
            git(folder, "rev-parse", "--git-path", "hooks"),
        )
    )
    if not os.path.samefile(top, folder):
        raise WorkspaceError("the workspace is not the root of its git worktree")
    usual = folder / ".git"
    covered = [] if usual.is_symlink() or not usual.is_dir() else [usual]
    found = {}
    for name, place in (("shared", shared), ("own", own), ("hooks", hooks)):
        if not any(place.is_relative_to(other) for other in covered):
            covered.append(place)
            found[f".git/({name})"] = place
    return found


def is_control(path: str) -> bool:
    """Whether a path is git's own: it, or a folder that it is in, is a `.git`, as any file system
    reads that name."""
    return any(part.rstrip(" .").casefold() in (".git", "git~1") for part in path.split("/"))


def changes_by_itself(name: str) -> bool:
    """Whether an entry at the top of a git directory is not watched."""
    return name in CHANGE_BY_THEMSELVES or name.startswith("sharedindex.")


def is_repository(names: Collection[str]) -> bool:
    """Whether these are names at the top of a git directory, a worktree's own among them."""
    return "HEAD" in names and ("objects" in names or "commondir" in names)


def bare_repositories(paths: Collection[str]) -> set[str]:
    """The folders of the workspace that git takes for repositories without a `.git`: in one of
    them git does what its config says."""
    heads = (path.rpartition("/")[0] for path in paths if path.endswith("/HEAD"))
    return {top for top in heads if f"{top}/objects" in paths and f"{top}/refs" in paths}
