"""What the kernel is asked and answers, as typed dictionaries. Nothing is checked when a program
runs: they are for type checkers and for reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from typing_extensions import Required

Answer: TypeAlias = dict[str, Any]
"""Any answer; ``answer["ok"]`` is false only where a refusal is an answer."""


class LoopAnswer(TypedDict, total=False):
    """What ``loop.step`` and a ``LoopSession`` answer."""

    ok: Required[bool]
    """False where the step failed; the action is then to wait."""
    action: Required[LoopAction]
    """What the host does next."""
    notice: LoopNotice
    """What a person is told, when it is something new."""
    loop: dict[str, Any]
    """How the loop stands."""
    decision: dict[str, Any]
    """What of the decision a host shows."""
    commit: int
    """Number of the last commit; see ``goal_changed_since``."""
    error_code: str
    """Where the step failed: why."""
    error: str
    """Where the step failed: one sentence."""


class ChangedSince(TypedDict):
    """What ``goal.changed_since`` answers."""

    ok: bool
    """True."""
    commit: int
    """The last commit."""
    changed: bool
    """Something that decisions go by changed."""
    edited: bool
    """The state file has hand edits that the next write takes in."""
    mark: str
    """Differs whenever the answer would tell something new."""
