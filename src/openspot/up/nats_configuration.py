"""The configuration file of an embedded NATS server, rendered from typed parts.

The server reads JSON as a form of its own configuration language.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SYNC_ALWAYS = "always"
"""Every message is on disk before it is acknowledged. The server's own default is a sync every two minutes."""


@dataclass(frozen=True, slots=True)
class NatsPermissions:
    """The subjects that a user may publish and subscribe to, and whether it may reply to requests."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    replies: bool = False

    def render(self) -> dict[str, Any]:
        """The block `permissions`."""
        return {
            "publish": {"allow": list(self.publish)},
            "subscribe": {"allow": list(self.subscribe)},
            "allow_responses": self.replies,
        }


@dataclass(frozen=True, slots=True)
class NatsUser:
    """Who may connect: a name and a password, or the public key of an nkey. Without `permissions` it may do all."""

    name: str = ""
    password: str = ""
    nkey: str = ""
    permissions: NatsPermissions | None = None

    def render(self) -> dict[str, Any]:
        """The entry of `authorization.users`."""
        user: dict[str, Any] = {"nkey": self.nkey} if self.nkey else {"user": self.name, "password": self.password}
        return user if self.permissions is None else user | {"permissions": self.permissions.render()}


@dataclass(frozen=True, slots=True)
class NatsClusterNode:
    """A node of a cluster: where it listens for its peers, and their addresses."""

    name: str
    address: str
    routes: tuple[str, ...]

    def render(self) -> dict[str, Any]:
        """The block `cluster`."""
        return {"name": self.name, "listen": self.address.removeprefix("nats://"), "routes": list(self.routes)}


@dataclass(frozen=True, slots=True)
class NatsTls:
    """Certificate and key of the server. With `client_ca`, clients must show a certificate that it has signed."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def render(self) -> dict[str, Any]:
        """The block `tls`."""
        block: dict[str, Any] = {"cert_file": str(self.certificate), "key_file": str(self.key)}
        if self.client_ca is not None:
            block |= {"ca_file": str(self.client_ca), "verify": True}
        return block


@dataclass(frozen=True, slots=True)
class NatsConfiguration:
    """The configuration of an embedded server, apart from its port and its folder.

    Without `users` anybody may connect. The blocks in `further` are copied unchanged.
    """

    server_name: str = ""
    is_synced: bool = True
    users: tuple[NatsUser, ...] = ()
    cluster: NatsClusterNode | None = None
    tls: NatsTls | None = None
    further: Mapping[str, Any] = field(default_factory=dict)

    def render(self, host: str, port: int, store: Path) -> str:
        """The text of the configuration file of a server on `host`:`port` that keeps its streams in `store`."""
        jetstream: dict[str, Any] = {"store_dir": str(store)}
        if self.is_synced:
            jetstream["sync_interval"] = SYNC_ALWAYS
        configuration: dict[str, Any] = {"listen": f"{host}:{port}", "jetstream": jetstream}
        if self.server_name:
            configuration["server_name"] = self.server_name
        if self.users:
            configuration["authorization"] = {"users": [user.render() for user in self.users]}
        if self.cluster is not None:
            configuration["cluster"] = self.cluster.render()
        if self.tls is not None:
            configuration["tls"] = self.tls.render()
        # The server's configuration language has no \uXXXX escapes.
        return json.dumps(configuration | dict(self.further), indent=1, ensure_ascii=False) + "\n"
