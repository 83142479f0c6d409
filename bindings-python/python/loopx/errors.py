"""Refusals as exceptions: one class for each class of the kernel's catalogue."""

from __future__ import annotations

import json
import sys
from typing import Any


class LoopxError(Exception):
    """A refusal of the kernel. ``str()`` is its sentence."""

    code: str
    """Stable code, such as ``goal_not_found``; ``loopx errors`` lists every one."""
    about: str
    """What it is about: a field, a goal, a todo."""
    next_command: str
    """What to do: the command, or the step, that goes on."""
    retry: str
    """``never``, ``after_change`` of what it is about, or ``later`` as it is."""

    def __init__(self, sentence: str, refusal: dict[str, Any] | None = None) -> None:
        super().__init__(sentence)
        said = refusal or {}
        self.code = str(said.get("error_code", "internal"))
        self.about = str(said.get("about", ""))
        self.next_command = str(said.get("next_command", ""))
        self.retry = str(said.get("retry", "never"))
        # What nobody catches is shown with what to do.
        if sys.version_info >= (3, 11) and self.next_command:
            self.add_note(f"{self.code}; next: {self.next_command}")

    @property
    def hint(self) -> str:
        """What to do, as a sentence's end: ``next_command`` by its short name."""
        return self.next_command

    def to_dict(self) -> dict[str, Any]:
        """The refusal as the command line prints it."""
        return {
            "ok": False,
            "error_code": self.code,
            "error": str(self),
            "about": self.about,
            "next_command": self.next_command,
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), {**self.to_dict(), "retry": self.retry})


class UsageError(LoopxError, ValueError):
    """The request itself is malformed."""


class IdentityError(LoopxError):
    """Who is asking, or about which goal, is not settled."""


class RefusedError(LoopxError):
    """A rule says no."""


class BusyError(LoopxError):
    """Something else holds what is needed; waiting helps."""


class StateError(LoopxError):
    """Stored state is missing, unreadable or of another version."""


class BoundaryError(LoopxError):
    """The text may not be stored or shown."""


class InternalError(LoopxError, RuntimeError):
    """A defect of LoopX. The process and the kernel go on."""


class ConnectorNotFoundError(UsageError):
    """There is no connector of that id."""


_CLASSES: dict[str, type[LoopxError]] = {
    "usage": UsageError,
    "identity": IdentityError,
    "refused": RefusedError,
    "busy": BusyError,
    "state": StateError,
    "boundary": BoundaryError,
    "internal": InternalError,
}


def of_refusal(text: str) -> LoopxError:
    """The exception of a refusal's JSON, as the kernel gives it."""
    said = json.loads(text)
    kind = _CLASSES.get(said.get("class"), LoopxError)
    if said.get("error_code") == ConnectorNotFoundError.__name__:
        kind = ConnectorNotFoundError
    return kind(str(said.get("error", "")), said)
