"""The kernel's own classes over the native module. ``kernel.pyi`` has their types."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from loopx._fields import FIELDS, SESSION_FIELDS, check
from loopx._native import NativeKernel, NativeLoop
from loopx._operations import OPERATIONS

__all__ = ["Kernel", "LoopSession"]


class Kernel:
    """The kernel on one registry. ``Kernel.open()`` makes one; any number of threads use it, and
    others run while it works.

    After a fork the child opens anew at its first call, and what the parent has open stays the
    parent's. Do not fork while another thread is inside a call.
    """

    __slots__ = ("__weakref__", "_native")

    _native: NativeKernel

    def __init__(self) -> None:
        raise TypeError("use Kernel.open()")

    @classmethod
    def open(
        cls,
        project: str | os.PathLike[str] | None = None,
        *,
        registry: str | os.PathLike[str] | None = None,
        home: str | os.PathLike[str] | None = None,
        agent_id: str | None = None,
        now: str | None = None,
        runtime_root: str | os.PathLike[str] | None = None,
        deadline_ms: int | None = None,
        independent_worktree: bool = False,
    ) -> Kernel:
        """Opens the kernel; reads nothing yet, and writes nothing. The stubs say what each
        option is.

        A call waits up to ``deadline_ms`` (30,000) for a lock. Other threads run meanwhile, but
        Ctrl-C and other signals are heard when the call is over."""
        kernel = cls.__new__(cls)
        kernel._native = NativeKernel(
            {
                "cwd": None if project is None else _absolute(project),
                "registry": None if registry is None else os.fspath(registry),
                "home": None if home is None else os.fspath(home),
                "label": agent_id,
                "now": now,
                "runtime_root": None if runtime_root is None else os.fspath(runtime_root),
                "deadline_ms": deadline_ms,
                "independent_worktree": independent_worktree,
            }
        )
        return kernel

    def call(self, operation: str, request: dict[str, Any] | None = None, /) -> Any:
        """Any operation by its name; its method says what it takes. What the operation does not
        know of the request is passed over, which its method refuses."""
        return self._native.call(operation, {} if request is None else request)

    def call_json(self, operation: str, request: str = "{}", /) -> str:
        """Any operation, from the JSON text of a request to that of an answer."""
        return self._native.call_json(operation, request)


def _absolute(project: str | os.PathLike[str]) -> str | None:
    try:
        return os.path.abspath(project)
    except FileNotFoundError:
        # The working directory is gone, which the kernel finds, too, and says.
        return None


def _method(operation: str, name: str, doc: str) -> Callable[..., Any]:
    fields = FIELDS[operation]

    def method(self: Kernel, /, **request: Any) -> Any:
        check(operation, request, fields)
        return self._native.call(operation, request)  # pyright: ignore[reportPrivateUsage]

    method.__name__ = name
    method.__qualname__ = f"Kernel.{name}"
    method.__doc__ = doc
    return method


for _row in OPERATIONS:
    setattr(Kernel, _row[1], _method(*_row[:3]))


class LoopSession:
    """A host's loop in its process: tell it what happened, it answers what to do next.

    What matters is in the store; this holds the generation that it saw, the failures in a row,
    and what a person did while the store could not be reached. Steps of one session happen one
    after the other, also from several threads.
    """

    __slots__ = ("__weakref__", "_goal_id", "_kernel", "_native")

    def __init__(self, kernel: Kernel, /, *, goal_id: str, **options: Any) -> None:
        check("loop.step", options, SESSION_FIELDS)
        self._goal_id = goal_id
        self._kernel = kernel._native  # pyright: ignore[reportPrivateUsage]
        self._native = NativeLoop({"goal_id": goal_id, **options})

    @property
    def goal_id(self) -> str:
        """The goal that the session follows."""
        return self._goal_id

    def step(self, event: dict[str, Any] | str, /) -> Any:
        """Tells the loop what happened: an event, or its kind where it has nothing else. A step
        that fails is an answer with ``ok: False``, and with the action to wait."""
        told = {"kind": event} if isinstance(event, str) else event
        return self._native.step(self._kernel, told)

    def owed(self) -> Any:
        """What a person did that is not stored yet."""
        return self._native.owed()
