"""Where a check puts what it keeps for itself: a folder of its own, outside of the workspace and
gone afterwards, so that a cache is not taken for a change."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

KEPT = ("PATH", "PYTHONPATH")
"""What a check has of the caller's environment."""

INSTALLED = {
    "CARGO_HOME": ".cargo",
    "PYENV_ROOT": ".pyenv",
    "PYTHONUSERBASE": ".local",
    "RUSTUP_HOME": ".rustup",
    "VOLTA_HOME": ".volta",
}
"""Where programs look for what is installed, and the folder of the home that it is by default: with
another home `cargo` finds no toolchain and `python3` no pytest."""

FOLDERS = {
    "HOME": "home",
    "TMPDIR": "tmp",
    "XDG_CACHE_HOME": "cache",
    "XDG_CONFIG_HOME": "config",
    "XDG_DATA_HOME": "data",
    "XDG_STATE_HOME": "state",
    "CARGO_TARGET_DIR": "cargo",
    "GOCACHE": "go-build",
    "GOPATH": "go",
    "GOMODCACHE": "go/pkg/mod",
    "GOTMPDIR": "tmp",
    "HYPOTHESIS_STORAGE_DIRECTORY": "hypothesis",
    "MYPY_CACHE_DIR": "mypy",
    "PYTHONPYCACHEPREFIX": "pycache",
    "RUFF_CACHE_DIR": "ruff",
    "npm_config_cache": "npm",
}
"""Where programs put what they keep."""

WORDS = {
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTEST_ADDOPTS": "-p no:cacheprovider",
    "npm_config_update_notifier": "false",
}


@contextlib.contextmanager
def shelter(workspace: Path) -> Iterator[Path]:
    """A folder of one check's own, which is there until the end."""
    made = tempfile.mkdtemp(prefix="loopx-check-", dir=_outside(workspace))
    try:
        yield Path(made)
    finally:
        remove(made)


def remove(folder: str | os.PathLike[str]) -> None:
    """Takes such a folder away, also what is read-only in it."""
    shutil.rmtree(folder, onerror=_again)


def environment(given: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The environment of a check that has this folder, with what is below it made."""
    found = {name: given[name] for name in KEPT if name in given}
    home = os.path.expanduser("~")
    for name, below in INSTALLED.items():
        place = given.get(name) or os.path.join(home, below)
        if os.path.isdir(place):
            found[name] = place
    for name, below in FOLDERS.items():
        place = folder / below
        place.mkdir(parents=True, exist_ok=True)
        found[name] = os.fspath(place)
    return {**found, **WORDS, "COVERAGE_FILE": os.fspath(folder / "coverage")}


def _outside(workspace: Path) -> str:
    """The folder for temporary files, unless that is in the workspace."""
    usual = Path(tempfile.gettempdir()).resolve()
    return os.fspath(workspace.parent if usual.is_relative_to(workspace) else usual)


def _again(_how: object, path: str, _error: object) -> None:
    """Go makes the folders of its modules read-only."""
    with contextlib.suppress(OSError):
        for place in (os.path.dirname(path), path):
            if not os.path.islink(place):
                os.chmod(place, stat.S_IRWXU)
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)
