"""Refuses a start that would let strangers on the network move money (docs/operations/security.md)."""

import ipaddress
import socket
from collections.abc import Collection

from openspot.kit.settings import Settings

SECRET_BYTES_MIN = 32
"""Shortest secret of a token: HS256 is as strong as its secret, up to 32 bytes (RFC 7518, 3.2)."""
PASSWORD_LENGTH_MIN = 12

_SECRETS = (
    ("jwt_secret", "JWT_SECRET", ("rest-edge", "ws-edge"), SECRET_BYTES_MIN),
    ("admin_token_secret", "OPENSPOT_ADMIN_TOKEN_SECRET", ("engine",), SECRET_BYTES_MIN),
    ("engine_api_secret", "OPENSPOT_ENGINE_API_SECRET", ("engine",), SECRET_BYTES_MIN),
    ("admin_password", "OPENSPOT_ADMIN_PASSWORD", ("engine",), PASSWORD_LENGTH_MIN),
)


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
    """What strangers could do if these services started with these settings, and what to set against it.

    Secrets that are empty are generated, and those are long enough.
    """
    if is_loopback(settings.host):
        return []
    found = []
    if "engine" in services and not settings.trusted_network:
        found.append(
            f"OPENSPOT_HOST={settings.host} opens the engine's gRPC (port {settings.engine_grpc_port}) to the network. "
            "gRPC asks for no credentials: anybody who reaches it can credit accounts and place orders. Set "
            "OPENSPOT_HOST=127.0.0.1 and let a reverse proxy on this machine lead to the REST and WebSocket edges, or "
            "set OPENSPOT_TRUSTED_NETWORK=true if a firewall keeps strangers away from that address."
        )
    for name, variable, users, length_min in _SECRETS:
        secret = getattr(settings, name)
        if secret and len(secret.encode()) < length_min and any(user in services for user in users):
            found.append(
                f"{variable} has fewer than {length_min} characters, and OPENSPOT_HOST={settings.host} lets strangers "
                "guess it: set a longer one, or none to have one generated."
            )
    return found
