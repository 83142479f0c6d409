"""What the installed package is: its methods, its objects, and its exceptions, one class for each
class of the kernel's catalogue."""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import loopx
import loopx._native
import loopx.errors
import loopx.types
from loopx._operations import OPERATIONS
from loopx.turn import Turn
from world import CLASSES, NOW, ROOT, Project, clean


# Names of the stable ABI that begin with an underscore.
STABLE = {"_Py_NoneStruct", "_Py_TrueStruct", "_Py_FalseStruct", "_Py_NotImplementedStruct",
          "_Py_EllipsisObject", "_Py_Dealloc", "_Py_IncRef", "_Py_DecRef"}


class Package(unittest.TestCase):
    def test_the_wheel_is_for_every_version_and_needs_nothing(self) -> None:
        wheel = importlib.metadata.distribution("loopx-kernel")
        self.assertIn("Tag: cp310-abi3-", wheel.read_text("WHEEL") or "")
        self.assertEqual(wheel.requires or [], [])
        self.assertEqual(wheel.version, loopx.version())
        self.assertIn(f'version = "{loopx.version()}"', (ROOT / "Cargo.toml").read_text())
        self.assertTrue(Path(loopx.__file__).with_name("py.typed").is_file())
        names = {str(path) for path in wheel.files or []}
        for name in ["LICENSE-MIT", "LICENSE-APACHE"]:
            self.assertTrue(any(path.endswith(name) for path in names), f"{name}: {names}")
        self.assertFalse([name for name in names if "test" in name or "sbom" in name], names)

    def test_row_131_the_module_offers_its_entry_alone_and_needs_the_c_library_alone(self) -> None:
        readelf = shutil.which("readelf")
        if readelf is None or not sys.platform.startswith("linux"):
            self.skipTest("there is no readelf, or nothing to read with it")
        module = loopx._native.__file__
        said = subprocess.run(
            [readelf, "-W", "--dyn-syms", "--dynamic", module], capture_output=True, text=True, check=True
        ).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.+)\]", said)
        foreign = [name for name in needed if not re.match(r"(libc|libm|libgcc_s|libpthread|libdl|ld-linux)[.-]", name)]
        self.assertEqual((bool(needed), foreign), (True, []))
        rows = [line.split() for line in said.splitlines()]
        rows = [row for row in rows if len(row) >= 8 and row[4] in ("GLOBAL", "WEAK")]
        offered = [row[7] for row in rows if row[6] != "UND"]
        self.assertEqual(offered, ["PyInit__native"])
        asked = {row[7].split("@")[0] for row in rows if row[6] == "UND"}
        private = sorted(name for name in asked if name.startswith("_Py") and name not in STABLE)
        self.assertEqual(private, [], "names that are no part of the stable ABI")

    def test_the_lines_of_its_page_run(self) -> None:
        page = (ROOT / "bindings-python/README.md").read_text()
        (lines, *_) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        folder = tempfile.mkdtemp(prefix="loopx-python-")
        self.addCleanup(shutil.rmtree, folder)
        made = loopx.Kernel.open(folder, home=folder)
        made.goal_create(goal_id="g", objective="x", agents=["ada"])
        made.todo_add(goal_id="g", role="agent", text="[P1] First")
        said = subprocess.run(
            [sys.executable, "-c", lines], cwd=folder, env=clean(HOME=folder), capture_output=True, text=True
        )
        self.assertEqual((said.returncode, said.stdout), (0, "[P1] First\n"), said.stderr)
        self.assertEqual(len(made.todo_list(goal_id="g")["todos"]), 2)

    def test_the_lines_of_the_readme_deliver_a_turn(self) -> None:
        (lines,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
        self.assertEqual(len(lines.splitlines()), 5)
        folder = tempfile.mkdtemp(prefix="loopx-python-")
        self.addCleanup(shutil.rmtree, folder)
        made = loopx.Kernel.open(folder, home=folder)
        made.goal_create(goal_id="g", objective="x", agents=["ada"])
        made.todo_add(goal_id="g", role="agent", text="[P1] First")
        said = subprocess.run(
            [sys.executable, "-c", lines], cwd=folder, env=clean(HOME=folder), capture_output=True, text=True
        )
        self.assertEqual((said.returncode, said.stdout, said.stderr), (0, "", ""))
        (todo,) = made.todo_list(goal_id="g", status="done")["todos"]
        self.assertEqual((todo["text"], made.quota_status(goal_id="g")["goals"][0]["spent_slots"]), ("[P1] First", 1))

    def test_the_lines_of_the_readme_say_why_not(self) -> None:
        (lines,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
        empty = tempfile.mkdtemp(prefix="loopx-python-")
        waiting = tempfile.mkdtemp(prefix="loopx-python-")
        for folder in (empty, waiting):
            self.addCleanup(shutil.rmtree, folder)
        made = loopx.Kernel.open(waiting, home=waiting)
        made.goal_create(goal_id="g", objective="x", agents=["ada"])
        gate = {"role": "user", "task_class": "user_gate", "text": "May we?", "blocks_agent": "ada"}
        made.todo_add(goal_id="g", **gate)
        for folder, reason in [(empty, "the registry has no goal"), (waiting, "waiting for a person")]:
            said = subprocess.run(
                [sys.executable, "-c", lines], cwd=folder, env=clean(HOME=folder), capture_output=True, text=True
            )
            self.assertEqual((said.returncode, said.stderr), (0, ""))
            self.assertIn(reason, said.stdout)
        self.assertEqual(os.listdir(empty), [])

    def test_every_operation_is_a_method_with_units_and_errors(self) -> None:
        schemas = json.loads((ROOT / "docs/schemas.json").read_text())["requests"]
        self.assertEqual([row[0] for row in OPERATIONS], list(schemas))
        for operation, name, _, fields in OPERATIONS:
            self.assertEqual(list(fields), list(schemas[operation]["properties"]))
            method = getattr(loopx.Kernel, name)
            self.assertEqual(method.__name__, name)
            doc = inspect.getdoc(method) or ""
            for part in [f"``{operation}``", "Request:", "Raises:", "UsageError"]:
                self.assertIn(part, doc, operation)
            for field in schemas[operation]["properties"]:
                self.assertIn(f"{field}: ", doc, operation)
        self.assertIn("Seconds", inspect.getdoc(loopx.Kernel.task_lease_acquire) or "")

    def test_the_typed_dictionaries_are_those_of_the_schemas(self) -> None:
        schemas = json.loads((ROOT / "docs/schemas.json").read_text())["requests"]
        for operation, name, *_ in OPERATIONS:
            title = "".join(word[:1].upper() + word[1:] for word in name.split("_")) + "Request"
            made = getattr(loopx.types, title)
            self.assertEqual(list(made.__annotations__), list(schemas[operation]["properties"]))

    def test_a_kernel_is_made_by_open(self) -> None:
        with self.assertRaisesRegex(TypeError, "Kernel.open"):
            loopx.Kernel()


class Objects(Project):
    def test_what_is_asked_as_objects_is_answered_as_texts_are(self) -> None:
        kernel = self.opened(now=NOW)
        ask = {"goal_id": "g", "agent_id": "ada"}
        said = kernel.should_run(**ask)
        self.assertEqual(said, kernel.call("quota.should_run", ask))
        self.assertEqual(said, json.loads(kernel.call_json("quota.should_run", json.dumps(ask))))
        self.assertEqual(list(said), list(json.loads(kernel.call_json("quota.should_run", json.dumps(ask)))))
        self.assertIs(said["should_run"], True)
        self.assertIsInstance(said["quota"]["allowed_slots"], int)
        self.assertIsInstance(said["quota"]["compute"], float)
        self.assertEqual(kernel.call("goal.list"), kernel.goal_list())
        self.assertEqual(json.loads(kernel.call_json("goal.list")), kernel.goal_list())

    def test_texts_come_back_as_they_went(self) -> None:
        for text in ["Grüße 🦀 \"quoted\" \\ back", "tab\\there", "日本語のメモ"]:
            made = self.kernel.todo_add(goal_id="g", role="agent", text=text)
            (todo,) = self.kernel.todo_list(goal_id="g", todo_id=made["todo_id"])["todos"]
            self.assertEqual(todo["text"], text)

    def test_what_is_nothing_of_json_is_refused_by_name_and_the_process_lives(self) -> None:
        ring: dict[str, Any] = {}
        ring["again"] = ring
        endless: list[Any] = []
        endless.append(endless)
        for wrong in [ring, endless, float("nan"), float("inf"), object(), {1: 2}, 2**70, -(2**70), "\ud800", b"x", {"\udfff": 1}, Path("x")]:
            with self.assertRaises(loopx.UsageError) as caught:
                self.kernel.call("goal.list", {"goal_id": wrong})
            self.assertEqual((caught.exception.code, caught.exception.about), ("request_invalid", "request"))
        with self.assertRaises(TypeError):
            self.kernel.call("goal.list", [])
        deep: Any = "x"
        for _ in range(100):
            deep = [deep]
        self.assertTrue(self.kernel.call("goal.list", {"unknown": deep})["ok"])
        self.assertTrue(self.kernel.call("goal.list", {"unknown": (1, 2**64 - 1, -(2**63), True)})["ok"])

    def test_a_slip_in_a_keyword_is_refused_with_the_closest_and_nothing_is_written(self) -> None:
        kernel = self.kernel
        (todo, *_) = kernel.todo_list(goal_id="g")["todos"]
        before = self.stored("goal.db").read_bytes()
        done = {"goal_id": "g", "todo_id": todo["todo_id"], "agent_id": "ada", "evidence": "it is"}
        settle = {"goal_id": "g", "agent_id": "ada", "turn_instance_id": "t", "outcome": "progress"}
        for operation, field, near, ask in [
            ("todo.complete", "no_folow_up", "no_follow_up", lambda given: kernel.todo_complete(**done, **given)),
            ("quota.should_run", "agentid", "agent_id", lambda given: kernel.should_run(**given)),
            ("turn.settle", "evidense", "evidence", lambda given: kernel.turn_settle(**settle, **given)),
            ("turn.admit", "turn_instance", "turn_instance_id", lambda given: Turn(kernel, agent_id="ada", **given)),
            ("loop.step", "surfase", "surface", lambda given: loopx.LoopSession(kernel, goal_id="g", **given)),
            ("goal.list", "Grüße\nx", None, lambda given: kernel.goal_list(**given)),
            ("goal.list", "\udfff", None, lambda given: kernel.goal_list(**given)),
        ]:
            with self.subTest(operation=operation, field=field):
                with self.assertRaises(loopx.UsageError) as caught:
                    ask({field: True})
                said = caught.exception
                closest = f"; the closest is {near}" if near else ""
                self.assertEqual(str(said), f'{operation} has no field "{said.about}"{closest}')
                self.assertTrue(said.about == field if near else said.about.isascii(), said.about)
                self.assertEqual((said.code, said.next_command), ("request_invalid", f"loopx schema {operation}"))
        self.assertEqual(self.stored("goal.db").read_bytes(), before)
        # `call` takes what any door takes as JSON.
        self.assertTrue(kernel.call("todo.complete", {**done, "no_follow_up": True, "no_folow_up": True})["ok"])

    def test_options_are_those_of_every_door(self) -> None:
        elsewhere = self.folder / "elsewhere"
        kernel = loopx.Kernel.open(
            home=self.folder, registry=elsewhere / "registry.json", runtime_root=elsewhere / "rt",
            agent_id="ada", now=NOW, deadline_ms=1000, independent_worktree=True,
        )
        kernel.goal_create(goal_id="other", objective="x")
        self.assertTrue((elsewhere / "registry.json").is_file())
        self.assertTrue(list((elsewhere / "rt").rglob("goal.db")))
        self.assertEqual(kernel.history(goal_id="other")["commits"][0]["at"], NOW)
        for option, about in [({"now": "noon"}, "now"), ({"deadline_ms": -1}, "deadline_ms"), ({"registry": 7}, None)]:
            with self.subTest(option), self.assertRaises((loopx.UsageError, TypeError)) as caught:
                self.opened(**option)
            if about:
                self.assertEqual(getattr(caught.exception, "about"), about)

    def test_a_relative_project_counts_from_the_working_folder(self) -> None:
        script = "import loopx, sys; print(loopx.Kernel.open('.').goal_show()['goal_id'], loopx.Kernel.open().goal_show(goal_id='g')['ok'])"
        self.assertEqual(self.python(script).split(), ["g", "True"])

    def test_answers_are_the_command_lines(self) -> None:
        kernel = self.opened(now=NOW)
        said = self.cli("quota", "should-run", "--goal-id", "g", "--agent-id", "ada", LOOPX_NOW=NOW)
        self.assertEqual(kernel.should_run(goal_id="g", agent_id="ada"), said)


class Refusals(Project):
    def caught(self, kind: type[loopx.LoopxError], work: Any) -> loopx.LoopxError:
        with self.assertRaises(kind) as caught:
            work()
        error = caught.exception
        self.assertIs(type(error), kind)
        self.assertTrue(str(error) and error.next_command)
        self.assertEqual(error.hint, error.next_command)
        return error

    def test_each_class_has_an_exception_of_its_own_that_really_comes(self) -> None:
        kernel = self.kernel
        add = lambda **more: kernel.todo_add(goal_id="g", role="agent", **more)
        usage = self.caught(loopx.UsageError, lambda: add())
        self.assertEqual((usage.code, usage.retry), ("request_invalid", "never"))
        self.assertIsInstance(usage, ValueError)
        identity = self.caught(loopx.IdentityError, lambda: kernel.goal_show(goal_id="nowhere"))
        self.assertEqual((identity.code, identity.about), ("goal_not_found", "nowhere"))
        refused = self.caught(loopx.RefusedError, lambda: kernel.goal_create(goal_id="g", objective="y"))
        self.assertEqual(refused.code, "goal_exists")
        boundary = self.caught(loopx.BoundaryError, lambda: add(text="key AKIA" + "Q3EGRZ7TXWVBNM2P"))
        self.assertEqual(boundary.code, "text_refused")
        self.assertNotIn("AKIA", str(boundary))
        internal = self.caught(loopx.InternalError, kernel._native.panic_for_tests)
        self.assertEqual((internal.code, internal.retry), ("internal", "later"))
        self.assertNotIn("on purpose", str(internal))
        self.assertTrue(kernel.goal_list()["ok"], "the process and the kernel go on")
        registry = self.folder / ".loopx/registry.json"
        before = registry.read_bytes()
        registry.write_text("{")
        state = self.caught(loopx.StateError, lambda: self.opened().goal_list())
        self.assertEqual((state.code, state.retry), ("quota_state_invalid_json", "after_change"))
        registry.write_bytes(before)

    @unittest.skipIf(sys.version_info < (3, 11), "exceptions have notes from 3.11")
    def test_what_nobody_catches_is_shown_with_what_to_do(self) -> None:
        said = subprocess.run(
            [sys.executable, "-c", "import loopx; loopx.Kernel.open('.').todo_list(goal_id='no')"],
            cwd=self.folder, env=clean(HOME=str(self.folder)), capture_output=True, text=True,
        )  # fmt: skip
        last, note = said.stderr.splitlines()[-2:]
        self.assertEqual(last, 'loopx.errors.IdentityError: no goal "no" is in the registry')
        self.assertEqual(note, "goal_not_found; next: loopx goal list")

    def test_a_held_lock_is_busy_after_the_deadline(self) -> None:
        import fcntl

        with open(self.stored("goal.db.lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            quick = self.opened(deadline_ms=50)
            busy = self.caught(loopx.BusyError, lambda: quick.todo_add(goal_id="g", role="agent", text="x"))
        self.assertEqual((busy.code, busy.retry), ("lock_acquire_timeout", "later"))

    def test_every_code_of_the_catalogue_has_its_class(self) -> None:
        rows = self.cli("errors")["errors"]
        self.assertGreater(len(rows), 80)
        seen = set()
        for row in rows:
            text = json.dumps({**row, "error": row["meaning"], "about": "it"})
            error = loopx.errors.of_refusal(text)
            self.assertIsInstance(error, CLASSES[row["class"]])
            self.assertEqual((error.code, error.retry, error.about), (row["error_code"], row["retry"], "it"))
            self.assertEqual(error.to_dict()["next_command"], row["next_command"])
            again = pickle.loads(pickle.dumps(error))
            self.assertIs(type(again), type(error))
            self.assertEqual((again.to_dict(), again.retry), (error.to_dict(), error.retry))
            seen.add(row["class"])
        self.assertEqual(seen, set(CLASSES))

    def test_what_an_agent_may_not_do_is_an_answer(self) -> None:
        said = self.kernel.should_run(goal_id="g", agent_id="stranger")
        self.assertEqual((said["ok"], said["should_run"]), (False, False))
        self.assertEqual(said["error_code"], "quota_agent_not_registered")
