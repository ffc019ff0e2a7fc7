"""Credentials for a NATS server: nkeys, JWTs of an operator, certificates."""

import base64
import hashlib
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nkeys
import trustme

from openspot.up.nats_configuration import NatsTls

USER, ACCOUNT, OPERATOR = nkeys.PREFIX_BYTE_USER, nkeys.PREFIX_BYTE_ACCOUNT, nkeys.PREFIX_BYTE_OPERATOR


@dataclass(frozen=True, slots=True)
class Nkey:
    """A key pair: the seed signs, the public key is a name."""

    seed: str
    public: str

    def sign(self, data: bytes) -> bytes:
        """The signature of `data`."""
        signature: bytes = nkeys.from_seed(bytearray(self.seed.encode())).sign(data)
        return signature


def new_nkey(kind: int) -> Nkey:
    """A fresh key pair of a user, an account or an operator."""
    seed: bytes = nkeys.encode_seed(os.urandom(32), kind)
    return Nkey(seed.decode(), nkeys.from_seed(bytearray(seed)).public_key.decode())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed_claims(issuer: Nkey, subject: str, name: str, nats: dict[str, Any]) -> str:
    """A JWT in which `issuer` vouches for `subject`."""
    claims: dict[str, Any] = {"iat": int(time.time()), "iss": issuer.public, "name": name, "sub": subject, "nats": nats}
    digest = hashlib.sha256(json.dumps(claims, sort_keys=True).encode()).digest()
    claims["jti"] = base64.b32encode(digest).rstrip(b"=").decode()
    head = _encoded(json.dumps({"typ": "JWT", "alg": "ed25519-nkey"}).encode())
    body = f"{head}.{_encoded(json.dumps(claims).encode())}"
    return f"{body}.{_encoded(issuer.sign(body.encode()))}"


class Operator:
    """An operator with one account that has JetStream, as a server's configuration and as credentials of users."""

    def __init__(self) -> None:
        self._key, self._account, system = new_nkey(OPERATOR), new_nkey(ACCOUNT), new_nkey(ACCOUNT)
        unlimited = dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1)
        # The system account may have no JetStream.
        storage = dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)
        accounts = {
            key.public: signed_claims(
                self._key, key.public, name, {"type": "account", "version": 2, "limits": limits | {"wildcards": True}}
            )
            for key, name, limits in (
                (self._account, "exchange", unlimited | storage),
                (system, "system", unlimited),
            )
        }
        operator = {"type": "operator", "version": 2, "system_account": system.public}
        self.configuration: dict[str, Any] = {
            "operator": signed_claims(self._key, self._key.public, "operator", operator),
            "system_account": system.public,
            "resolver": "MEMORY",
            "resolver_preload": accounts,
        }

    def credentials(self, user: Nkey | None = None) -> str:
        """The text of a credentials file of a new user."""
        key = user or new_nkey(USER)
        claims = {"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1}
        jwt = signed_claims(self._account, key.public, "openspot", claims)
        return (
            f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{key.seed}\n------END USER NKEY SEED------\n"
        )


class Certificates:
    """An authority with a server certificate of 127.0.0.1 and client certificates, as files in `folder`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._authority = trustme.CA()
        self.authority = folder / "ca.pem"
        self._authority.cert_pem.write_to_path(str(self.authority))
        self.server, self.server_key = self._files("server", self._authority.issue_cert("127.0.0.1", "localhost"))
        self.client, self.client_key = self._files("client", self._authority.issue_cert("services@example.com"))
        self.client_with_key = folder / "client-with-key.pem"
        self.client_with_key.write_bytes(self.client.read_bytes() + self.client_key.read_bytes())

    def _files(self, name: str, certificate: trustme.LeafCert) -> tuple[Path, Path]:
        chain, key = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        chain.write_bytes(b"".join(part.bytes() for part in certificate.cert_chain_pems))
        certificate.private_key_pem.write_to_path(str(key))
        return chain, key

    def of_server(self, *, ask_clients: bool) -> NatsTls:
        """What a server is configured with."""
        return NatsTls(self.server, self.server_key, self.authority if ask_clients else None)
