"""What is known of a child after its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Ending = Literal["exited", "signal", "timeout", "output_limit", "stopped", "spawn_failed"]
"""How a child came to its end."""


@dataclass(frozen=True)
class Report:
    """How a child came to its end."""

    ending: Ending
    """By itself, by a signal that was not ours, or why it was ended."""
    number: int = 0
    """With ``exited`` the exit status, with ``signal`` and ``stopped`` the signal."""
    status: int | None = None
    """Exit status as a shell tells it, 128 and the number for a signal; None when it never
    started."""
    stdout_bytes: int = 0
    """Bytes on standard output."""
    stderr_bytes: int = 0
    """Bytes on standard error."""
    remains: str = "none"
    """What was left of its group when it had ended: ``none``, ``ended`` or ``left``."""
    seconds: float = 0.0
    """How long it ran."""
