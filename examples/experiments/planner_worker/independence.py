"""Whether a check is more than the worker's word: whether it runs something that the worker did not
write. Judged by paths alone, and in doubt it is not."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from posixpath import normpath

from loopx.worker import command_words

from .contract import ContractError
from .programs import Call, read

_TEST_FOLDERS = {"test", "tests", "testing", "__tests__", "spec", "specs"}
_TEST_FILE = re.compile(
    r"(test|spec)s?([-_.].*)?|test.*\.py|.*[-_.](test|spec)s?(\.[^.]*)?|conftest\.py"
)
_PYTHON = ("conftest.py", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg",
           "setup.py", "noxfile.py", ".coveragerc")  # fmt: skip
_NODE = ("package.json", ".npmrc", "*.config.?js", "*.config.js", "*.config.ts", "*.config.?ts",
         "*.config.json", ".*rc", ".*rc.*", "tsconfig*.json")  # fmt: skip
STEERS = {
    "cargo": ("cargo.toml", "cargo.lock", "build.rs", "rust-toolchain*", "config.toml", "nextest.toml"),
    "go": ("go.mod", "go.work", "go.sum"),
    "npm": _NODE,
    "npx": _NODE,
}
"""Files that say what a runner runs; a module of Python has those of pytest."""
PYTHONS = ("python", "python3")
RUNNERS = ("pytest", "cargo", "go", "npm", "npx")
FOUND_FIRST = (sys.stdlib_module_names | {"sitecustomize", "usercustomize"}) - {"test"}
"""Names of modules that would be another one's when a file of the workspace has them. A folder
named `test` is one of tests, which is looked at as such."""
_RUNS_NOTHING = {"check", "c", "clippy", "build", "b", "fmt", "doc", "vet"}
"""Commands of `cargo` and `go` that run no code of the package."""


def is_independent(command: str, written: Collection[str], folder: Path | None = None) -> bool:
    """Whether a check begins in nothing that the worker wrote or was sent to: no word of it names
    such a file, as a path, as a folder that it is in, or as a module; and where it runs whatever
    tests there are, none of those, and nothing that says which they are, is the worker's.

    ``folder`` is where scripts of `npm` are looked up.
    """
    try:
        words = command_words(command.casefold())
        call = read(command_words(command))
    except (ValueError, ContractError):
        return False
    program = words[0]
    if program in ("npm", "npx"):
        words = [*words, *_scripts(folder)]
    named = {name for word in words[1:] for name in _names(word)}
    if program in PYTHONS and not call.by_module and normpath(call.places[0]) == ".":
        named.add(".")
    paths = [PurePosixPath(normpath(path.casefold())) for path in written]
    return not any(
        _is_named(path, named) or _shadows(path, program, call) or _is_run(path, program, call)
        for path in paths
    )


def _names(word: str) -> Iterator[str]:
    """The paths that a word may be: as a whole, after `=`, and after a short option."""
    joined = word[2:] if word[:1] == "-" and word[1:2] != "-" else ""
    for part in (word, word.rpartition("=")[2], joined):
        part = part.split("::")[0].removesuffix("...")
        # The folder itself is no more than no place at all: what lies there is looked at by kind.
        if part and (path := normpath(part)) != ".":
            yield path


def _is_named(path: PurePosixPath, named: Collection[str]) -> bool:
    if str(path) in named or any(str(folder) in named for folder in path.parents):
        return True
    module = path.with_suffix("") if path.suffix == ".py" else path
    if module.name in ("__init__", "__main__"):
        module = module.parent
    dotted = str(module).replace("/", ".")
    return any(word == dotted or word.startswith(f"{dotted}.") for word in named)


def _shadows(path: PurePosixPath, program: str, call: Call) -> bool:
    """Whether a file is found before one of Python's own modules, or at its start."""
    if program not in PYTHONS and program != "pytest":
        return False
    roots = {"", *(str(PurePosixPath(place.casefold()).parent) for place in call.places[:1])}
    for root in roots:
        if path.is_relative_to(root):
            first, *below = path.relative_to(root).parts or ("",)
            name, _, end = first.partition(".")
            is_module = below == ["__init__.py"] or (not below and end.endswith(("py", "pyc", "so")))
            if is_module and name in FOUND_FIRST:
                return True
    return False


def _is_run(path: PurePosixPath, program: str, call: Call) -> bool:
    """Whether a runner comes to a file without being told of it, or is steered by it."""
    if not call.by_module and program not in RUNNERS:
        return False
    if any(fnmatchcase(path.name, steers) for steers in STEERS.get(program, _PYTHON)):
        return True
    if program in ("cargo", "go") and call.command in _RUNS_NOTHING:
        return False
    if program == "go" or call.program in ("pytest", "unittest"):
        if any(normpath(place) not in (".", "...") for place in call.places):
            # No others are looked for, and these are named.
            return False
    options = {option for option, _ in call.options}
    if program == "cargo" and path.suffix == ".rs" and "--test" not in options:
        return True
    if program == "go" and path.suffix == ".go" and call.command == "run":
        return True
    if call.program == "unittest" and path.suffix == ".py" and options & {"-p", "--pattern"}:
        return True
    return is_test(str(path))


def is_test(path: str) -> bool:
    """Whether a file is one of tests by its name or its folder's."""
    *folders, name = path.casefold().split("/")
    return bool(_TEST_FOLDERS & set(folders)) or _TEST_FILE.fullmatch(name) is not None


def _scripts(folder: Path | None) -> list[str]:
    """The words of all scripts of the folder's `package.json`: each may call another one."""
    if folder is None:
        return []
    try:
        scripts = json.loads((folder / "package.json").read_bytes())["scripts"].values()
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return []
    return [
        word
        for text in scripts
        if isinstance(text, str)
        for word in re.split(r"[\s'\"`;&|()<>]+", text.casefold())
        if word
    ]
