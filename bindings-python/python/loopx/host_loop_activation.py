"""That an agent's loop is switched on or off on a host, as the packet that says so."""

from __future__ import annotations

from typing import TypedDict, cast

from loopx._native import ACTIVATION_SCHEMA, activation_packet

__all__ = ["SCHEMA_VERSION", "HostLoopActivationPacket", "build_host_loop_activation_packet"]

SCHEMA_VERSION = ACTIVATION_SCHEMA


class HostLoopActivationPacket(TypedDict):
    """One activation as a host sends it: made anew for every call, with no history."""

    schema_version: str
    """``loopx_host_loop_activation_v1``."""
    agent_id: str
    """Whose loop."""
    host_surface: str
    """The host, by its ``--host`` name."""
    activated: bool
    """Whether it is switched on."""


def build_host_loop_activation_packet(
    agent_id: str, host_surface: str, activated: bool = True
) -> HostLoopActivationPacket:
    """The packet of an agent on a host. Records nothing: ``Kernel.host_loop_activate`` does.

    Args:
        agent_id: Whose loop.
        host_surface: The host, by name, alias, connector id or surface.
        activated: Whether it is switched on.

    Raises:
        IdentityError: the agent id has a shape that is not allowed.
        UsageError: there is no host of that name.
    """
    return cast(HostLoopActivationPacket, activation_packet(agent_id, host_surface, activated))
