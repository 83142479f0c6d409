"""The worker and Pi come to one plan from one produced packet.

For every class of a hint that a decision has, one project is made and its packet is produced once.
The folder is then kept, and put back byte for byte before each of the loops: Pi's own extension in
Node, the Python worker, and ``loopx worker run``. Each finds the whole packet as it was produced,
and all come to one plan, look by look until the loop stops, the final recheck at the third unchanged
poll among them. For classes that no rule decides, the state machine takes one packet for both."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import loopx

ROOT = Path(__file__).resolve().parents[1]
WORKER = ROOT / "scripts/external_scheduler_worker.py"
BINARY = Path(os.environ.get("LOOPX_BIN_UNDER_TEST", ROOT / "target/debug/loopx"))
FOLLOW = Path(os.environ.get("LOOPX_FOLLOW", ROOT / "target/debug/loopx-follow"))
NOON = "2026-11-29T12:00:00Z"
SESSION = "session-1"
LOOKS = 4
Plan = list[tuple[str, ...]]

# Who wakes the agent: as a worker has it unless it is told otherwise, and one that cannot be.
USUAL = {
    "host_surface": "generic_cli", "scheduler_owner": "agent_cli_loop",
    "execution_mode": "interactive", "source": "runtime_profile:generic_cli",
}  # fmt: skip
CONTRADICTION = {
    "host_surface": "codex_app", "scheduler_owner": "agent_cli_loop",
    "execution_mode": "interactive", "source": "explicit",
}  # fmt: skip


def work(kernel: loopx.Kernel) -> str:
    return str(kernel.todo_add(goal_id="g", role="agent", text="one")["todo_id"])


def gate(kernel: loopx.Kernel) -> None:
    work(kernel)
    kernel.gate_open(goal_id="g", question="May we?", global_gate=True)


def scope(kernel: loopx.Kernel) -> None:
    kernel.todo_claim(goal_id="g", todo_id=work(kernel), claimed_by="bob", agent_id="bob")


def monitor(kernel: loopx.Kernel) -> None:
    added = kernel.todo_add(
        goal_id="g", role="agent", text="watch the build", task_class="continuous_monitor",
        cadence="2h", target_key="build",
    )  # fmt: skip
    kernel.quota_monitor_poll(goal_id="g", agent_id="ada", todo_id=added["todo_id"], execute=True)


def window(kernel: loopx.Kernel) -> None:
    for turn in ("t-1", "t-2"):
        work(kernel)
        kernel.turn_admit(goal_id="g", agent_id="ada", turn_instance_id=turn)
        kernel.turn_settle(
            goal_id="g", agent_id="ada", turn_instance_id=turn, outcome="completed",
            evidence=["x"], no_follow_up=True,
        )  # fmt: skip
    work(kernel)


def stopped(kernel: loopx.Kernel) -> None:
    work(kernel)
    kernel.goal_stop(goal_id="g")


def ended(kernel: loopx.Kernel) -> None:
    kernel.todo_complete(
        goal_id="g", agent_id="ada", todo_id=work(kernel), evidence="done", no_follow_up=True
    )


def watching(kernel: loopx.Kernel) -> None:
    work(kernel)
    registry = Path(".loopx/registry.json")
    written = json.loads(registry.read_text(encoding="utf-8"))
    # Only a person's hand sets a work mode.
    written["goals"][0]["coordination"]["agent_work_modes"] = {"ada": "monitor_only"}
    registry.write_text(json.dumps(written), encoding="utf-8")


class Made(NamedTuple):
    """How a class is brought about, and what the loop then does, look by look."""

    prepare: Callable[[loopx.Kernel], Any]
    comes: list[str]
    goal: dict[str, Any] = {}
    context: dict[str, str] = USUAL


UNCHANGED = ["wait", "wait", "recheck", "pause"]
CLASSES: dict[str, Made] = {
    "active_work": Made(work, ["prompt"]),
    "human_gate": Made(gate, UNCHANGED),
    "agent_scope_wait": Made(scope, UNCHANGED),
    "agent_monitor_only": Made(watching, UNCHANGED),
    # The third look waits until the monitor is due, and then it is work.
    "monitor_wait": Made(monitor, ["wait", "wait", "wait", "prompt"]),
    "quiet_wait": Made(window, ["wait", "wait", "wait", "prompt"], {"allowed_slots": 2}),
    "goal_stopped": Made(stopped, ["over"]),
    "terminal_no_followup": Made(ended, ["over"]),
    "quota_paused": Made(work, ["over"], {"compute": 0}),
    "control_plane_repair": Made(work, ["wait"] * LOOKS, context=CONTRADICTION),
}


def decision(mode: str, **agent: bool) -> dict[str, Any]:
    """A decision with the contract of a mode: nobody is asked, nothing is to be done."""
    quiet = {"must_attempt": False, "delivery_allowed": False, "quiet_noop_allowed": True}
    return {
        "goal_id": "g",
        "agent_identity": {"agent_id": "ada"},
        "should_run": False,
        "effective_action": mode,
        "heartbeat_recommendation": {"recommended_mode": mode},
        "interaction_contract": {
            "schema_version": "loopx_interaction_contract_v0",
            "mode": mode,
            "user_channel": {"action_required": False},
            "agent_channel": {**quiet, **agent},
        },
    }


# What no rule of core/src/admission decides (the test below looks): modes of the earlier tool that
# hosts may still be handed. No operation takes a decision, so no door can be handed one; the kernel's
# own arbitration and its state machine have it from tests/follow.
UNDECIDED = {
    "unchanged_noop": (decision("mapped_noop_if_unchanged"), UNCHANGED),
    "peer_coordination_blocked": (decision("peer_coordination_blocked"), ["pause"]),
    # A contract that contradicts itself: its class is made above, by a context.
    "control_plane_repair": (
        decision("bounded_delivery", delivery_allowed=True, quiet_noop_allowed=False),
        ["wait"] * LOOKS,
    ),
}


def question(context: dict[str, str]) -> dict[str, Any]:
    words = {"goal_id": "g", "agent_id": "ada", "include_detail": ["scheduler"]}
    return {**words, "execution_context": context}


def produce(name: str) -> dict[str, Any]:
    """Makes the project of a class in this folder, and its packet."""
    made = CLASSES[name]
    kernel = loopx.Kernel.open(".", now=NOON)
    kernel.goal_create(goal_id="g", objective="x", agents=["ada", "bob"], **made.goal)
    made.prepare(kernel)
    # Pi says nothing of who wakes it; its loop keeps what it was activated with.
    at = {"goal_id": "g", "agent_id": "ada", "surface": "pi", "session": SESSION}
    kernel.call("loop.step", {**at, "event": {"kind": "activated"}, "execution_context": made.context})
    return dict(kernel.call("quota.should_run", question(made.context)))


def native() -> Path | None:
    """The build of Node's module that is named, else the newest."""
    if os.environ.get("LOOPX_NATIVE"):
        return Path(os.environ["LOOPX_NATIVE"])
    built = [ROOT / "target" / profile / "libloopx_node.so" for profile in ("release", "debug")]
    packed = ROOT.glob("target/node/package/native/*/loopx.node")
    found = [path for path in (*built, *packed) if path.is_file()]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


def bytes_of(folder: Path) -> dict[str, tuple[int, str, bytes]]:
    """Everything in a folder: kind and rights, where a link leads, and what is in a file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        link = os.readlink(path) if stat.S_ISLNK(mode) else ""
        body = path.read_bytes() if stat.S_ISREG(mode) else b""
        found[str(path.relative_to(folder))] = (mode, link, body)
    return found


class Classes(unittest.TestCase):
    def test_every_class_is_made(self) -> None:
        source = (ROOT / "core/src/schedule/class.rs").read_text(encoding="utf-8")
        classes = {line.split('"')[1] for line in source.splitlines() if ' class: "' in line}
        self.assertEqual(classes, set(CLASSES) | set(UNDECIDED))

    def test_no_rule_decides_what_is_called_undecided(self) -> None:
        rules = list((ROOT / "core/src/admission").rglob("*.rs"))
        self.assertGreater(len(rules), 10)
        for path in rules:
            text = path.read_text(encoding="utf-8")
            for mode in ("mapped_noop_if_unchanged", "peer_coordination_blocked"):
                self.assertNotIn(mode, text, f"{path}: produce a packet of the real decision")

    def test_one_plan_from_one_packet_where_no_rule_decides(self) -> None:
        if "LOOPX_FOLLOW" not in os.environ and not FOLLOW.is_file():
            self.skipTest("loopx-follow is not built (cargo build -p loopx-tests --bins)")
        for name, (decided, comes) in UNDECIDED.items():
            plans = []
            for surface in ("pi", "shell"):
                asked = {"decision": decided, "surface": surface, "at": NOON, "looks": LOOKS}
                said = subprocess.run(
                    [FOLLOW], input=json.dumps(asked), capture_output=True, text=True
                )
                self.assertEqual(said.returncode, 0, said.stderr)
                plans.append(json.loads(said.stdout))
            with self.subTest(name):
                of_pi, of_worker = plans
                self.assertEqual(of_pi, of_worker)
                self.assertEqual(of_pi[0]["packet"]["scheduler_hint"]["cadence_class"], name)
                self.assertEqual([look["action"]["kind"] for look in of_pi], comes)


class Parity(unittest.TestCase):
    def setUp(self) -> None:
        # Whoever names the module wants the comparison.
        named = "LOOPX_NATIVE" in os.environ
        self.addon = native()
        if not named and shutil.which("node") is None:
            self.skipTest("node is not on PATH: the plan of Pi is not compared")
        if not named and self.addon is None:
            self.skipTest("Node's module is not built (cargo xtask node): Pi is not compared")
        self.folder = Path(tempfile.mkdtemp(prefix="loopx-parity-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.project = self.folder / "project"
        self.kept = self.folder / "kept"

    def run_in(self, words: list[str], *, now: str = NOON, given: str | None = None) -> Any:
        """Runs a program in the project to its end."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("LOOPX_")}
        home = {"HOME": str(self.project / "home"), "LOOPX_NOW": now}
        return subprocess.run(
            words,
            cwd=self.project,
            env={**clean, **home, "LOOPX_NATIVE": str(self.addon), "PYTHONDONTWRITEBYTECODE": "1"},
            input=given,
            capture_output=True,
            text=True,
        )

    def answer(self, words: list[str], **how: Any) -> Any:
        said = self.run_in(words, **how)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        return json.loads(said.stdout)

    def keep(self) -> None:
        """Every process that had the project open has ended: no journal has anything in it."""
        for journal in self.project.rglob("goal.db-*"):
            self.assertEqual(journal.stat().st_size, 0, journal)
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.project, self.kept, symlinks=True)

    def put_back(self) -> None:
        shutil.rmtree(self.project)
        shutil.copytree(self.kept, self.project, symlinks=True)
        self.assertEqual(bytes_of(self.project), bytes_of(self.kept))

    def of_pi(self, context: dict[str, str]) -> list[dict[str, Any]]:
        # A name of its own, which Node takes for a module.
        addon = self.folder / "loopx.node"
        if not addon.exists():
            shutil.copy(str(self.addon), addon)
        self.addon = addon
        script = str(ROOT / "tests/python/pi_plan.cjs")
        asked = {"project": str(self.project), "session": SESSION, "at": NOON, "looks": LOOKS}
        words = ["node", script, str(ROOT / "bindings-node")]
        answered = self.answer(words, given=json.dumps({**asked, "question": question(context)}))
        self.assertEqual(answered["via"], "native")
        return list(answered["seen"])

    def waits_at(self, surface: str) -> str | None:
        """The token of the wait that a loop has stored."""
        [store] = self.project.rglob("goal.db")
        rows = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        try:
            found = rows.execute("SELECT doc FROM host_rows WHERE kind = 'loop'").fetchall()
        finally:
            rows.close()
        docs = [json.loads(doc)["doc"] for (doc,) in found]
        [loop] = [doc for doc in docs if doc["surface"] == surface]
        return loop.get("reset_token")

    def of_worker(self, words: list[str], now: str) -> tuple[Plan, list[dict[str, Any]]]:
        said = self.run_in(words, now=now)
        lines = [json.loads(line) for line in said.stdout.splitlines()]
        if [line["status"] for line in lines] == ["tick_error"]:
            self.assertEqual(said.returncode, 2, said.stdout + said.stderr)
            return [("failed",)], lines
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        plan: Plan = []
        probed = False
        for line in lines:
            status = line["status"]
            probed |= status == "final_quota_replan_probe"
            if status == "waiting":
                until = line.get("next_check_at")
                plan.append(("wait", until[:19]) if until else ("recheck",))
            elif status == "final_quota_replan_probe":
                self.assertIs(line["changed"], False)
            elif status == "stop_after_unchanged_limit":
                self.assertTrue(probed, "a pause comes after the final recheck")
                plan.append(("pause", "unchanged_limit"))
            elif status == "terminal":
                over = {"terminal": "terminal_no_followup"}.get(line["class"], line["class"])
                plan.append(("over", over))
            else:
                self.assertEqual(status, "should_run")
                plan.append(("prompt",))
        return plan, lines

    def workers(self) -> dict[str, tuple[list[str], list[str]]]:
        """Of each worker: its command, and how its door is asked for a packet."""
        script = [sys.executable, str(Path(__file__).resolve())]
        found = {"python": ([sys.executable, str(WORKER)], [*script, "ask"])}
        if BINARY.is_file() or "LOOPX_BIN_UNDER_TEST" in os.environ:
            ask = [str(BINARY), "--format", "json", "call", "quota.should_run", "-"]
            found["program"] = ([str(BINARY), "worker", "run"], ask)
        else:
            print("SKIPPED: loopx is not built, its worker is not compared")
        return found

    def test_one_plan_from_one_packet(self) -> None:
        for name, made in CLASSES.items():
            shutil.rmtree(self.project, ignore_errors=True)
            (self.project / "home").mkdir(parents=True)
            script = [sys.executable, str(Path(__file__).resolve())]
            produced = self.answer([*script, "produce", name])
            self.assertEqual(produced["scheduler_hint"]["cadence_class"], name)
            self.keep()
            looks = self.of_pi(made.context)
            self.assertEqual(looks[0]["packet"], produced, f"{name}: Pi")
            plans = [[pi_action(action, name) for action in look["actions"]] for look in looks]
            self.assertEqual([step[0] for plan in plans for step in plan], made.comes, name)
            for decided in (answer for look in looks[:1] for answer in look["decisions"] if answer):
                self.assertEqual(decided, compact(produced), f"{name}: Pi")
            if made.comes == UNCHANGED:
                token = produced["scheduler_hint"]["reset_policy"]["reset_token"]
                self.assertEqual(self.waits_at("pi"), token, name)
            for worker, (command, ask) in self.workers().items():
                for wake in (False, True):
                    with self.subTest(name, worker=worker, wake=wake):
                        self.put_back()
                        self.follows(made, produced, looks, plans, command, ask, wake)

    def follows(
        self,
        made: Made,
        produced: dict[str, Any],
        looks: list[dict[str, Any]],
        plans: list[Plan],
        command: list[str],
        ask: list[str],
        wake: bool,
    ) -> None:
        """One worker goes the way that Pi went, from the same folder."""
        words = ["--goal-id", "g", "--agent-id", "ada", "--once", "--format", "json"]
        if made.context is not USUAL:
            named = ("host_surface", "scheduler_owner", "execution_mode")
            flags = zip(("-H", "-O", "-M"), named, strict=True)
            words += [word for flag, key in flags for word in (flag, made.context[key])]
        words = [*command, *words, *(["--wake-cmd", "true"] if wake else [])]
        asked = json.dumps(question(made.context))
        for n, (look, expected) in enumerate(zip(looks, plans, strict=True)):
            packet = self.answer(ask, now=look["at"], given=asked)
            if n == 0:
                self.assertEqual(packet, produced)
            self.assertEqual(packet["scheduler_hint"], look["packet"]["scheduler_hint"])
            found, lines = self.of_worker(words, look["at"])
            if made.context is not USUAL and not wake:
                # It only reads: a packet that cannot be followed is a question that failed.
                self.assertEqual(found, [("failed",)])
                return
            self.assertEqual(found, expected, f"look {n}")
            hint = packet["scheduler_hint"]
            for line in lines:
                if "class" in line and line["status"] != "terminal":
                    said = (line["action"], line["class"], line["effective_action"], line["rule"])
                    meant = (hint["action"], hint["cadence_class"], packet["effective_action"], packet["rule"])
                    self.assertEqual(said, meant, line)
            if wake and expected[0][0] == "wait" and made.context is USUAL:
                self.assertEqual(self.waits_at("shell"), hint["reset_policy"]["reset_token"])


def compact(packet: dict[str, Any]) -> dict[str, Any]:
    """What of a packet the answer of a loop's step repeats."""
    words = ("should_run", "rule", "effective_action", "state", "reason", "reason_code", "error_code", "next_eligible_at")
    hint = packet["scheduler_hint"]
    more = {
        "action": hint["action"],
        "cadence_class": hint["cadence_class"],
        "mode": packet["interaction_contract"]["mode"],
        "todo_id": (packet.get("selected_todo") or {}).get("todo_id"),
    }
    found = {**{word: packet.get(word) for word in words}, **more}
    return {key: value for key, value in found.items() if value is not None}


def pi_action(action: dict[str, Any], cadence_class: str) -> tuple[str, ...]:
    kind = action["kind"]
    if kind == "wait":
        return ("wait", action["until"][:19])
    if kind == "pause" and action["reason"] == "unchanged_limit":
        return ("pause", "unchanged_limit")
    if kind in ("pause", "stop"):
        return ("over", cadence_class)
    return (kind,)


def main() -> None:
    match sys.argv[1:]:
        case ["produce", name]:
            print(json.dumps(produce(name)))
        case ["ask"]:
            kernel = loopx.Kernel.open(".")
            print(json.dumps(kernel.call("quota.should_run", json.load(sys.stdin))))
        case _:
            unittest.main()


if __name__ == "__main__":
    main()
