"""What a worker changed, and whether it was allowed to. The folder is looked at as a whole before
and after, by content: also folders, links, and what git keeps of it (`repository.py`)."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from .contract import ContractError, Step
from .repository import (
    WorkspaceError, bare_repositories, beside, changes_by_itself, git, is_control, is_repository,
)  # fmt: skip

MOST_ENTRIES = 50_000


@dataclass(frozen=True)
class Entry:
    """A file, a folder or whatever else lies at a path."""

    file_type: str
    """``file``, ``folder``, ``link`` or ``other``."""
    size: int
    mode: int
    digest: str


Snapshot = Mapping[str, Entry]
"""Each path below the folder, with slashes, and what lies there."""


class WorkspaceObserver(Protocol):
    """Looks at the workspace."""

    @property
    def folder(self) -> Path:
        """The workspace: the folder that the call works in."""

    def assert_clean(self) -> None:
        """Raises :class:`WorkspaceError` where work lies about that nobody has committed."""

    def snapshot(self) -> Snapshot:
        """What lies there now."""


class GitWorkspace:
    """A folder that is the root of a git worktree, and what git has of it, wherever that lies."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder).resolve()
        self._beside: dict[str, Path] | None = None

    def assert_clean(self) -> None:
        self._beside = beside(self.folder)
        if git(self.folder, "status", "--porcelain=v1", "-z", "--untracked-files=all"):
            raise WorkspaceError("the worktree has changes that are not committed")

    def snapshot(self) -> Snapshot:
        if self._beside is None:
            # Once: where git is led to afterwards is what has to be seen.
            self._beside = beside(self.folder)
        found: dict[str, Entry] = {}
        _walk(self.folder, "", found)
        for name, place in self._beside.items():
            if place.is_dir():
                _walk(place, name + "/", found)
        return found


def _walk(top: Path, name: str, found: dict[str, Entry]) -> None:
    left = [(os.fspath(top), name, False)]
    while left:
        folder, prefix, only_links = left.pop()
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
        except FileNotFoundError:
            continue
        except OSError:
            raise WorkspaceError("a folder of the workspace cannot be read") from None
        is_top = is_control(prefix) and is_repository({entry.name for entry in listed})
        for entry in listed:
            is_link = entry.is_symlink()
            is_folder = entry.is_dir(follow_symlinks=False)
            path = prefix + entry.name
            unwatched = is_top and changes_by_itself(entry.name)
            if unwatched and not is_link:
                if entry.name == "logs" and is_folder:
                    left.append((entry.path, path + "/", True))
                continue
            if is_link or not only_links:
                if len(found) >= MOST_ENTRIES:
                    raise WorkspaceError(f"the workspace has more than {MOST_ENTRIES} entries")
                if (known := _entry(entry)) is not None:
                    found[path] = known
            follow = is_top and is_link and not unwatched
            if is_folder or (follow and entry.is_dir()):
                left.append((entry.path, path + "/", only_links))
            elif follow and (known := _entry(entry, follow=True)) is not None:
                # What git reads there is behind the link.
                found[path + "/."] = known


def _entry(entry: os.DirEntry[str], follow: bool = False) -> Entry | None:
    """What lies there; nothing where it is gone by now, as a lock of git's is."""
    try:
        known = entry.stat(follow_symlinks=follow)
        mode = stat.S_IMODE(known.st_mode)
        if stat.S_ISREG(known.st_mode):
            digest = hashlib.sha256()
            with open(entry.path, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
            return Entry("file", known.st_size, mode, digest.hexdigest())
        if stat.S_ISLNK(known.st_mode):
            target = os.fsencode(os.readlink(entry.path))
            return Entry("link", 0, mode, hashlib.sha256(target).hexdigest())
        return Entry("folder" if stat.S_ISDIR(known.st_mode) else "other", 0, mode, "")
    except FileNotFoundError:
        return None
    except OSError:
        raise WorkspaceError("an entry of the workspace cannot be read") from None


@dataclass(frozen=True)
class Changed:
    """What lies at a path that changed; ``file_type`` is ``missing`` where nothing does."""

    size: int
    file_type: str


@dataclass(frozen=True)
class WriteScope:
    """What was changed, held against what the step allows."""

    passed: bool = True
    changed_files: Mapping[str, Changed] = field(default_factory=dict)
    violations: tuple[str, ...] = ()


def changes(before: Snapshot, after: Snapshot) -> dict[str, Changed]:
    """Each path at which something else lies than before. A folder counts only where it is all
    there is: that files came into it is told by the files."""
    found = {}
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        entry = new or old
        inside = path + "/"
        by_files = entry is not None and entry.file_type == "folder" and (old is None or new is None)
        if by_files and any(other.startswith(inside) for other in (after if new else before)):
            continue
        found[path] = Changed(new.size, new.file_type) if new else Changed(0, "missing")
    return found


def check(folder: Path, step: Step, before: Snapshot, after: Snapshot) -> WriteScope:
    """Whether what changed is within the step: its files, their number, their sizes."""
    budget = step.context_budget
    changed = changes(before, after)
    violations = []
    bare = bare_repositories(after)
    for path, what in changed.items():
        if is_control(path) or any(path.startswith(f"{top}/") for top in bare):
            violations.append(f"{path}:repository_control_file")
        elif path not in step.target_files and not budget.allow_extra_files:
            violations.append(f"{path}:not_a_target")
        if what.file_type not in ("file", "missing"):
            violations.append(f"{path}:unsupported_file_type:{what.file_type}")
        if what.size > budget.max_bytes_per_file:
            violations.append(f"{path}:max_bytes_per_file")
        if not _inside(folder, path):
            violations.append(f"{path}:resolved_outside_workspace")
    if len(changed) > budget.max_files:
        violations.append("context_budget.max_files")
    for path in step.target_files:
        if step.action_kind != "delete" and path not in after:
            violations.append(f"{path}:target_missing_after_worker")
    return WriteScope(not violations, changed, tuple(violations))


def unsafe_targets(folder: Path, step: Step, now: Snapshot) -> tuple[str, ...]:
    """Targets that a worker must not be sent to: through a link, or something that is no file."""
    unsafe = []
    for path in step.target_files:
        entry = now.get(path)
        above = [str(parent) for parent in Path(path).parents if str(parent) != "."]
        through = [now[parent] for parent in above if parent in now]
        plain = entry is None or entry.file_type == "file"
        if not plain or is_control(path) or any(p.file_type != "folder" for p in through):
            unsafe.append(path)
        elif entry is None and step.action_kind not in ("create", "research", "design"):
            unsafe.append(path)
        elif not _inside(folder, path):
            unsafe.append(path)
    return tuple(unsafe)


def _inside(folder: Path, path: str) -> bool:
    try:
        real = Path(os.path.realpath(folder / path))
        return real.is_relative_to(os.path.realpath(folder))
    except (OSError, ValueError):
        return False


def root_of(cwd: str | os.PathLike[str], observer: WorkspaceObserver) -> Path:
    """The folder that a call works in, which is the one that is watched."""
    folder = Path(cwd)
    if not folder.is_dir():
        raise ContractError("cwd is not a folder")
    watched = getattr(observer, "folder", None)
    if watched is None or os.path.realpath(watched) != os.path.realpath(folder):
        raise WorkspaceError("the observer of the workspace looks at another folder than cwd")
    return folder.resolve()
