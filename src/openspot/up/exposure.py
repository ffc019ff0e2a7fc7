"""Refuses a start that would let strangers on the network move money (docs/operations/security.md)."""

import ipaddress
import socket
from collections.abc import Collection, Iterator

from openspot.kit.description import Process
from openspot.kit.settings import Settings, generated_secrets, variable
from openspot.up.services import SERVICES


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`. A name counts if all its addresses are loopback ones."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    try:
        addresses = {str(entry[4][0]) for entry in socket.getaddrinfo(host or None, None, flags=socket.AI_PASSIVE)}
    except OSError:
        return False
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in addresses)


def dangers(settings: Settings, services: Collection[str]) -> list[str]:
    """One message for each harm that strangers could do to these processes with these settings. It names the remedy.

    An empty secret is no danger: the platform generates one that is long enough.
    """
    return [danger for name in services for danger in _dangers_of(SERVICES[name], settings)]


def _dangers_of(process: Process, settings: Settings) -> Iterator[str]:
    host = process.listening_host(settings)
    if is_loopback(host):
        return
    kind = type(settings)
    own = variable(process.host, kind)
    given = f"{own if getattr(settings, process.host) else variable('host', kind)}={host}"
    for listener in process.listeners:
        if listener.danger and not settings.trusted_network:
            yield (
                f"{given} opens the {process.title[0].lower()}{process.title[1:]}'s {listener.purpose} (port "
                f"{getattr(settings, listener.setting)}) to the network. {listener.danger} Set {own}=127.0.0.1, or "
                "OPENSPOT_TRUSTED_NETWORK=true if a firewall keeps strangers away from that address."
            )
    for name, mark in generated_secrets(kind).items():
        secret = getattr(settings, name)
        if name in process.secrets_checked and secret and len(secret.encode()) < mark.length_min:
            yield (
                f"{variable(name, kind)} has fewer than {mark.length_min} characters, and {given} lets strangers "
                "guess it: set a longer one, or none to have one generated."
            )
