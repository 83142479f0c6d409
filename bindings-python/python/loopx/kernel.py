"""The kernel's own classes over the native module. ``kernel.pyi`` has their types."""

from __future__ import annotations

import os

from loopx._native import NativeKernel, NativeLoop
from loopx._operations import OPERATIONS

__all__ = ["Kernel", "LoopSession"]


def _path(given):
    return None if given is None else os.fspath(given)


class Kernel:
    """The kernel on one registry. ``Kernel.open()`` makes one; threads may share it.

    After a fork the child opens anew at its first call, and what the parent has open stays
    the parent's.
    """

    __slots__ = ("_native", "__weakref__")

    def __init__(self):
        raise TypeError("use Kernel.open()")

    @classmethod
    def open(
        cls,
        project=None,
        *,
        registry=None,
        home=None,
        agent_id=None,
        now=None,
        runtime_root=None,
        deadline_ms=None,
        independent_worktree=False,
    ):
        """Opens the kernel; reads nothing yet."""
        given = {
            "cwd": None if project is None else os.path.abspath(project),
            "registry": _path(registry),
            "home": _path(home),
            "label": agent_id,
            "now": now,
            "runtime_root": _path(runtime_root),
            "deadline_ms": deadline_ms,
            "independent_worktree": independent_worktree,
        }
        kernel = cls.__new__(cls)
        kernel._native = NativeKernel(given)
        return kernel

    def call(self, operation, request=None, /):
        """Any operation by its name."""
        return self._native.call(operation, {} if request is None else request)

    def call_json(self, operation, request="{}", /):
        """The same from JSON text to JSON text."""
        return self._native.call_json(operation, request)


def _method(operation, name, sentence):
    def method(self, /, **request):
        return self._native.call(operation, request)

    method.__name__ = name
    method.__qualname__ = f"Kernel.{name}"
    method.__doc__ = sentence
    return method


for _row in OPERATIONS:
    setattr(Kernel, _row[1], _method(*_row))


class LoopSession:
    """A host's loop in its process: tell it what happened, it answers what to do next."""

    __slots__ = ("goal_id", "_kernel", "_native")

    def __init__(self, kernel, /, *, goal_id, **options):
        self.goal_id = goal_id
        self._kernel = kernel._native
        self._native = NativeLoop({"goal_id": goal_id, **options})

    def step(self, event, /):
        """Tells the loop what happened. A step that fails is an answer with ``ok: False``."""
        event = {"kind": event} if isinstance(event, str) else event
        return self._native.step(self._kernel, event)

    def owed(self):
        """What a person did that is not stored yet."""
        return self._native.owed()
