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

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/experiments"))

from planner_worker import (  # noqa: E402
    ApprovedCommands, ContractError, GitWorkspace, ModelRoute, Price, Receipt, TurnResult, Usage,
    WorkspaceError, run_planner_worker_once,
)  # fmt: skip
from planner_worker.fake import FakeRuntime, completed, plan, step  # noqa: E402
from planner_worker.validation import approved, is_independent  # noqa: E402

TOKEN = "ghp_" + "a1B2c3D4e5" * 4
ROUTES = {"planner": ModelRoute("big", "high"), "cheap_worker": ModelRoute("small", "low")}


class Approval(unittest.TestCase):
    def test_program_texts_and_ways_out_are_not_approved(self) -> None:
        for command in [
            "python3 -c 1", "python3 -Bc 1", "python3 -B -c1", "go -C/etc test", "pytest --x=/tmp/p=1",
            "pytest ../x", "pytest ~/x", "cargo test --manifest-path=/x/Cargo.toml",
        ]:  # fmt: skip
            with self.subTest(command), self.assertRaises(ContractError):
                approved([command])
        self.assertEqual(len(approved(["python3 -B check.py -cx", "pytest -k=a=b tests", "cargo test --lib"])), 3)

    def test_a_check_that_begins_in_the_workers_files_is_not_independent(self) -> None:
        for command in ["python3 tests/test_x.py", "python3 -m unittest tests.test_x.Case", "pytest tests", "pytest ."]:
            self.assertFalse(is_independent(command, {"tests/test_x.py"}), command)
        for command in ["python3 check.py", "pytest other", "python3 -m unittest tests.test_y"]:
            self.assertTrue(is_independent(command, {"tests/test_x.py"}), command)


class Planner(unittest.TestCase):
    def setUp(self) -> None:
        if shutil.which("git") is None:
            self.skipTest("git is not on PATH")
        self.folder = Path(tempfile.mkdtemp(prefix="loopx-planner-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.put("check.py", "import sys; sys.exit(open('answer.txt').read() != '42')")
        self.put("slow.py", "import time; time.sleep(60)")
        self.put("writes.py", "open('answer.txt', 'a').write('x')")
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        for words in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "x"]):
            subprocess.run(["git", *words], cwd=self.folder, check=True)

    def put(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text, encoding="utf-8")

    def once(
        self,
        worker: FakeRuntime | None = None,
        *steps: dict[str, Any],
        planner: FakeRuntime | None = None,
        approved: tuple[str, ...] = ("python3 check.py", "python3 slow.py", "python3 writes.py"),
        timeout: float = 30.0,
        **more: Any,
    ) -> Receipt:
        answer = json.dumps(plan(steps or [step()]))
        return run_planner_worker_once(
            objective="x",
            task_instruction="y",
            cwd=self.folder,
            planner=planner or FakeRuntime(completed(answer)),
            worker=worker or FakeRuntime(),
            validation_runner=ApprovedCommands(approved, timeout_seconds=timeout),
            workspace_observer=GitWorkspace(self.folder),
            approved_validation_commands=approved,
            model_routes=more.pop("routes", ROUTES),
            **more,
        )

    def good(self, **more: Any) -> FakeRuntime:
        return FakeRuntime(completed(), writes={"answer.txt": "42"}, **more)

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

    def test_a_check_that_the_worker_wrote_itself_is_told(self) -> None:
        own = step(target_files=["own.py"], validation_commands=["python3 own.py"])
        receipt = self.once(
            FakeRuntime(completed(), writes={"own.py": "pass"}), own, approved=("python3 own.py",)
        )
        self.assertEqual(receipt.reason, "step_checked_by_its_own_files")
        self.assertIs(receipt.validation[0].independent, False)

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


class Smokes(unittest.TestCase):
    def test_the_published_smokes_hold(self) -> None:
        for name in (
            "examples/experiments/planner_worker/contract-smoke.py",
            "examples/experiments/planner_worker/runtime-smoke.py",
            "examples/external-scheduler-worker-smoke.py",
        ):
            said = subprocess.run(
                [sys.executable, str(ROOT / name)], capture_output=True, text=True,
                env={k: v for k, v in os.environ.items() if not k.startswith("LOOPX_")},
            )  # fmt: skip
            self.assertEqual(said.returncode, 0, f"{name}\n{said.stdout}{said.stderr}")
            self.assertNotIn("FAILED", said.stdout)
            self.assertIn("checks hold", said.stdout.splitlines()[-1])
