"""Checks that the caller has approved, word for word: nothing that a plan asks for beyond them is
run, and no shell reads them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from loopx.worker import command_words
from loopx.worker.posix import Process

from .contract import ContractError

PROGRAMS = frozenset({"python", "python3", "pytest", "go", "npm", "npx", "cargo"})
"""What a check may start: an interpreter or a runner of tests, by its bare name."""
TIMEOUT_SECONDS = 600.0
OUTPUT_LIMIT = 10_000_000
GRACE_SECONDS = 1.0

Ending = Literal["exited", "signal", "timeout", "output_limit", "stopped", "spawn_failed"]


@dataclass(frozen=True)
class Validation:
    """One check and how it ended."""

    command: str
    passed: bool
    exit_code: int | None
    ending: Ending
    independent: bool = True
    """No file that the worker was sent to is named by the command: what it wrote is checked by
    what it did not write. A check that begins in a file of the worker's own is none."""


class ValidationRunner(Protocol):
    """Runs one approved command."""

    def __call__(self, command: str, cwd: Path) -> Validation: ...


def approved(commands: Iterable[str]) -> frozenset[str]:
    """The commands that the caller approves.

    Raises :class:`ContractError` for one that is no plain command of a known program, and for one
    that leads out of the workspace: what a receipt repeats says nothing of the machine.
    """
    if isinstance(commands, str):
        raise ContractError("approved commands are a list of texts")
    found = frozenset(commands)
    for command in found:
        words = parts(command)
        if words[0] not in PROGRAMS:
            known = ", ".join(sorted(PROGRAMS))
            raise ContractError(f"an approved command starts one of {known}, by its bare name")
        if has_program_text(words):
            raise ContractError("an approved command has no program text in it (-c)")
        for word in words[1:]:
            if any(leads_out(part) for part in word.split("=")):
                raise ContractError("an approved command names paths of the workspace only")
    return found


def has_program_text(words: list[str]) -> bool:
    """Whether a `-c`, alone or in a group of short flags such as `-Bc`, stands before what the
    program runs."""
    if "-c" in words[1:]:
        return True
    for word in words[1:]:
        if not word.startswith("-"):
            return False
        if words[0].startswith("python") and not word.startswith("--") and "c" in word:
            return True
    return False


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


def is_independent(command: str, targets: Collection[str]) -> bool:
    """Whether no word of the command names a file that the worker was sent to: as a path, as a
    folder that it is in, or as a module."""
    named = {os.path.normpath(word.rpartition("=")[2].split("::")[0]) for word in parts(command)[1:]}
    for target in map(os.path.normpath, targets):
        folders = {str(folder) for folder in Path(target).parents}
        module = target.removesuffix(".py").replace(os.sep, ".")
        modules = {word for word in named if word == module or word.startswith(f"{module}.")}
        if target in named or named & folders or modules:
            return False
    return True


class ApprovedCommands:
    """Runs approved commands, one at a time, each in a session of its own with nothing of this
    process's environment but the search path of programs and of Python."""

    def __init__(self, commands: Iterable[str], timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self.approved = approved(commands)
        self.timeout_seconds = timeout_seconds

    def __call__(self, command: str, cwd: Path) -> Validation:
        if command not in self.approved:
            raise ContractError("a command that the caller has not approved is not run")
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        with Process() as process:
            report = process.run(
                words=parts(command),
                env={**kept, "PYTHONDONTWRITEBYTECODE": "1"},
                timeout=self.timeout_seconds,
                output_limit=OUTPUT_LIMIT,
                grace=GRACE_SECONDS,
                folder=os.fspath(cwd),
                inherit=False,
            )
        return Validation(
            command=command,
            passed=report.ending == "exited" and report.number == 0,
            exit_code=report.number if report.ending == "exited" else None,
            ending=report.ending,
        )
