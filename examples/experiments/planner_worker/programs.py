"""What a check may start, and how the words of each program are read: which of its options stand
alone, which take the word after them, and what it runs in the end. A program whose row is closed is
given no option that the row does not name, so that one that brings program text is not overlooked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .contract import ContractError


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


@dataclass(frozen=True)
class Program:
    """How a program reads its words."""

    runs: Literal["file", "program", "command", "tests"]
    """What the first word that is no option is: a file to run, a program with words of its own, a
    command of this program, or where tests are."""
    alone: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    module: str = ""
    """The option whose value is a module to run, with all words after it."""
    text: frozenset[str] = frozenset()
    """Options and commands that run what is written in the command line, or a program it names."""
    commands: frozenset[str] = frozenset()
    """The commands that there are for a check; none named is any but those of ``text``."""
    closed: bool = True
    words: bool = False
    """Whether an option after one dash is a whole word, as Go has it."""
    place: frozenset[str] = frozenset()
    """Options whose value is where tests are."""


_FILE = Program("file")
_SHELL = Program("file", alone=_set("-e -f -n -u -v -x"), valued=_set("-o"))
_PYTHON = Program(
    "file",
    alone=_set("-b -B -d -E -I -O -P -q -s -S -u -v -x"),
    valued=_set("-W -X --check-hash-based-pycs"),
    module="-m",
)
_PYTEST = Program(
    "tests",
    alone=_set(
        "-q -v -s -x -l --quiet --verbose --exitfirst --showlocals --lf --ff --nf --sw --pyargs "
        "--co --collect-only --strict-markers --strict-config --doctest-modules --no-header "
        "--no-summary --noconftest"
    ),
    closed=False,
)
_NODE = Program("file", alone=_set("--enable-source-maps --no-warnings"))

TABLE = {
    "python": _PYTHON,
    "python3": _PYTHON,
    "pytest": _PYTEST,
    "cargo": Program(
        "command",
        valued=_set(
            "-C -p -F -j -Z --package --features --color --manifest-path --target --target-dir "
            "--profile --test --bin --example --bench --exclude --jobs --message-format"
        ),
        text=_set("--config eval script rustc rustdoc"),
        closed=False,
    ),
    "go": Program(
        "command",
        valued=_set("-C -run -bench -count -timeout -tags -coverpkg -p -parallel -mod"),
        text=_set("-exec -toolexec -vettool"),
        closed=False,
        words=True,
    ),
    "npm": Program(
        "command",
        alone=_set(
            "-s -q --silent --quiet --if-present --workspaces --include-workspace-root --offline "
            "--no-audit --no-fund --ignore-scripts"
        ),
        valued=_set("-w --workspace --prefix --loglevel"),
        commands=_set("test t tst run run-script ci audit ls"),
    ),
    "npx": Program(
        "program",
        alone=_set("-y -q -s --yes --no --no-install --quiet --silent --offline --prefer-offline"),
        valued=_set("-p --package -w --workspace"),
    ),
    # What is not approved by its name, and may be what `npx` starts.
    "unittest": Program(
        "tests",
        alone=_set("-v -q -f -c -b --verbose --quiet --failfast --catch --buffer --locals"),
        valued=_set("-k -p -t --pattern --top-level-directory --durations"),
        place=_set("-s --start-directory"),
    ),
    "node": _NODE,
    "nodejs": _NODE,
    "tsx": _NODE,
    "ts-node": _NODE,
    "bun": _FILE,
    "deno": Program("command", commands=_set("test check lint fmt"), closed=False),
    "perl": Program("file", alone=_set("-w -t -T"), valued=_set("-I")),
    "ruby": Program("file", alone=_set("-w"), valued=_set("-I")),
    "php": _FILE,
    "lua": _FILE,
    **dict.fromkeys(("sh", "bash", "dash", "ksh", "zsh"), _SHELL),
}
APPROVABLE = ("python", "python3", "pytest", "go", "npm", "npx", "cargo")
"""What a check may start: an interpreter or a runner of tests, by its bare name."""

TEXT_MODULES = _set(
    "IPython asyncio bdb cProfile code codeop idlelib pdb profile runpy timeit trace"
)
"""Modules of Python that run what is written after them, or any module that is named there."""


@dataclass(frozen=True)
class Call:
    """The words of a command as its program reads them."""

    program: str
    """What runs in the end: the program, the module of `-m`, or what `npx` starts."""
    by_module: bool = False
    command: str = ""
    """The command of a program that has such, as `test` of `cargo`."""
    options: tuple[tuple[str, str], ...] = ()
    places: tuple[str, ...] = ()
    """What the options leave: the file that is run, or where tests are."""


def has_program_text(words: Sequence[str]) -> bool:
    """Whether a command runs what is written in itself, or what comes from standard input."""
    try:
        read(words)
    except ContractError:
        return True
    return False


def read(words: Sequence[str]) -> Call:
    """The call that the words are; raises :class:`ContractError` for one with program text."""
    name, rest = words[0], list(words[1:])
    row = TABLE.get(name)
    if row is None:
        return Call(name, places=tuple(rest))
    if row.runs == "command":
        return _command(name, row, rest)
    if row.runs == "tests":
        return _tests(name, row, rest)
    options, left, ended = _options(name, row, rest)
    if row.module and options and options[-1][0] == row.module and not ended:
        return _module(options[-1][1], left)
    if not left or not left[0].strip() or left[0] == "-":
        raise _refused(name, "standard input")
    if row.runs == "program":
        # `node@20` is a program, and `@scope/tool@1` another one.
        inner = left[0][:1] + left[0][1:].partition("@")[0]
        return read([inner, *left[1:]])
    return Call(name, options=tuple(options), places=(left[0],))


def _module(name: str, rest: list[str]) -> Call:
    if not name.strip():
        raise _refused("python", "no module")
    # `-m coverage run -m timeit` comes to it as well.
    later = [
        word[2:] or after for word, after in zip(rest, [*rest[1:], ""]) if word.startswith("-m")
    ]
    for module in (name, *later):
        if module.split(".")[0] in TEXT_MODULES:
            raise _refused("python", f"-m {module}")
    if name not in ("pytest", "unittest"):
        return Call(name, by_module=True, places=tuple(rest))
    found = _tests(name, TABLE[name], rest)
    return Call(name, True, options=found.options, places=found.places)


def _tests(name: str, row: Program, rest: list[str]) -> Call:
    """Options and places of tests, in any order."""
    options: list[tuple[str, str]] = []
    places: list[str] = []
    while rest:
        found, rest, ended = _options(name, row, rest, guess=True)
        options += found
        places += rest if ended else rest[:1]
        rest = [] if ended else rest[1:]
    if name == "unittest" and places[:1] == ["discover"]:
        places = places[1:]
    places += [value for option, value in options if option in row.place]
    return Call(name, options=tuple(options), places=tuple(places))


def _command(name: str, row: Program, rest: list[str]) -> Call:
    """Options before and after the command, up to what is the command's own."""
    options: list[tuple[str, str]] = []
    others: list[str] = []
    while rest:
        found, rest, ended = _options(name, row, rest)
        options += found
        if ended:
            break
        others += rest[:1]
        rest = rest[1:]
    others = [word for word in others if not (name == "cargo" and word.startswith("+"))]
    command = others[0] if others else ""
    if command in row.text or (row.commands and command not in row.commands):
        raise _refused(name, command or "no command")
    return Call(name, command=command, options=tuple(options), places=tuple(others[1:]))


def _options(
    name: str, row: Program, words: list[str], guess: bool = False
) -> tuple[list[tuple[str, str]], list[str], bool]:
    """The options at the front, what is left, and whether `--` stood between them. With ``guess``
    an option that the row does not name is taken to have the word after it for its value."""
    found: list[tuple[str, str]] = []
    valued = row.valued | row.place | ({row.module} if row.module else set())
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--" or (row.words and word in ("-args", "--args")):
            return found, words[at:], True
        if word == "-" or not word.startswith("-"):
            return found, words[at - 1 :], False
        if word.startswith("--") or row.words:
            option, joined, value = word.partition("=")
            option = "-" + option.lstrip("-") if row.words else option
            pairs = [(option, value, bool(joined))]
        else:
            pairs = _letters(row, valued, word[1:])
        for option, value, joined in pairs:
            known = option in valued or option in row.alone
            if option in row.text or (row.closed and not known):
                raise _refused(name, option)
            takes = option in valued or (guess and not known)
            if takes and not joined:
                value = words[at] if at < len(words) else ""
                at += 1
            found.append((option, value))
            if option == row.module:
                return found, words[at:], False
    return found, [], False


def _letters(row: Program, valued: frozenset[str], letters: str) -> list[tuple[str, str, bool]]:
    """The options of a group such as `-Bc`, up to one that takes what follows it."""
    found: list[tuple[str, str, bool]] = []
    for n, letter in enumerate(letters):
        option, value = "-" + letter, letters[n + 1 :]
        if option in valued or (option not in row.alone and not row.closed):
            return [*found, (option, value, bool(value))]
        found.append((option, "", True))
    return found


def _refused(name: str, what: str) -> ContractError:
    return ContractError(
        "an approved command has no program text in it, and runs a file, a module or tests of the "
        f"workspace: {name} is not started with {what}"
    )
