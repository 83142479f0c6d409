"""Checks that the caller has approved, word for word: nothing that a plan asks for beyond them is
run, and no shell reads them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeGuard, get_args

from loopx.worker import Report, command_words
from loopx.worker.posix import Process

from .contract import ContractError
from .independence import is_independent
from .programs import APPROVABLE, read
from .shelter import environment, shelter

TIMEOUT_SECONDS = 600.0
OUTPUT_LIMIT = 10_000_000
GRACE_SECONDS = 1.0
GUARD = Path(__file__).with_name("guard.py")
MARK = "LOOPX_PLANNER_CHECK"
"""In the environment of a check, with a value of its own."""

Ending = Literal["exited", "signal", "timeout", "output_limit", "stopped", "spawn_failed"]


@dataclass(frozen=True)
class Validation:
    """One check and how it ended."""

    command: str
    passed: bool
    exit_code: int | None
    ending: Ending
    independent: bool = True
    """What the worker wrote is checked by what it did not write (`independence.py`)."""


class ValidationRunner(Protocol):
    """Runs one approved command."""

    def __call__(self, command: str, cwd: Path) -> Validation: ...


def approved(commands: Iterable[str]) -> frozenset[str]:
    """The commands that the caller approves.

    Raises :class:`ContractError` for one that is no plain command of a known program, for one with
    program text (`programs.py`), and for one that leads out of the workspace: what a receipt repeats says nothing of the machine.
    """
    if isinstance(commands, str):
        raise ContractError("approved commands are a list of texts")
    found = frozenset(commands)
    for command in found:
        words = parts(command)
        if words[0] not in APPROVABLE:
            known = ", ".join(sorted(APPROVABLE))
            raise ContractError(f"an approved command starts one of {known}, by its bare name")
        read(words)
        for word in words[1:]:
            if any(leads_out(part) for part in word.split("=")):
                raise ContractError("an approved command names paths of the workspace only")
    return found


def checked(
    runner: ValidationRunner, command: str, folder: Path, written: Collection[str]
) -> Validation:
    """One check, told whether it is more than the word of who has written these files. A runner
    that raises, or answers no :class:`Validation`, has not run it."""
    independent = is_independent(command, written, folder)
    try:
        found = runner(command, folder)
    except Exception:  # noqa: BLE001
        found = None
    if not is_validation(found):
        found = Validation(command, False, None, "spawn_failed")
    return replace(found, command=command, independent=independent)


def is_validation(found: object) -> TypeGuard[Validation]:
    """Whether this is an answer of a runner, its parts of their types."""
    return (
        isinstance(found, Validation)
        and isinstance(found.passed, bool)
        and (found.exit_code is None or type(found.exit_code) is int)
        and found.ending in get_args(Ending)
    )


def leads_out(part: str) -> bool:
    """Whether a word, or a part of it beside a `=`, is a path out of the workspace; a short flag
    may have its path joined to it, as `-C/etc` has."""
    path = part[2:] if part[:1] == "-" and part[1:2].isalpha() else part
    return path.startswith(("/", "~")) or ".." in Path(path).parts


def parts(command: str) -> list[str]:
    """The words of a command."""
    try:
        return command_words(command)
    except ValueError as error:
        raise ContractError(f"an approved command is none: {error}") from None


class ApprovedCommands:
    """Runs approved commands, one at a time. Each is in a session of its own, has of this process's
    environment no more than what programs are found by, keeps its caches in a folder that is
    gone afterwards (`shelter.py`), and ends with everything that it started (`guard.py`)."""

    def __init__(self, commands: Iterable[str], timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self.approved = approved(commands)
        self.timeout_seconds = timeout_seconds

    def __call__(self, command: str, cwd: Path) -> Validation:
        if command not in self.approved:
            raise ContractError("a command that the caller has not approved is not run")
        folder = cwd.resolve()
        with shelter(folder) as own:
            report = guarded(
                own,
                words=parts(command),
                env=environment(os.environ, own),
                timeout=self.timeout_seconds,
                output_limit=OUTPUT_LIMIT,
                grace=GRACE_SECONDS,
                folder=os.fspath(folder),
            )
        return Validation(
            command=command,
            # What could not be ended may yet change what was checked.
            passed=report.ending == "exited" and report.number == 0 and report.remains != "left",
            exit_code=report.number if report.ending == "exited" else None,
            ending=report.ending,
        )


def guarded(own: Path, *, env: dict[str, str], grace: float, **asked: Any) -> Report:
    """How a command ended that a guard has run, with the options of
    :meth:`loopx.worker.posix.Process.run`; ``own`` is the folder of what it keeps for itself."""
    mark = uuid.uuid4().hex
    asked = {**asked, "env": {**env, MARK: mark}, "grace": grace}
    line = json.dumps({"path": sys.path, "asked": asked, "shelter": os.fspath(own)}).encode() + b"\n"
    with subprocess.Popen(
        [sys.executable, "-B", os.fspath(GUARD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as guard:
        assert guard.stdin is not None and guard.stdout is not None
        try:
            with contextlib.suppress(BrokenPipeError):
                guard.stdin.write(line)
                guard.stdin.flush()
            said = guard.stdout.read()
        finally:
            # Also when this is interrupted: the guard then ends the command.
            with contextlib.suppress(OSError):
                guard.stdin.close()
    try:
        return Report(**json.loads(said))
    except ValueError:
        # Whoever ended the guard may have left the command.
        with Process() as process:
            process.end_marked(f"{MARK}={mark}", grace)
        return Report("signal", number=signal.SIGKILL)
