#!/usr/bin/env python3
"""The loop of one agent in a process of its own, on the `loopx` wheel.

It does what `loopx worker run` does, with the same options, state route, status lines and exit
statuses; the two exclude each other on one route, and one goes on where the other stopped.
Every decision, and what follows from it, is the kernel's; stop signals, sleeping and the child
that wakes the agent are `loopx.worker.posix`'s. Here is the command line.

Without --wake-cmd it only observes. It cannot type into a terminal that somebody else has open,
so it does not replace an interactive loop.
"""

from __future__ import annotations

import argparse
import os
import sys

try:
    import loopx
    from loopx.worker import command_words, in_own_worktree, run
    from loopx.worker.posix import Process
except ImportError as error:
    sys.exit(
        f"the loopx wheel is missing ({error}): python3 -m pip install loopx-kernel,\n"
        "or build it in a checkout with: cargo xtask python --pack"
    )

SHORTEST = 0.01
MOST = 2**64 - 1
"""The largest whole number that the kernel takes."""
WRONG_USAGE = 2


def words(text: str) -> list[str]:
    try:
        found = command_words(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    program = found[0]
    folders = os.environ.get("PATH", "").split(os.pathsep)
    here = (
        os.path.exists(program)
        if "/" in program
        else any(os.path.isfile(os.path.join(folder, program)) for folder in folders)
    )
    if not here:
        # To say so now is better than a turn admitted for nothing.
        raise argparse.ArgumentTypeError(
            f'there is no program "{program}" on PATH; what a shell has built in needs one: '
            "sh -c '...'"
        )
    return found


def seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError("it is a number of seconds") from None
    if not SHORTEST <= number <= MOST:
        raise argparse.ArgumentTypeError(f"it is at least {SHORTEST} seconds")
    return number


def is_text(word: str) -> bool:
    """Whether a word of the command line is UTF-8; bytes that are not come as half characters."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def within(lowest: int, highest: int | None = None):
    """A whole number within bounds."""

    def read(text: str) -> int:
        bounds = f"{lowest}..{'' if highest is None else f'={highest}'}"
        if not (text.isascii() and text.lstrip("+-").isdigit()):
            raise argparse.ArgumentTypeError(f"{text!r} is not one of {bounds}")
        number = int(text) if len(text) <= len(str(MOST)) else MOST + 1
        if number < lowest or number > (MOST if highest is None else highest):
            raise argparse.ArgumentTypeError(f"{text} is not in {bounds}")
        return number

    return read


OPTIONS = (
    # Name, what it takes, and what it says.
    ("--registry", {"metavar": "FILE"}, "registry file [default: nearest upward, else global]"),
    ("--runtime-root", {"metavar": "DIR"}, "folder of stores [default: the registry's]"),
    ("--format", {"choices": ["json", "text", "markdown"]}, "an object a line [default: text]"),
    ("--verbose", {"action": "store_true"}, argparse.SUPPRESS),
    ("--goal-id", {"metavar": "GOAL"}, "goal [default: the registry's only one]"),
    ("--agent-id", {"metavar": "AGENT", "required": True}, "for which agent"),
    (
        "--wake-cmd",
        {"metavar": "COMMAND", "type": words},
        "command that wakes the agent, in the words of a shell but without one; it gets the "
        "admitted turn in LOOPX_TURN and the prompt in LOOPX_PROMPT",
    ),
    (
        "--wake-timeout-seconds",
        {"metavar": "SECONDS", "type": seconds},
        "after which a wake is ended, at least 0.01 [default: none]",
    ),
    (
        "--wake-stop-exit-code",
        {"metavar": "STATUS", "type": within(1, 255)},
        "exit status of a wake that ends the worker normally, 1 to 255",
    ),
    (
        "--wake-grace-seconds",
        {"metavar": "SECONDS", "type": seconds},
        "between SIGTERM and SIGKILL when a wake is ended [default: 10]",
    ),
    (
        "--wake-output-limit-bytes",
        {"metavar": "BYTES", "type": within(1)},
        "that a wake may print on each stream before it is ended [default: 1000000]",
    ),
    ("--once", {"action": "store_true"}, "look once, then end"),
    (
        "--error-backoff-seconds",
        {"metavar": "SECONDS", "type": within(0), "default": 60},
        "of the first wait after a failure; it doubles up to half an hour [default: 60]",
    ),
    (
        "--quota-timeout-seconds",
        {"metavar": "SECONDS", "type": within(1), "default": 30},
        "that a question may wait for locks [default: 30]",
    ),
    ("--state-file", {"metavar": "FILE"}, "file of the state route [default: in the runtime root]"),
    (
        "--available-capability",
        {"metavar": "NAME", "action": "append", "default": []},
        "that the agent has beside shell and file access (repeat)",
    ),
    (
        "--independent-worktree",
        {"action": "store_true"},
        "the agent works in a worktree of its own [default: found from the working directory]",
    ),
    ("--cli-bin", {"metavar": "PROGRAM"}, argparse.SUPPRESS),
    ("-O --scheduler-owner", {"metavar": "OWNER"}, "who owns the schedule"),
    ("-M --execution-mode", {"metavar": "MODE"}, "how the host runs"),
    (
        "--app-automation-current-rrule --codex-app-current-rrule",
        {"metavar": "RRULE"},
        argparse.SUPPRESS,
    ),
)
HOSTS = (
    # One of them.
    ("--runtime-profile", {"metavar": "PROFILE"}, "profile of the host [default: generic_cli]"),
    (
        "-A --codex-app",
        {"dest": "runtime_profile", "action": "store_const", "const": "codex_app_heartbeat"},
        "same as --runtime-profile codex_app_heartbeat",
    ),
    (
        "--trae_app",
        {"dest": "runtime_profile", "action": "store_const", "const": "trae_app"},
        "same as --runtime-profile trae_app",
    ),
    ("-H --host-surface", {"metavar": "SURFACE"}, "host surface"),
)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="external_scheduler_worker.py",
        description="The loop of one agent: wait, ask, wake it with a command.",
        epilog="Exit status: 0 after a normal stop, 2 when a question failed with --once or the "
        "usage is wrong, 3 when another worker has the route or its state file cannot be trusted, "
        "128 and the number after a signal; with --once that of a failed wake, which is 2 for one "
        "that did not start or was ended at a limit, where wake_rc says how its command ended (143 and "
        "137: by a signal). A stop signal is "
        "heard at once in a wait and in a wake. While a question waits for locks it is heard when "
        "that wait ends, after --quota-timeout-seconds at most.",
        allow_abbrev=False,
    )
    for place, rows in ((made, OPTIONS), (made.add_mutually_exclusive_group(), HOSTS)):
        for names, takes, says in rows:
            place.add_argument(*names.split(), help=says, **takes)
    return made


def arguments(given: list[str] | None) -> argparse.Namespace:
    made = parser()
    asked = made.parse_args(given)
    for name, value in vars(asked).items():
        texts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and not is_text(text) for text in texts):
            made.error(f"--{name.replace('_', '-')} is not UTF-8")
    if asked.wake_cmd is None:
        for name in ("wake_timeout_seconds", "wake_stop_exit_code"):
            if getattr(asked, name) is not None:
                made.error(f"--{name.replace('_', '-')} needs --wake-cmd")
    triple = (asked.host_surface, asked.scheduler_owner, asked.execution_mode)
    if any(triple) and not all(triple):
        made.error("--host-surface, --scheduler-owner and --execution-mode go together")
    return asked


def open_streams() -> None:
    """Gives a process that was started without standard streams empty ones, as the program does: a
    file that is opened later would else be taken for one of them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free, which is this one.
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)


def independent() -> bool:
    """Whether the working directory is in a git worktree of its own."""
    try:
        return in_own_worktree(os.getcwd())
    except OSError:
        # It is gone, which the kernel says.
        return False


def main(given: list[str] | None = None) -> int:
    open_streams()
    asked = arguments(given)
    if asked.cli_bin is not None:
        print("loopx: --cli-bin is not needed: the kernel is in this process", file=sys.stderr)
    process = Process()
    process.listen()
    context = asked.host_surface and {
        "host_surface": asked.host_surface,
        "scheduler_owner": asked.scheduler_owner,
        "execution_mode": asked.execution_mode,
        "source": "explicit",
    }
    try:
        here = asked.independent_worktree or independent()
        kernel = loopx.Kernel.open(
            registry=asked.registry,
            runtime_root=asked.runtime_root,
            deadline_ms=min(asked.quota_timeout_seconds * 1000, MOST),
            independent_worktree=here,
        )
        return run(
            kernel,
            process,
            goal_id=asked.goal_id,
            agent_id=asked.agent_id,
            state_file=asked.state_file,
            wake=asked.wake_cmd,
            once=asked.once,
            error_backoff_seconds=asked.error_backoff_seconds,
            wake_timeout_seconds=asked.wake_timeout_seconds,
            wake_stop_exit_code=asked.wake_stop_exit_code,
            wake_grace_seconds=asked.wake_grace_seconds,
            wake_output_limit_bytes=asked.wake_output_limit_bytes,
            available_capabilities=asked.available_capability,
            independent_worktree=here,
            runtime_profile=asked.runtime_profile,
            execution_context=context or None,
            json_lines=asked.format == "json",
        )
    except loopx.LoopxError as error:
        print(f"loopx: {error}\n  {error.next_command}", file=sys.stderr)
        return WRONG_USAGE


if __name__ == "__main__":
    sys.exit(main())
