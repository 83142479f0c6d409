"""Runs the tests of the wheel: tests/test_*.py and tests/python/test_*.py, or those whose file name
has the first argument in it. Prints every test, every reason of one that was skipped, and totals."""

from __future__ import annotations

import importlib.util
import platform
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def files(only: str) -> list[Path]:
    found = [*HERE.parent.glob("test_*.py"), *HERE.glob("test_*.py")]
    return sorted(path for path in found if only in path.name)


def loaded(path: Path) -> unittest.TestSuite:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return unittest.defaultTestLoader.loadTestsFromModule(module)


def main() -> int:
    sys.path.insert(0, str(HERE))
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    found = files(only)
    result = unittest.TextTestRunner(sys.stdout, verbosity=2).run(
        unittest.TestSuite(loaded(path) for path in found)
    )
    for test, reason in result.skipped:
        print(f"SKIPPED: {test}: {reason}")
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(
        f"Python {platform.python_version()}: {result.testsRun} tests of {len(found)} files,"
        f" {failed} failed, {len(result.skipped)} skipped",
        flush=True,
    )
    return 0 if result.testsRun and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
