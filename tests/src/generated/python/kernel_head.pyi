from os import PathLike
from typing import Literal, overload

from typing_extensions import Self, Unpack

from loopx.types import (
@NAMES@
)

__all__ = ["Kernel", "LoopSession"]

class Kernel:
    """The kernel on one registry. ``Kernel.open()`` makes one; any number of threads use it, and
    others run while it works.

    After a fork the child opens anew at its first call, and what the parent has open stays the
    parent's. Do not fork while another thread is inside a call.
    """

    @classmethod
    def open(
        cls,
        project: str | PathLike[str] | None = None,
        *,
        registry: str | PathLike[str] | None = None,
        home: str | PathLike[str] | None = None,
        agent_id: str | None = None,
        now: str | None = None,
        runtime_root: str | PathLike[str] | None = None,
        deadline_ms: int | None = None,
        independent_worktree: bool = False,
    ) -> Self:
        """Opens the kernel. Reads nothing yet, and writes nothing.

        Args:
            project: Folder that relative paths count from; the working folder when absent.
            registry: Registry file; else ``LOOPX_REGISTRY``, else the nearest
                ``.loopx/registry.json`` upward from ``project``, else the user's global one.
            home: Home folder of the user; else ``HOME``.
            agent_id: Who waits and holds, in records of locks; else ``LOOPX_AGENT_ID``. A request
                names its own agent.
            now: A fixed clock for tests and replays, RFC 3339; else ``LOOPX_NOW``, else the
                system's clock.
            runtime_root: Folder of the stores; else ``LOOPX_RUNTIME_ROOT``, else as the registry
                says.
            deadline_ms: Longest wait of a call for a lock, in milliseconds; 30,000 when absent.
                Other threads run meanwhile; Ctrl-C and other signals are heard when the call is
                over, which may take as long.
            independent_worktree: Whether the caller works in a checkout of its own.

        The environment is read here and never later.

        Raises:
            UsageError: an option is malformed, or two global registries are there and none was
                named.
        """
        ...

