"""The public Python of the earlier tool: activation packets, turns with connectors; and the loop of
a host."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import loopx
from loopx.host_loop_activation import SCHEMA_VERSION, build_host_loop_activation_packet
from loopx.turn import ConnectorNotFoundError, Turn
from world import Project

# As it was published, but for its last line.
ACTIVATION = """
from loopx.host_loop_activation import build_host_loop_activation_packet
packet = build_host_loop_activation_packet(
    agent_id="codex-app-001",
    host_surface="codex-app",
    activated=True,
)
import json; print(json.dumps(packet))
"""

TURN = """
from loopx.turn import Turn
turn = Turn()
turn.add_connector('github_public_probe')
turn.run()
payload = turn.get_payload()
print(payload['connector_id'])
"""


class Activation(Project):
    agents = ["codex-app-001"]

    def test_the_published_lines_make_the_packet(self) -> None:
        self.assertEqual(
            json.loads(self.python(ACTIVATION)),
            {
                "schema_version": "loopx_host_loop_activation_v1",
                "agent_id": "codex-app-001",
                "host_surface": "codex-app",
                "activated": True,
            },
        )

    def test_it_is_what_the_command_line_answers(self) -> None:
        words = ["--host", "codex-app", "--goal-id", "g", "--agent-id", "codex-app-001", "--thin"]
        for flag, activated in [("--activate", True), ("--deactivate", False)]:
            said = self.cli("heartbeat-prompt", *words, flag)
            made = build_host_loop_activation_packet("codex-app-001", "codex-app", activated)
            self.assertEqual(said["host_loop_activation"], made)
            self.assertEqual(list(said["host_loop_activation"]), list(made))
            self.assertEqual(made["schema_version"], SCHEMA_VERSION)
        through = self.kernel.host_loop_activate(goal_id="g", agent_id="codex-app-001", host="codex-app")
        self.assertEqual(
            through["host_loop_activation"],
            build_host_loop_activation_packet("codex-app-001", "codex_app_heartbeat"),
        )

    def test_who_and_where_are_checked(self) -> None:
        with self.assertRaises(loopx.IdentityError) as caught:
            build_host_loop_activation_packet("9!", "codex-app")
        self.assertEqual(caught.exception.code, "quota_agent_id_invalid")
        with self.assertRaises(loopx.UsageError) as slip:
            build_host_loop_activation_packet("ada", "vscode9")
        self.assertEqual(slip.exception.code, "host_unknown")


class Turns(Project):
    def test_the_published_lines_name_their_connector(self) -> None:
        self.assertEqual(self.python(TURN), "github_public_probe\n")

    def test_they_do_so_also_where_there_is_no_goal(self) -> None:
        empty = Path(tempfile.mkdtemp(prefix="loopx-python-"))
        self.addCleanup(shutil.rmtree, empty)
        turn = Turn(loopx.Kernel.open(empty, home=empty)).add_connector("lark")
        packet = turn.run()
        self.assertEqual((packet["ok"], packet["connector_id"]), (False, "lark"))
        self.assertEqual(packet["error_code"], "goal_not_found")
        self.assertIsNone(packet["turn_instance_id"])
        self.assertEqual([path.name for path in empty.iterdir()], [])

    def test_run_admits_and_says_that_the_connector_cannot_run_yet(self) -> None:
        turn = Turn(self.kernel, goal_id="g", agent_id="ada")
        packet = turn.add_connector("github-public-probe").add_connector("finance").run()
        self.assertIs(packet, turn.get_payload())
        self.assertEqual((packet["ok"], packet["ready"]), (False, False))
        self.assertEqual(packet["error_code"], "connector_execution_unavailable")
        self.assertEqual(packet["connector_id"], "github_public_probe")
        self.assertEqual([row["id"] for row in packet["connectors"]], ["github_public_probe", "finance_api"])
        self.assertTrue(packet["admission"]["should_run"])
        bound = packet["turn_instance_id"]
        assert bound is not None
        self.assertTrue(self.kernel.turn_show(goal_id="g", turn_instance_id=bound)["ok"])
        self.kernel.turn_release(goal_id="g", turn_instance_id=bound, agent_id="ada")
        with self.assertRaises(loopx.RefusedError) as caught:
            self.kernel.value_connector_run(connector="github_public_probe")
        self.assertEqual(caught.exception.code, packet["error_code"])
        self.assertEqual(str(caught.exception), packet["error"])

    def test_a_turn_without_connectors_is_an_admission(self) -> None:
        packet = Turn(self.kernel, goal_id="g", agent_id="ada", turn_instance_id="t1").run()
        self.assertEqual((packet["ok"], packet["ready"], packet["connector_id"]), (True, True, None))
        self.assertEqual(packet["turn_instance_id"], "t1")
        self.assertNotIn("error_code", packet)

    def test_connectors_that_a_turn_cannot_have(self) -> None:
        with self.assertRaises(ConnectorNotFoundError) as caught:
            Turn().add_connector("github_public_prob")
        self.assertIn("Unknown connector: github_public_prob", str(caught.exception))
        self.assertIn("github_public_probe", str(caught.exception))
        self.assertEqual(caught.exception.code, "ConnectorNotFoundError")
        self.assertIsInstance(caught.exception, ValueError)
        self.assertNotIsInstance(caught.exception, KeyError)
        with self.assertRaises(ConnectorNotFoundError):
            Turn().add_connector("pi_goal_loop")
        with self.assertRaises(ConnectorNotFoundError):
            self.kernel.connectors_show(connector="nowhere")
        with self.assertRaises(loopx.RefusedError) as candidate:
            Turn().add_connector("official_xmcp")
        self.assertEqual(candidate.exception.code, "connector_not_integrated")

    def test_there_is_no_payload_before_the_run(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "run"):
            Turn().get_payload()


class Sessions(Project):
    def test_a_loop_is_told_and_says_what_is_next(self) -> None:
        session = loopx.LoopSession(self.kernel, goal_id="g", surface="pi", session="s", agent_id="ada")
        self.assertEqual(session.goal_id, "g")
        self.assertTrue(session.step("activated")["ok"])
        prompt = session.step({"kind": "settled"})["action"]
        self.assertEqual(prompt["kind"], "prompt")
        self.assertEqual(session.step("user_prompt")["action"]["kind"], "pause")
        self.assertEqual(session.step("resumed")["ok"], True)
        self.assertEqual(session.owed(), [])

    def test_what_a_person_did_is_owed_while_the_store_is_held(self) -> None:
        import fcntl

        kernel = self.opened(deadline_ms=50)
        session = loopx.LoopSession(kernel, goal_id="g", surface="pi", session="s", agent_id="ada")
        session.step("activated")
        with open(self.stored("goal.db.lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            said = session.step("aborted")
        self.assertEqual((said["ok"], said["action"]["kind"]), (False, "wait"))
        self.assertEqual([event["kind"] for event in session.owed()], ["aborted"])
        session.step("timer")
        self.assertEqual(session.owed(), [])

    def test_a_slip_is_refused(self) -> None:
        with self.assertRaises(loopx.UsageError):
            loopx.LoopSession(self.kernel, goal_id="g", surface="pi")
        session = loopx.LoopSession(self.kernel, goal_id="g", surface="pi", session="s", agent_id="ada")
        with self.assertRaises(loopx.UsageError):
            session.step("activatde")
