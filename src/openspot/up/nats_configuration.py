"""The configuration file of an embedded NATS server, rendered from typed parts.

The server reads JSON as a form of its own configuration language.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

SYNC_ALWAYS = "always"
"""Every message is on disk before it is acknowledged. The server's own default is a sync every two minutes."""


@dataclass(frozen=True, slots=True)
class NatsPermissions:
    """The subjects that a user may publish and subscribe to."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]

    def render(self) -> dict[str, Any]:
        """The block `permissions`."""
        return {
            "publish": {"allow": list(self.publish)},
            "subscribe": {"allow": list(self.subscribe)},
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


class Shared(StrEnum):
    """What one account gives another: a subject to send requests to, or a subject to follow."""

    SERVICE = "service"
    STREAM = "stream"


@dataclass(frozen=True, slots=True)
class NatsImport:
    """A subject of the account `source` that another account has, there under the name `to` if it is given."""

    kind: Shared
    source: str
    subject: str
    to: str = ""

    def render(self) -> dict[str, Any]:
        """The entry of `imports`."""
        entry: dict[str, Any] = {self.kind: {"account": self.source, "subject": self.subject}}
        return entry | {"to": self.to} if self.to else entry


@dataclass(frozen=True, slots=True)
class NatsAccount:
    """A space of subjects with its users. Only what it exports to another account leaves it.

    With `jetstream` it has streams. It exports to each other account what that one imports from it.
    """

    name: str
    users: tuple[NatsUser, ...]
    jetstream: bool = False
    imports: tuple[NatsImport, ...] = ()

    def render(self, others: Sequence["NatsAccount"]) -> dict[str, Any]:
        """The entry of `accounts`. `others` are the other accounts of the server."""
        block: dict[str, Any] = {"users": [user.render() for user in self.users]}
        if self.jetstream:
            block["jetstream"] = "enabled"
        if self.imports:
            block["imports"] = [found.render() for found in self.imports]
        exports: list[dict[str, Any]] = []
        for other in others:
            wanted = [found for found in other.imports if found.source == self.name]
            if any(found.kind is Shared.SERVICE for found in wanted):
                # One export for all services, and imports that say which. The server takes no message through the same
                # export twice: so a reply of a service never reaches a second one as a request.
                exports.append({Shared.SERVICE: ">", "accounts": [other.name]})
            exports += [
                {Shared.STREAM: found.subject, "accounts": [other.name]}
                for found in wanted
                if found.kind is Shared.STREAM
            ]
        return block | {"exports": exports} if exports else block


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

    Without `users` and `accounts` anybody may connect. The blocks in `further` are copied unchanged.
    """

    server_name: str = ""
    is_synced: bool = True
    users: tuple[NatsUser, ...] = ()
    accounts: tuple[NatsAccount, ...] = ()
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
        if self.accounts:
            configuration["accounts"] = {
                account.name: account.render([other for other in self.accounts if other is not account])
                for account in self.accounts
            }
        if self.cluster is not None:
            configuration["cluster"] = self.cluster.render()
        if self.tls is not None:
            configuration["tls"] = self.tls.render()
        # The server's configuration language has no \uXXXX escapes.
        return json.dumps(configuration | dict(self.further), indent=1, ensure_ascii=False) + "\n"
