"""May this agent run, on what, and when to look again: the LoopX kernel in process."""

from loopx._native import version as __version__
from loopx.errors import (
    BoundaryError,
    BusyError,
    ConnectorNotFoundError,
    IdentityError,
    InternalError,
    LoopxError,
    RefusedError,
    StateError,
    UsageError,
)
from loopx.kernel import Kernel, LoopSession

__all__ = [
    "BoundaryError",
    "BusyError",
    "ConnectorNotFoundError",
    "IdentityError",
    "InternalError",
    "Kernel",
    "LoopSession",
    "LoopxError",
    "RefusedError",
    "StateError",
    "UsageError",
    "__version__",
    "version",
]


def version() -> str:
    """The version of this package, such as ``0.1.0``."""
    return __version__
