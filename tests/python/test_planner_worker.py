"""The planner-worker: what is refused before anything runs, that one step is run at most, what a
receipt says and what it does not, and when a cost is known. And the smokes, as they are published."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path
from typing import Any

from planner_world import ROOT, ROUTES, TOKEN, Workspace
from planner_worker import (
    ApprovedCommands, ContractError, ModelRoute, Price, Receipt, TurnResult, Usage, WorkspaceError,
)  # fmt: skip
from planner_worker.fake import FakeRuntime, completed, plan, step
from planner_worker.independence import is_independent
from planner_worker.programs import has_program_text
from planner_worker.validation import Validation, approved


# A command that brings its program, or names one in words of its own; by program.
TEXTS = {
    "python3": "-W ignore -Bc pass|-X importtime -Ic pass|-|-- -||-i a.py|-mtimeit x|-Bm timeit x|-Wignore -"
    "|-m coverage run -m timeit x|--check-hash-based-pycs always -c x|-c 1|-Bc 1|-B -c1",
    "npm": "exec -- x|x -- x|exe -- x|--script-shell ./x test|test --script-shell ./x"
    "|test --node-options=--import=data:x|-- exec x",
    "npx": "--call x|-c x|--call=x|-yc x|node -e x|node@20 -pe x|-- sh -c x|-p node node --eval=x",
    "cargo": "--config build.rustc-wrapper=x test|test --config=a=b|eval x",
    "go": "test -exec x|test --exec=x ./...|test -run X -toolexec x",
    "node": "-e x|-p x|--eval=x|-pe x|-|",
    "perl": "-ne x|-e x|-Mx -e1", "ruby": "-e x|", "sh": "-c x|-ec x|-s", "bash": "-lc x",
}  # fmt: skip
PLAIN = [
    "python3 -B check.py -cx", "python3 -W ignore check.py -c x", "python3 -Werror -X dev check.py",
    "python3 -- check.py", "python3 -m unittest", "python3 -m pytest -q tests", "pytest -k=a=b tests",
    "pytest -c pytest.ini", "cargo test --lib", "cargo +nightly test -- --nocapture", "go test ./...",
    "go test -run X -race ./a", "npm test", "npm run lint -- --fix", "npx jest tests",
    "npx --no-install tsc -p .", "npx node check.js -e", "npx @scope/tool@1 x",
]  # fmt: skip
# A check, and a file by which it would be no more than the word of whoever wrote it.
OWN = [
    ("python3 tests/test_x.py", "tests/test_x.py"), ("pytest tests", "tests/test_x.py"),
    ("python3 -m unittest tests.test_x.Case", "tests/test_x.py"), ("pytest .", "tests/test_x.py"),
    ("pytest", "tests/test_a.py"), ("pytest -k x", "tests/test_a.py"), ("python3 -m pytest", "a_test.py"),
    ("python3 -m unittest", "tests/test_a.py"), ("python3 -m unittest -v", "test_a.py"),
    ("python3 -m unittest discover -s tests", "tests/test_a.py"), ("python3 ./check.py", "check.py"),
    ("python3 -m unittest discover -p check*.py", "check_a.py"), ("pytest other", "conftest.py"),
    ("pytest other", "pyproject.toml"), ("python3 check.py", "json.py"), ("python3 .", "__main__.py"),
    ("python3 -m a.b", "a/__init__.py"), ("python3 -m a.b", "a/b/__main__.py"), ("cargo test", "src/lib.rs"),
    ("cargo test --test a", "tests/a.rs"), ("cargo clippy", "build.rs"), ("go test ./...", "x_test.go"),
    ("go test ./a/...", "a/b/x_test.go"), ("npm test", "package.json"), ("npm test", "a.test.js"),
    ("npx jest", "src/__tests__/a.js"), ("npx vitest", "vitest.config.ts"),
]  # fmt: skip
OTHERS = [
    ("python3 check.py", "tests/test_x.py"), ("pytest other", "tests/test_x.py"), ("pytest", "src/a.py"),
    ("python3 -m unittest tests.test_y", "tests/test_x.py"), ("python3 -m unittest", "answer.txt"),
    ("python3 -m unittest discover -s other", "tests/test_x.py"), ("cargo test --test it", "src/lib.rs"),
    ("cargo clippy", "src/lib.rs"), ("go test ./...", "a.go"), ("npm test", "src/a.js"),
]  # fmt: skip


class Approval(unittest.TestCase):
    def test_program_texts_and_ways_out_are_not_approved(self) -> None:
        for program, cases in TEXTS.items():
            for words in cases.split("|"):
                with self.subTest(f"{program} {words}"):
                    self.assertTrue(has_program_text([program, *words.split()]))
                    with self.assertRaises(ContractError):
                        approved([f"{program} {words}"])
        for command in [
            "go -C/etc test", "pytest --x=/tmp/p=1", "pytest ../x", "pytest ~/x",
            "cargo test --manifest-path=/x/Cargo.toml",
        ]:  # fmt: skip
            with self.subTest(command), self.assertRaises(ContractError):
                approved([command])
        self.assertEqual(approved(PLAIN), frozenset(PLAIN))

    def test_a_check_that_begins_in_the_workers_files_is_not_independent(self) -> None:
        for expected, cases in ((False, OWN), (True, OTHERS)):
            for command, path in cases:
                with self.subTest(command, path=path):
                    self.assertIs(is_independent(command, {path}), expected)

    def test_what_a_script_of_npm_names_is_what_runs(self) -> None:
        with tempfile.TemporaryDirectory() as made:
            Path(made, "package.json").write_text('{"scripts": {"test": "node check.cjs && x"}}')
            self.assertFalse(is_independent("npm test", {"check.cjs"}, Path(made)))
            self.assertTrue(is_independent("npm test", {"other.cjs"}, Path(made)))


class Planner(Workspace):
    def test_at_most_one_step_is_run(self) -> None:
        worker = self.good()
        receipt = self.once(worker, step(), step("two", 2), step("three", 3))
        self.assertEqual((receipt.status, receipt.step_id, receipt.worker_calls), ("completed", "one", 1))
        self.assertEqual([r.role for r in worker.requests], ["worker"])
        self.assertNotIn("two", worker.requests[0].prompt)

    def test_a_check_that_is_not_approved_runs_nothing(self) -> None:
        worker = FakeRuntime()
        receipt = self.once(worker, step(validation_commands=["python3 check.py", "python3 writes.py x"]))
        self.assertEqual((receipt.reason, receipt.worker_calls), ("validation_not_approved", 0))
        self.assertEqual(worker.requests, [])
        with self.assertRaises(ContractError):
            ApprovedCommands(["python3 check.py"])("python3 other.py", self.folder)
        for command in ("sh check.sh", "python3 -c pass", "python3 /x.py", "python3 a.py; rm b"):
            with self.assertRaises(ContractError):
                self.once(approved=(command,))

    def test_a_worker_that_fails_or_takes_too_long(self) -> None:
        for result, reason in [
            (RuntimeError(TOKEN), "worker_failed"),
            (TurnResult("failed", TOKEN), "worker_failed"),
            (TimeoutError(), "worker_timeout"),
            (TurnResult("timeout"), "worker_timeout"),
        ]:
            receipt = self.once(FakeRuntime(result))
            self.assertEqual((receipt.status, receipt.reason, receipt.worker_calls), ("failed", reason, 1))
            self.assertEqual(list(receipt.validation), [])
            self.assertIs(receipt.usage.complete, False)
            self.assertEqual(receipt.cost.reason, "usage_incomplete")

    def test_a_check_is_ended_at_its_time_and_what_it_writes_is_seen(self) -> None:
        receipt = self.once(self.good(), step(validation_commands=["python3 slow.py"]), timeout=0.3)
        self.assertEqual((receipt.reason, receipt.validation[0].ending), ("validation_failed", "timeout"))
        (self.folder / "answer.txt").unlink()
        receipt = self.once(self.good(), step(validation_commands=["python3 writes.py"]))
        self.assertEqual(receipt.reason, "validation_outside_contract")

    def test_what_is_outside_the_step_is_seen(self) -> None:
        def link(request: Any) -> None:
            (request.cwd / "answer.txt").symlink_to("/etc/hostname")

        def hook(request: Any) -> None:
            (request.cwd / ".git/hooks/pre-commit").write_text("x")

        def folder(request: Any) -> None:
            (request.cwd / "empty").mkdir()

        for also, part in [
            (link, "answer.txt:unsupported_file_type:link"),
            (hook, ".git/hooks/pre-commit:repository_control_file"),
            (folder, "empty:not_a_target"),
        ]:
            receipt = self.once(FakeRuntime(completed(), also=also))
            self.assertEqual(receipt.reason, "worker_outside_contract")
            self.assertIn(part, receipt.write_scope.violations)
            subprocess.run(["git", "clean", "-fdq"], cwd=self.folder, check=True)
            shutil.rmtree(self.folder / "empty", ignore_errors=True)
            (self.folder / ".git/hooks/pre-commit").unlink(missing_ok=True)

    def test_a_planner_that_writes_and_a_workspace_that_is_not_clean(self) -> None:
        planner = FakeRuntime(completed(json.dumps(plan([step()]))), writes={"x.txt": "x"})
        self.assertEqual(self.once(planner=planner).reason, "planner_changed_workspace")
        with self.assertRaises(WorkspaceError):
            self.once()

    def test_a_planner_that_fails_is_looked_at_as_well(self) -> None:
        for result in (RuntimeError(TOKEN), TurnResult("timeout"), completed("no plan")):
            receipt = self.once(planner=FakeRuntime(result, writes={"x.txt": "x"}))
            self.assertEqual((receipt.status, receipt.reason), ("failed", "planner_changed_workspace"))
            self.assertEqual(receipt.write_scope.violations, ("x.txt:by_planner",))
            self.assertEqual((receipt.plan_id, receipt.worker_calls), (None, 0))
            self.assertNotIn(TOKEN, json.dumps(receipt.to_dict()))
            (self.folder / "x.txt").unlink()
            kind = RuntimeError if isinstance(result, RuntimeError) else ContractError
            with self.assertRaises(kind):
                self.once(planner=FakeRuntime(result))

    def test_a_check_that_the_worker_wrote_itself_is_told(self) -> None:
        own = step(target_files=["own.py"], validation_commands=["python3 own.py"])
        receipt = self.once(
            FakeRuntime(completed(), writes={"own.py": "pass"}), own, approved=("python3 own.py",)
        )
        self.assertEqual(receipt.reason, "step_checked_by_its_own_files")
        self.assertIs(receipt.validation[0].independent, False)

    def test_a_check_that_the_worker_rewrote_is_told(self) -> None:
        budget = {"max_files": 5, "max_bytes_per_file": 1000, "allow_extra_files": True}
        for writes in ({"answer.txt": "41", "check.py": "pass"}, {"answer.txt": "42", "json.py": ""}):
            receipt = self.once(FakeRuntime(completed(), writes=writes), step(context_budget=budget))
            self.assertEqual((receipt.status, receipt.reason), ("completed", "step_checked_by_its_own_files"))
            self.assertIs(receipt.validation[0].independent, False)
            self.again()
        whole = "python3 -m unittest"
        test = "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): pass\n"
        receipt = self.once(
            FakeRuntime(completed(), writes={"test_own.py": test}),
            step(target_files=["test_own.py"], validation_commands=[whole]), approved=(whole,),
        )  # fmt: skip
        self.assertEqual(receipt.reason, "step_checked_by_its_own_files")

    def test_routes_are_explicit(self) -> None:
        with self.assertRaises(ContractError):
            self.once(routes={"cheap_worker": ModelRoute("m", "low")})
        receipt = self.once(routes={"planner": ModelRoute("m", "low")})
        self.assertEqual((receipt.reason, receipt.worker_calls), ("route_missing", 0))

    def test_a_cost_is_complete_with_prices_and_counts_alone(self) -> None:
        prices = {m: Price(Decimal(10), Decimal(20), "USD") for m in ("big", "small")}
        for tokens, pricing, amount, reason in [
            ((100, 50), prices, Decimal("0.004"), None),
            ((100, 50), None, None, "pricing_missing"),
            ((100, 50), {"big": prices["big"]}, None, "pricing_missing"),
            (None, prices, None, "usage_incomplete"),
        ]:
            worker = FakeRuntime(completed(tokens=tokens), writes={"answer.txt": "42"})
            cost = self.once(worker, pricing=pricing).cost
            self.assertEqual((cost.complete, cost.amount, cost.reason), (amount is not None, amount, reason))
            (self.folder / "answer.txt").unlink()
        self.assertIs(Usage(1, None).is_complete, False)

    def test_prices_are_looked_at_before_anything_runs(self) -> None:
        planner = FakeRuntime()
        one = Decimal(1)
        for price in (
            Price(1.0, 2.0, "USD"), Price(one, Decimal(-1), "USD"), Price(Decimal("NaN"), one, "USD"),  # type: ignore[arg-type]
            Price(Decimal("Infinity"), one, "USD"), Price(Decimal("1E+999999"), one, "USD"),
            Price(one, one, " "), Price(one, one, None), Price(1, one, "USD"), None, 1,  # type: ignore[arg-type]
        ):  # fmt: skip
            with self.subTest(price=price), self.assertRaises(ContractError):
                self.once(planner=planner, pricing={"small": price})
        for more in (
            {"pricing": [1]}, {"routes": None}, {"routes": {"planner": ModelRoute(1, "low")}},  # type: ignore[arg-type]
            {"completed_step_ids": "one"}, {"completed_step_ids": [1]},
        ):  # fmt: skip
            with self.subTest(more=more), self.assertRaises(ContractError):
                self.once(planner=planner, **more)
        self.assertEqual(planner.requests, [])

    def test_an_answer_that_is_no_result_is_a_failed_receipt(self) -> None:
        prices = {m: Price(Decimal(10), Decimal(20), "USD") for m in ("big", "small")}
        text = json.dumps(plan([step()]))
        for number, result in enumerate((
            None, "completed", 1, TurnResult("done", text), TurnResult(["completed"], text),  # type: ignore[arg-type]
            TurnResult("completed", None), TurnResult("completed", text, (1, 2)),  # type: ignore[arg-type]
            *(TurnResult("completed", text, Usage(*counts)) for counts in (
                ("a", "b"), (-500, -5), (1.0, 1), (True, 1), (1, 10**5000), (Decimal(1), 1), (None, -1),
            )),
        )):  # fmt: skip
            with self.subTest(number=number):
                receipt = self.once(FakeRuntime(result, writes={"answer.txt": "42"}), pricing=prices)  # type: ignore[arg-type]
                self.assertEqual((receipt.status, receipt.reason), ("failed", "worker_result_malformed"))
                self.assertEqual((receipt.cost.reason, receipt.usage.complete), ("usage_incomplete", False))
                self.assertEqual(list(receipt.write_scope.changed_files), ["answer.txt"])
                json.dumps(receipt.to_dict())
                self.again()
                worker = FakeRuntime()
                receipt = self.once(worker, planner=FakeRuntime(result), pricing=prices)  # type: ignore[arg-type]
                self.assertEqual((receipt.status, receipt.reason), ("failed", "planner_result_malformed"))
                self.assertEqual((receipt.cost.reason, worker.requests), ("usage_incomplete", []))

    def test_a_runner_of_checks_that_answers_nothing_has_run_none(self) -> None:
        for found in (None, "passed", Validation("x", 1, 0, "exited"), Validation("x", True, 0, "done")):  # type: ignore[arg-type]
            receipt = self.once(self.good(), runner=lambda command, folder, found=found: found)
            self.assertEqual((receipt.reason, receipt.validation[0].ending), ("validation_failed", "spawn_failed"))
            self.again()

    def test_a_receipt_has_no_secret_and_no_path(self) -> None:
        for worker in (FakeRuntime(RuntimeError(TOKEN)), FakeRuntime(completed(TOKEN), writes={"answer.txt": TOKEN})):
            made = step(instruction=f"{TOKEN} in {self.folder}", research_summary=TOKEN)
            routes = {**ROUTES, "cheap_worker": ModelRoute(TOKEN, "low")}
            text = json.dumps(self.once(worker, made, routes=routes).to_dict())
            self.assertNotIn(TOKEN, text)
            self.assertNotIn(str(self.folder), text)

    def test_a_receipt_is_of_its_types(self) -> None:
        receipt = self.once(self.good())
        with self.assertRaises(ContractError):
            Receipt("completed", "no such reason", "p", receipt.usage, receipt.cost)  # type: ignore[arg-type]
        with self.assertRaises(ContractError):
            Receipt("completed", "step_validated", "p", receipt.usage, receipt.cost, worker_calls=2)


SMOKES = (
    "examples/experiments/planner_worker/contract-smoke.py",
    "examples/experiments/planner_worker/runtime-smoke.py",
    "examples/external-scheduler-worker-smoke.py",
)


class Smokes(unittest.TestCase):
    def said(self, *words: str, without: str = "LOOPX_") -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("LOOPX_", without))}
        return subprocess.run([sys.executable, *words], capture_output=True, text=True, env=kept)

    def test_the_published_smokes_hold(self) -> None:
        for name in SMOKES:
            said = self.said(str(ROOT / name))
            self.assertEqual(said.returncode, 0, f"{name}\n{said.stdout}{said.stderr}")
            self.assertNotIn("FAILED", said.stdout)
            self.assertIn("checks hold", said.stdout.splitlines()[-1])

    def test_without_the_wheel_they_say_how_to_get_it(self) -> None:
        for name in SMOKES:
            # `-S` leaves out where the wheel is installed.
            said = self.said("-S", str(ROOT / name), without="PYTHON")
            self.assertEqual((said.returncode, said.stdout), (2, ""), f"{name}\n{said.stderr}")
            self.assertIn("the loopx wheel is missing", said.stderr)
            self.assertIn("cargo xtask python --pack", said.stderr)
            self.assertNotIn("Traceback", said.stderr)
