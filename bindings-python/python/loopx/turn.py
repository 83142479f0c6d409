"""A turn with value connectors: admitted, and told which of them can run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, cast

from loopx._fields import FIELDS, check
from loopx._native import connector_for_turn, readiness_packet
from loopx.errors import ConnectorNotFoundError
from loopx.kernel import Kernel

if TYPE_CHECKING:
    from typing_extensions import NotRequired, Self, Unpack

    from loopx.types import Packet, TurnAdmitRequest

__all__ = ["ConnectorNotFoundError", "ReadinessPacket", "Turn"]


class ReadinessPacket(TypedDict):
    """What ``Turn.run`` answers."""

    ok: bool
    """The turn was admitted, and every connector can run."""
    schema_version: str
    """``loopx_connector_readiness_v0``."""
    ready: bool
    """Every connector can run."""
    connector_id: str | None
    """The first connector; ``None`` for a turn without one."""
    connectors: list[dict[str, Any]]
    """Rows of the catalogue, one for each connector."""
    turn_instance_id: str | None
    """The turn, which whoever runs it settles or releases; ``None`` where none was bound."""
    admission: Packet
    """What ``turn.admit`` answered."""
    error_code: NotRequired[str]
    """Why ``ok`` is false: a code of the admission, else ``connector_execution_unavailable``."""
    error: NotRequired[str]
    """The same as one sentence."""
    about: NotRequired[str]
    """What it is about."""
    next_command: NotRequired[str]
    """What to do."""


class Turn:
    """One turn of an agent. ``request`` is that of ``Kernel.turn_admit``.

    Raises:
        UsageError: the request has a field that ``turn.admit`` has not.
    """

    def __init__(self, kernel: Kernel | None = None, **request: Unpack[TurnAdmitRequest]) -> None:
        check("turn.admit", request, FIELDS["turn.admit"])
        self._kernel = kernel
        self._request = request
        self._connectors: list[str] = []
        self._payload: ReadinessPacket | None = None

    def add_connector(self, connector_id: str) -> Self:
        """Names a value connector that the turn is to use, by its id or an alias.

        Raises:
            ConnectorNotFoundError: there is no value connector of that id.
            RefusedError: it is a candidate, catalogued and not integrated.
        """
        connector = connector_for_turn(connector_id)
        if connector not in self._connectors:
            self._connectors.append(connector)
        return self

    def run(self) -> ReadinessPacket:
        """Admits the turn and says which connectors can run. None does in this version: the
        packet then has ``ok: False`` and ``connector_execution_unavailable``, and the admission
        stands.

        Raises:
            UsageError: the request is malformed.
        """
        kernel = Kernel.open() if self._kernel is None else self._kernel
        admission = kernel.turn_admit(**self._request)
        packet = readiness_packet(self._connectors, cast("dict[str, Any]", admission))
        self._payload = cast(ReadinessPacket, packet)
        return self._payload

    def get_payload(self) -> ReadinessPacket:
        """What ``run`` answered.

        Raises:
            RuntimeError: it has not run.
        """
        if self._payload is None:
            raise RuntimeError("the turn has not run: call run() first")
        return self._payload
