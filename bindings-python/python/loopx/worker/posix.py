"""Hands of a worker on POSIX systems: stop signals, sleeping, and children with everything
below them, by ``subprocess``.

A child runs in a session of its own without input. What it prints is counted and thrown away.
A process is ended only when it is certain whose it is: by its group, whose number the members
keep from being given away; by being a child of this process; or by a mark in its environment
that nothing else has.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from loopx.worker._report import Ending, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Process"]

STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
LINUX = sys.platform.startswith("linux")
LOOK = 0.01
"""Seconds between two looks at a group that is asked to end: nobody tells of its end."""
LAST_WAIT = 5.0
"""Seconds that a killed process is waited for; only one that hangs in the system takes longer."""


class Process:
    """This process, its standard output and its children, as the hands of a worker."""

    def __init__(self) -> None:
        self.stops: list[int] = []
        # A child's thread may ring after the end; the number of a closed pipe may be another
        # file's by then.
        self.closing, self.closed = threading.Lock(), False
        self.selector = selectors.DefaultSelector()
        self.bell, self.rung = os.pipe()
        for end in (self.bell, self.rung):
            os.set_blocking(end, False)
        self.selector.register(self.bell, selectors.EVENT_READ)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Gives back what it has open; a process that listens for signals has no need to."""
        with self.closing:
            self.closed = True
        self.selector.close()
        os.close(self.bell)
        os.close(self.rung)

    def listen(self) -> None:
        """Takes stop signals from now on. One that the process was started to ignore stays
        ignored: that is what `nohup`, and `&` in a script, ask for."""
        signal.set_wakeup_fd(self.rung, warn_on_full_buffer=False)
        for number in STOPS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, lambda number, _frame: self.stops.append(number))

    def ring(self) -> None:
        """There is news: whoever waits looks again."""
        with self.closing, contextlib.suppress(BlockingIOError):
            if not self.closed:
                os.write(self.rung, b"\0")

    def wait(self, seconds: float, ready: Callable[[], object]) -> bool:
        """Waits until `ready()`, at most so long; reads what comes from children meanwhile."""
        due = time.monotonic() + seconds
        while not ready():
            left = due - time.monotonic()
            if left <= 0:
                return False
            for key, _ in self.selector.select(min(left, 3600.0)):
                if key.data is not None:
                    key.data.read()
                else:
                    with contextlib.suppress(BlockingIOError):
                        while os.read(self.bell, 4096):
                            pass
        return True

    def say(self, line: str) -> None:
        """Writes a line to standard output, in UTF-8. A log that is gone is no reason to stop the
        work, and what could not be written is not kept for the interpreter's end."""
        out = cast("TextIO | None", sys.stdout)
        if out is None:
            return
        with contextlib.suppress(OSError, ValueError):
            out.flush()
        try:
            number = out.fileno()
        except (OSError, ValueError, AttributeError):
            # Whoever has put something else in its place reads that.
            with contextlib.suppress(OSError, ValueError):
                out.write(line + "\n")
                out.flush()
            return
        data = line.encode() + b"\n"
        with contextlib.suppress(OSError):
            while data:
                data = data[os.write(number, data) :]

    def sleep(self, seconds: float) -> None:
        """Sleeps; a stop signal ends the sleep."""
        self.wait(seconds, self.stopped)

    def stopped(self) -> int | None:
        """The first stop signal that has come."""
        return self.stops[0] if self.stops else None

    def run(
        self,
        *,
        words: Sequence[str],
        env: Mapping[str, str],
        without: Sequence[str] = (),
        timeout: float | None = None,
        output_limit: int = 1_000_000,
        grace: float = 10.0,
        everything: bool = False,
        folder: str | None = None,
        inherit: bool = True,
    ) -> Report:
        """Runs a child as :class:`loopx.worker.Hands` says; in ``folder`` where one is named, and
        with nothing but ``env`` where it is to ``inherit`` nothing."""
        begun = time.monotonic()
        if self.stops:
            return Report("stopped", number=self.stops[0])
        inherited = dict(os.environ) if inherit else dict[str, str]()
        whole = {name: value for name, value in inherited.items() if name not in without}
        whole.update(env)
        if everything:
            adopt_orphans()
        try:
            child = subprocess.Popen(
                list(words),
                env=whole,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                bufsize=0,
            )
        except (OSError, ValueError):
            return Report("spawn_failed")
        with Child(self, child, output_limit) as watched:
            return watched.to_its_end(begun, timeout, grace, everything)

    def end_marked(self, mark: str, grace: float) -> int:
        """Ends what a worker that was killed left behind; only Linux shows environments."""
        limit = time.monotonic() + grace
        above = ancestors()
        asked: set[int] = set()
        while True:
            found = [pid for pid in processes() if pid not in above and has_mark(pid, mark)]
            now = time.monotonic()
            if not found or now >= limit + LAST_WAIT:
                return len(asked)
            for pid in found:
                if now >= limit:
                    send(os.kill, pid, signal.SIGKILL)
                elif pid not in asked:
                    ask_to_end(os.kill, pid)
                    asked.add(pid)
            self.wait(LOOK * 5, lambda: False)


class Stream:
    """One stream of a child: its bytes are counted and thrown away."""

    def __init__(self, process: Process, pipe: IO[bytes], limit: int) -> None:
        self.process, self.pipe, self.limit = process, pipe, limit
        self.bytes = 0
        self.at_end = False
        os.set_blocking(pipe.fileno(), False)
        process.selector.register(pipe, selectors.EVENT_READ, self)

    def read(self) -> None:
        # Reading goes on above the limit: a child that is being ended must not hang in a full
        # pipe.
        try:
            block = os.read(self.pipe.fileno(), 64 * 1024)
        except BlockingIOError:
            return
        except OSError:
            block = b""
        self.bytes += len(block)
        if not block:
            self.close()

    def close(self) -> None:
        if not self.at_end:
            self.process.selector.unregister(self.pipe)
            self.at_end = True
        self.pipe.close()

    @property
    def is_over(self) -> bool:
        return self.bytes > self.limit


class Child:
    """A child that runs, with everything below it."""

    def __init__(self, process: Process, child: subprocess.Popen[bytes], limit: int) -> None:
        self.process, self.child = process, child
        self.group = child.pid
        self.ended = threading.Event()
        pipes = (child.stdout, child.stderr)
        self.streams = [Stream(process, pipe, limit) for pipe in pipes if pipe]
        threading.Thread(target=self.watch, name="loopx-wait", daemon=True).start()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: Any) -> None:
        for stream in self.streams:
            stream.close()
        # Left by an exception, a KeyboardInterrupt for example: nobody else ends it.
        if self.child.returncode is None and not self.ended.is_set():
            send(os.killpg, self.group, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.child.wait(LAST_WAIT)

    def watch(self) -> None:
        """Says when the child has ended, without reaping it: until it is reaped, its number and
        its group's cannot become another's."""
        try:
            os.waitid(os.P_PID, self.child.pid, os.WEXITED | os.WNOWAIT)
        except AttributeError:
            # A Python that has no waitid on this system.
            self.child.wait()
        except ChildProcessError:
            pass
        self.ended.set()
        self.process.ring()

    def to_its_end(
        self, begun: float, timeout: float | None, grace: float, everything: bool
    ) -> Report:
        process, gone = self.process, self.ended.is_set

        def over() -> bool:
            return any(stream.is_over for stream in self.streams)

        left = math.inf if timeout is None else timeout - (time.monotonic() - begun)
        news = process.wait(left, lambda: process.stops or over() or gone())
        # The first cause counts; an end that has come by itself comes first.
        cause: Ending | None = None
        if not gone():
            cause = "output_limit" if over() else "stopped" if news else "timeout"
        ask_to_end(os.killpg, self.group)
        limit = time.monotonic() + grace
        # A second stop signal is impatience: it ends the grace.
        stops = len(process.stops)
        if not process.wait(grace, lambda: gone() or len(process.stops) > stops) or not gone():
            limit = min(limit, time.monotonic())
            send(os.killpg, self.group, signal.SIGKILL)
            process.wait(LAST_WAIT, gone)
        code = self.child.wait() if gone() else self.child.poll()
        remains = self.end_what_is_left(limit, everything)
        status = None if code is None else code if code >= 0 else 128 - code
        if cause is None and code is not None and code >= 0:
            # What it printed before its end counts also when the end was quicker.
            process.wait(1.0, lambda: all(stream.at_end for stream in self.streams))
            cause = "output_limit" if over() else None
        number = process.stops[0] if cause == "stopped" else 0
        if cause is None:
            by_signal = code is None or code < 0
            cause, number = ("signal", -(code or -9)) if by_signal else ("exited", code or 0)
        return Report(
            cause,
            number=number,
            status=status,
            stdout_bytes=self.streams[0].bytes,
            stderr_bytes=self.streams[1].bytes,
            remains=remains,
            seconds=time.monotonic() - begun,
        )

    def end_what_is_left(self, limit: float, everything: bool) -> str:
        """Ends the rest of the family; at `limit` at the latest it is killed, and a further stop
        signal does not wait for that."""
        process = self.process
        stops = len(process.stops)
        asked: set[int] = set()
        found = False
        while True:
            adopted = orphans() if everything and LINUX else []
            lives = group_lives(self.group)
            if not adopted and not lives:
                return "ended" if found else "none"
            found = True
            now = time.monotonic()
            if now >= limit + LAST_WAIT:
                return "left"
            kill = now >= limit or len(process.stops) > stops
            if kill and lives:
                send(os.killpg, self.group, signal.SIGKILL)
            for pid in adopted:
                if kill:
                    to_all(send, pid, signal.SIGKILL)
                elif pid not in asked:
                    to_all(ask_to_end, pid)
                    asked.add(pid)
            process.wait(LOOK, lambda: not kill and len(process.stops) > stops)


def send(to: Callable[[int, int], None], pid: int, number: int) -> None:
    """Sends a signal with `os.kill` or `os.killpg`. Gone is what it is to be."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        to(pid, number)


def ask_to_end(to: Callable[[int, int], None], pid: int) -> None:
    """SIGTERM, and SIGCONT, because one that is halted hears nothing."""
    send(to, pid, signal.SIGTERM)
    send(to, pid, signal.SIGCONT)


def to_all(what: Callable[..., None], pid: int, *rest: int) -> None:
    """To a process, and to its group when it leads one."""
    with contextlib.suppress(ProcessLookupError):
        if os.getpgid(pid) == pid:
            what(os.killpg, pid, *rest)
    what(os.kill, pid, *rest)


def adopt_orphans() -> None:
    """On Linux, what loses its parent below this process comes to it."""
    if LINUX:
        # Where it is refused the group alone is ended, as on other systems.
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def orphans() -> list[int]:
    """Children of this process that live; the dead ones are reaped. The one child that it has
    started is reaped before."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    found: list[int] = []
    for task in listed("/proc/self/task"):
        found += map(int, text_of(f"/proc/self/task/{task}/children").split())
    return found


def group_lives(group: int) -> bool:
    """Whether a group has a member that is not merely waiting to be reaped."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    seen = False
    for pid in processes():
        fields = fields_of(pid)
        if len(fields) > 2:
            seen = True
            if fields[0] not in "ZX" and fields[2] == str(group):
                return True
    # A system that does not show its processes there has only said that there are some.
    return not seen


def processes() -> list[int]:
    return [int(name) for name in listed("/proc") if name.isdigit()]


def ancestors() -> set[int]:
    """This process and those above it."""
    found: set[int] = set()
    pid = os.getpid()
    while pid and pid not in found:
        found.add(pid)
        fields = fields_of(pid)
        pid = int(fields[1]) if len(fields) > 1 else 0
    return found


def has_mark(pid: int, mark: str) -> bool:
    # Empty for what is dead and not yet reaped, refused for what is another's.
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return os.fsencode(mark) in file.read().split(b"\0")
    except OSError:
        return False


def fields_of(pid: int) -> list[str]:
    """State, parent, group and so on: the name before them may hold spaces and parentheses."""
    return text_of(f"/proc/{pid}/stat").rpartition(")")[2].split()


def text_of(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
