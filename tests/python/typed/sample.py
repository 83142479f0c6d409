"""How a typed program uses the wheel. Checked by mypy --strict and pyright: what is marked as wrong
must be found wrong, and nothing else."""

from __future__ import annotations

from typing import assert_type

import loopx
from loopx.host_loop_activation import HostLoopActivationPacket, build_host_loop_activation_packet
from loopx.turn import ConnectorNotFoundError, ReadinessPacket, Turn
from loopx.types import Answer, ChangedSince, LoopAnswer, LoopEvent, Packet, ShouldRunRequest


def decide(kernel: loopx.Kernel) -> str | None:
    request: ShouldRunRequest = {"goal_id": "g", "agent_id": "ada"}
    packet = kernel.should_run(**request)
    assert_type(packet, Packet)
    assert_type(kernel.call("quota.should_run", request), Packet)
    assert_type(kernel.call("goal.list"), Answer)
    assert_type(kernel.call_json("goal.list"), str)
    assert_type(kernel.goal_changed_since(goal_id="g", commit=4), ChangedSince)
    assert_type(packet["quota"]["window_hours"], int)
    todo = packet["selected_todo"]
    return todo["text"] if todo is not None else None


def write(kernel: loopx.Kernel) -> None:
    try:
        kernel.todo_add(goal_id="g", role="agent", text="[P1] Write it")
        kernel.call("store.restore", {"from": "backup"})
    except loopx.BusyError as error:
        assert_type(error.code, str)
        assert_type(error.next_command, str)
    except ConnectorNotFoundError as error:
        loopx.UsageError.to_dict(error)


def loop(kernel: loopx.Kernel) -> None:
    session = loopx.LoopSession(kernel, goal_id="g", surface="pi", session="s", agent_id="ada")
    answer = session.step({"kind": "settled", "turn_instance_id": "t"})
    assert_type(answer, LoopAnswer)
    if answer["action"]["kind"] == "prompt":
        assert_type(answer["action"]["text"], str)
    assert_type(session.owed(), list[LoopEvent])


def surface() -> None:
    assert_type(Turn(agent_id="ada").add_connector("lark").run(), ReadinessPacket)
    packet = build_host_loop_activation_packet("ada", "pi", activated=True)
    assert_type(packet, HostLoopActivationPacket)


def wrong(kernel: loopx.Kernel) -> None:
    kernel.should_run(agent=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    kernel.should_run(agent_id=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    kernel.todo_add(role="agent")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    kernel.call("todo.claim")  # type: ignore[call-overload]  # pyright: ignore
    kernel.call("no.such")  # type: ignore[call-overload]  # pyright: ignore
    kernel.todo_add(role="nobody", text="x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
