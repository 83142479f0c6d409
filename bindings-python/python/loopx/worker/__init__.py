"""The loop of an external worker, for programs that bring a process of their own.

The loop, its state route and its status lines are those of ``loopx worker run``. What is left
to the caller are the :class:`Hands`: writing lines, sleeping, hearing stop signals, and running
children. :class:`loopx.worker.posix.Process` has hands for POSIX systems;
``scripts/external_scheduler_worker.py`` is a worker that has them.
"""

from __future__ import annotations

from json import JSONEncoder
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Protocol, cast

from loopx._native import command_words, in_own_worktree, run_worker
from loopx.worker._report import Report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loopx.kernel import Kernel

__all__ = ["Hands", "Report", "command_words", "in_own_worktree", "run"]

_text = JSONEncoder(separators=(",", ":")).encode


class Hands(Protocol):
    """What a worker has done for it. A method that raises ends the worker, and its turn."""

    def say(self, line: str) -> None:
        """Writes one status line and flushes."""

    def sleep(self, seconds: float) -> None:
        """Sleeps, at most so long; a stop signal ends the sleep."""

    def stopped(self) -> int | None:
        """The number of the first stop signal that has come, if any."""

    def run(
        self,
        *,
        words: Sequence[str],
        env: Mapping[str, str],
        without: Sequence[str],
        timeout: float | None,
        output_limit: int,
        grace: float,
        everything: bool,
    ) -> Report:
        """Runs a child to its end, and ends everything below it.

        ``words`` are program and arguments. It inherits the environment but for ``without``,
        with ``env`` set; it has no input. It is ended after ``timeout`` seconds, after more
        than ``output_limit`` bytes on a stream, and at a stop signal: SIGTERM, and after
        ``grace`` seconds SIGKILL. ``everything``: also what has left its process group.
        """
        ...

    def end_marked(self, mark: str, grace: float) -> int:
        """Ends what has ``mark`` (``NAME=value``) in its environment, as a worker that was
        killed left it; how many there were."""
        ...


def run(
    kernel: Kernel,
    hands: Hands,
    *,
    agent_id: str,
    goal_id: str | None = None,
    state_file: str | PathLike[str] | None = None,
    wake: Sequence[str] | None = None,
    once: bool = False,
    error_backoff_seconds: int | None = None,
    wake_timeout_seconds: float | None = None,
    wake_stop_exit_code: int | None = None,
    wake_grace_seconds: float | None = None,
    wake_output_limit_bytes: int | None = None,
    available_capabilities: Sequence[str] = (),
    independent_worktree: bool = False,
    runtime_profile: str | None = None,
    execution_context: Mapping[str, str] | None = None,
    json_lines: bool = False,
) -> int:
    """Runs the loop of one agent until it ends; answers the exit status of its process.

    ``wake`` are program and arguments of the command that wakes the agent (None: observe only);
    the other options are those of ``loopx worker run``. The status is 0 after a normal stop, 2
    when a question failed with ``once``, 3 when another worker has the route or its file cannot
    be trusted, 128 and the number after a stop signal, and with ``once`` that of a wake that
    failed: its own, or 2 for one that did not start or was ended at a limit. While a question
    waits for locks, a stop signal is heard when that wait ends: after the kernel's ``deadline_ms``
    at most.

    Raises ``UsageError`` for an option that cannot be, and whatever a hand raised.
    """
    asked = {
        "goal_id": goal_id,
        "agent_id": agent_id,
        "state_file": None if state_file is None else fspath(state_file),
        "wake": None if wake is None else list(wake),
        "once": once,
        "error_backoff_seconds": error_backoff_seconds,
        "wake_timeout_seconds": wake_timeout_seconds,
        "wake_stop_exit_code": wake_stop_exit_code,
        "wake_grace_seconds": wake_grace_seconds,
        "wake_output_limit_bytes": wake_output_limit_bytes,
        "available_capabilities": list(available_capabilities),
        "independent_worktree": independent_worktree,
        "runtime_profile": runtime_profile,
        "execution_context": None if execution_context is None else dict(execution_context),
        "json_lines": json_lines,
    }
    return run_worker(cast(Any, kernel)._native, _text(asked), hands)
