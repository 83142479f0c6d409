"""What may be shown: texts without secrets and local paths."""

from __future__ import annotations

from loopx._native import redacted

__all__ = ["redact"]


def redact(text: str) -> str:
    """The text with each secret and each local path in it replaced by a word for it."""
    return redacted(text)
