"""That keywords are fields of their operation: a slip in a name would else be passed over."""

from __future__ import annotations

from collections.abc import Mapping, Set

from loopx._native import refuse_field
from loopx._operations import OPERATIONS, SESSION

FIELDS: dict[str, frozenset[str]] = {row[0]: frozenset(row[3]) for row in OPERATIONS}
SESSION_FIELDS: frozenset[str] = frozenset(SESSION)


def check(operation: str, given: Mapping[str, object], fields: Set[str]) -> None:
    """Raises ``UsageError`` for the first keyword that is not among ``fields``."""
    if not given.keys() <= fields:
        field = next(key for key in given if key not in fields)
        refuse_field(operation, field, sorted(fields))
