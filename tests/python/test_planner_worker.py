"""The planner-worker: what is refused before anything runs, that one step is run at most, what a
receipt says and what it does not, and when a cost is known. And the smokes, as they are published."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
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
from planner_worker.shelter import FOLDERS, shelter  # noqa: E402
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


class Workspace(unittest.TestCase):
    """A worktree with scripts that may check, and a call of the planner-worker on it."""

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


LIBRARY = """
pub fn answer() -> &'static str { include_str!("../answer.txt") }
#[test]
fn it_is_right() { assert_eq!(answer(), "42"); }
"""
GO = """package x
import ("os"; "testing")
func TestAnswer(t *testing.T) {
    text, _ := os.ReadFile("answer.txt")
    if string(text) != "42" { t.Fatal(string(text)) }
}
"""
# What runs checks, each with the files that it needs: all of them keep caches.
RUNNERS = {
    "python3 -m unittest tests.test_answer": {},
    "pytest tests/test_answer.py": {},
    "cargo test --offline --quiet": {
        "Cargo.toml": '[package]\nname = "x"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n',
        "Cargo.lock": '# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 3\n\n[[package]]\nname = "x"\nversion = "0.1.0"\n',
        "src/lib.rs": LIBRARY,
    },
    "go test ./...": {"go.mod": "module x\n\ngo 1.18\n", "x_test.go": GO},
    "npm test": {"package.json": '{"scripts": {"test": "node check.cjs"}}',
                 "check.cjs": "process.exit(require('fs').readFileSync('answer.txt', 'utf8') === '42' ? 0 : 1)"},
}  # fmt: skip


class Checks(Workspace):
    """What a check leaves behind: nothing in the workspace, nothing beside it, nothing that runs."""

    def setUp(self) -> None:
        super().setUp()
        self.beside = Path(tempfile.mkdtemp(prefix="loopx-beside-")).resolve()
        self.addCleanup(shutil.rmtree, self.beside, ignore_errors=True)

    def commit(self, files: dict[str, str]) -> None:
        for path, text in files.items():
            (self.folder / path).parent.mkdir(exist_ok=True)
            self.put(path, text)
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        for words in (["add", "."], [*who, "commit", "-q", "--allow-empty", "-m", "x"]):
            subprocess.run(["git", *words], cwd=self.folder, check=True)

    def checked(self, script: str, timeout: float = 30.0) -> Receipt:
        """What comes of a check that is this script, and passes unless it says otherwise."""
        self.commit({"own_check.py": script})
        command = "python3 own_check.py"
        receipt = self.once(self.good(), step(validation_commands=[command]), approved=(command,), timeout=timeout)
        (self.folder / "answer.txt").unlink()
        return receipt

    def pid(self) -> int:
        """The process that the script has left, once it has said its number."""
        file = self.beside / "pid"
        for _ in range(500):
            if file.is_file() and (text := file.read_text()).endswith("\n"):
                return int(text)
            time.sleep(0.01)
        raise AssertionError("the check did not say what it left")

    def gone(self, pid: int, seconds: float = 0.0) -> bool:
        limit = time.monotonic() + seconds
        while True:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                return True
            if state in "ZX":
                return True
            if time.monotonic() >= limit:
                return False
            time.sleep(0.01)

    def leaves(self, environment: str, then: str = "") -> str:
        """A script that leaves a process in a session of its own."""
        sleep = f"import os, time; open({str(self.beside / 'new')!r}, 'w').write(str(os.getpid()) + chr(10)); os.rename({str(self.beside / 'new')!r}, {str(self.beside / 'pid')!r}); time.sleep(60)"
        return (
            "import os, subprocess, sys, time\n"
            f"subprocess.Popen([sys.executable, '-c', {sleep!r}], start_new_session=True, env={environment},"
            " stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
            f"while not os.path.exists({str(self.beside / 'pid')!r}): time.sleep(0.01)\n{then}\n"
        )

    def test_caches_of_runners_are_no_change(self) -> None:
        test = "import unittest\nfrom tests.read import answer\nclass T(unittest.TestCase):\n    def test_it(self): self.assertEqual(answer(), '42')\n"
        python = {"tests/__init__.py": "", "tests/read.py": "answer = lambda: open('answer.txt').read()\n", "tests/test_answer.py": test}
        self.commit({**python, **{path: text for files in RUNNERS.values() for path, text in files.items()}})
        for command in RUNNERS:
            program = command.split()[0]
            with self.subTest(command):
                if shutil.which(program) is None:
                    print(f"SKIPPED: {program} is not on PATH: its caches are not looked for")
                    continue
                receipt = self.once(self.good(), step(validation_commands=[command]), approved=(command,), timeout=300)
                self.assertEqual((receipt.status, receipt.reason), ("completed", "step_validated"), receipt)
                self.assertEqual(list(receipt.write_scope.changed_files), ["answer.txt"])
                (self.folder / "answer.txt").unlink()

    def test_what_programs_keep_goes_to_a_folder_that_is_gone_afterwards(self) -> None:
        names = [*FOLDERS, "COVERAGE_FILE"]
        report = self.beside / "said.json"
        os.environ["SOME_TOKEN"] = TOKEN
        self.addCleanup(os.environ.pop, "SOME_TOKEN")
        receipt = self.checked(
            "import json, os, pathlib\n"
            f"places = {{name: os.environ[name] for name in {names!r}}}\n"
            "for name, place in places.items():\n"
            "    if name != 'COVERAGE_FILE':\n"
            "        made = pathlib.Path(place, 'a', name); made.mkdir(parents=True)\n"
            "        (made / 'file').write_text('x'); (made / 'file').chmod(0o400); made.chmod(0o500)\n"
            f"json.dump({{**places, 'all': dict(os.environ)}}, open({str(report)!r}, 'w'))\n"
        )
        self.assertEqual(receipt.reason, "step_validated")
        said = json.loads(report.read_text())
        seen = said.pop("all")
        for name, place in said.items():
            self.assertFalse(Path(place).is_relative_to(self.folder), name)
            self.assertFalse(Path(place).exists(), f"{name} is left: {place}")
        self.assertFalse(Path(said["HOME"]).parent.exists())
        self.assertEqual((seen["PYTEST_ADDOPTS"], seen["PYTHONDONTWRITEBYTECODE"]), ("-p no:cacheprovider", "1"))
        self.assertNotIn("SOME_TOKEN", seen)

    def test_temporary_files_in_the_workspace_are_not_used(self) -> None:
        usual, tempfile.tempdir = tempfile.tempdir, str(self.folder)
        try:
            with shelter(self.folder) as own:
                self.assertFalse(own.is_relative_to(self.folder))
            self.assertFalse(own.exists())
        finally:
            tempfile.tempdir = usual

    @unittest.skipUnless(sys.platform == "linux", "only Linux lets a process adopt what has left its group")
    def test_what_has_left_the_checks_session_ends_with_it(self) -> None:
        for environment in ("None", "{}"):
            receipt = self.checked(self.leaves(environment))
            self.assertEqual(receipt.reason, "step_validated")
            self.assertTrue(self.gone(self.pid()), environment)
            (self.beside / "pid").unlink()
        receipt = self.checked(self.leaves("None", "time.sleep(60)"), timeout=3)
        self.assertEqual(receipt.validation[0].ending, "timeout")
        self.assertTrue(self.gone(self.pid()))

    @unittest.skipUnless(sys.platform == "linux", "only Linux shows the environment of processes")
    def test_a_check_that_kills_its_guard_has_failed_and_ends(self) -> None:
        receipt = self.checked(self.leaves("None", "os.kill(os.getppid(), 9); time.sleep(60)"))
        self.assertEqual((receipt.reason, receipt.validation[0].ending), ("validation_failed", "signal"))
        self.assertTrue(self.gone(self.pid()))

    @unittest.skipUnless(sys.platform == "linux", "only Linux lets a process adopt what has left its group")
    def test_a_check_ends_when_its_caller_is_killed(self) -> None:
        self.commit({"own_check.py": self.leaves("None", "time.sleep(60)")})
        script = (
            f"import sys; sys.path.insert(0, {str(ROOT / 'examples/experiments')!r})\n"
            "from pathlib import Path; from planner_worker import ApprovedCommands\n"
            "ApprovedCommands(['python3 own_check.py'])('python3 own_check.py', Path('.'))\n"
        )
        with subprocess.Popen(
            [sys.executable, "-B", "-c", script], cwd=self.folder,
            env={**os.environ, "TMPDIR": str(self.beside)},
        ) as caller:
            pid = self.pid()
            self.assertFalse(self.gone(pid))
            self.assertEqual(len(list(self.beside.glob("loopx-check-*"))), 1)
            caller.kill()
        self.assertTrue(self.gone(pid, seconds=20))
        limit = time.monotonic() + 20
        while (left := list(self.beside.glob("loopx-check-*"))) and time.monotonic() < limit:
            time.sleep(0.01)
        self.assertEqual(left, [], "what the check kept for itself is left")

    def test_other_children_of_the_caller_go_on(self) -> None:
        with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as other:
            self.assertEqual(self.checked("pass").reason, "step_validated")
            self.assertIsNone(other.poll())
            other.kill()


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
