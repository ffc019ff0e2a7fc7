"""Proving to a NATS server who we are: passwords with any characters, tokens, nkeys, credentials files, TLS."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import BalanceUpdated
from openspot.kit.bus import Bus, BusUnavailableError
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.nats_configuration import NatsConfiguration, NatsUser
from openspot.up.services import PlatformSettings
from tests.support.nats_accounts import USER, Certificates, Operator, new_nkey
from tests.support.ports import free_port
from tests.support.waiting import stretched

StartServer = Callable[[NatsConfiguration], EmbeddedNats]
EVENT = BalanceUpdated("u1", "BTC", "1", "0", "t1", 1)
SUBJECT = subjects.of_user(subjects.BALANCES_UPDATED, "u1")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[StartServer]:
    """Starts NATS servers, which end with the test."""
    servers: list[EmbeddedNats] = []

    def start_server(configuration: NatsConfiguration) -> EmbeddedNats:
        server = EmbeddedNats(tmp_path / f"nats-{len(servers)}", free_port(), configuration=configuration)
        server.start()
        servers.append(server)
        return server

    yield start_server
    for server in servers:
        server.stop()


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    """Certificates of this test."""
    return Certificates(tmp_path / "certificates")


def at(url: str, **options: str) -> Settings:
    return PlatformSettings(nats_url=url, **options)


async def works(settings: Settings) -> bool:
    """Whether a service can do everything that it does on the bus."""
    bus = await asyncio.wait_for(Bus.connect(settings, "test"), stretched(30))
    try:
        await bus.ensure_streams()
        await bus.publish(SUBJECT, EVENT, "m1")
        await bus.key_value("points", bytes).put("a", b"x")
        await bus.check()
    finally:
        await bus.close()
    return True


async def refusal_of(settings: Settings) -> str:
    """Why the connection is refused. It is refused soon: nobody waits for a better answer."""
    with pytest.raises(BusUnavailableError) as refused:
        await asyncio.wait_for(Bus.connect(settings, "test"), stretched(30))
    return str(refused.value)


PASSWORDS = ["p@ss:w/rd", "100%?&#=+ ", "ünï çödé", "a%40b", "[::1]", "user:pass@host:4222/x"]


@pytest.mark.parametrize("password", PASSWORDS)
async def test_a_password_may_have_any_characters_percent_encoded(start: StartServer, password: str) -> None:
    server = start(NatsConfiguration(users=(NatsUser("openspot@exchange", password),)))
    login = f"{quote('openspot@exchange', safe='')}:{quote(password, safe='')}"
    assert await works(at(f"nats://{login}@127.0.0.1:{server.port}"))
    wrong = f"{quote('openspot@exchange', safe='')}:{quote(password + 'x', safe='')}"
    assert "refuses these credentials" in await refusal_of(at(f"nats://{wrong}@127.0.0.1:{server.port}"))


async def test_a_token_may_have_any_characters_too(start: StartServer) -> None:
    server = start(NatsConfiguration(further={"authorization": {"token": "t0k/en@:"}}))
    assert await works(at(f"nats://{quote('t0k/en@:', safe='')}@127.0.0.1:{server.port}"))
    assert "refuses these credentials" in await refusal_of(at(f"nats://other@127.0.0.1:{server.port}"))


async def test_addresses_of_a_cluster_share_their_credentials(start: StartServer) -> None:
    server = start(NatsConfiguration(users=(NatsUser("u", "p@"),)))
    address = f"127.0.0.1:{server.port}"
    assert await works(at(f"nats://127.0.0.1:{free_port()},nats://u:p%40@{address}"))
    reason = await refusal_of(at(f"nats://u:p%40@{address},nats://v:q@{address}"))
    assert reason == "NATS_URL: all addresses must have the same user and password"


async def test_an_nkey_is_let_in_and_another_is_not(start: StartServer) -> None:
    key = new_nkey(USER)
    server = start(NatsConfiguration(users=(NatsUser(nkey=key.public),)))
    assert await works(at(server.url, nats_nkey_seed=key.seed))
    assert "refuses these credentials" in await refusal_of(at(server.url, nats_nkey_seed=new_nkey(USER).seed))
    assert "refuses these credentials" in await refusal_of(at(server.url))
    assert await refusal_of(at(server.url, nats_nkey_seed="SUNONSENSE")) == (
        "OPENSPOT_NATS_NKEY_SEED is not the seed of an nkey"
    )


async def test_a_credentials_file_is_let_in_and_that_of_another_operator_is_not(
    start: StartServer, tmp_path: Path
) -> None:
    operator = Operator()
    server = start(NatsConfiguration(further=operator.configuration))
    for name, text in (("ours", operator.credentials()), ("theirs", Operator().credentials()), ("empty", "")):
        (tmp_path / name).write_text(text)
    assert await works(at(server.url, nats_credentials_file=str(tmp_path / "ours")))
    theirs = at(server.url, nats_credentials_file=str(tmp_path / "theirs"))
    assert "refuses these credentials" in await refusal_of(theirs)
    assert "refuses these credentials" in await refusal_of(at(server.url))
    empty = await refusal_of(at(server.url, nats_credentials_file=str(tmp_path / "empty")))
    assert empty.startswith("OPENSPOT_NATS_CREDENTIALS_FILE: ")
    missing = await refusal_of(at(server.url, nats_credentials_file=str(tmp_path / "missing")))
    assert missing.startswith("OPENSPOT_NATS_CREDENTIALS_FILE cannot be read: ")


async def test_a_server_that_speaks_tls_must_be_vouched_for(
    start: StartServer, certificates: Certificates, tmp_path: Path
) -> None:
    tls = certificates.of_server(ask_clients=False)
    server = start(NatsConfiguration(tls=tls, users=(NatsUser("u", "p"),)))
    url = f"nats://u:p@127.0.0.1:{server.port}"
    assert await works(at(url, nats_ca_file=str(certificates.authority)))
    others = Certificates(tmp_path / "others")
    assert "no TLS connection" in await refusal_of(at(url, nats_ca_file=str(others.authority)))
    assert "no TLS connection" in await refusal_of(at(url))


@pytest.mark.parametrize("in_one_file", [False, True])
async def test_a_server_that_asks_for_a_certificate_gets_ours(
    start: StartServer, certificates: Certificates, in_one_file: bool
) -> None:
    server = start(NatsConfiguration(tls=certificates.of_server(ask_clients=True)))
    ours = (
        {"nats_certificate_file": str(certificates.client_with_key)}
        if in_one_file
        else {"nats_certificate_file": str(certificates.client), "nats_key_file": str(certificates.client_key)}
    )
    assert await works(at(server.url, nats_ca_file=str(certificates.authority), **ours))


async def test_without_a_certificate_the_server_that_asks_for_one_refuses(
    start: StartServer, certificates: Certificates
) -> None:
    server = start(NatsConfiguration(tls=certificates.of_server(ask_clients=True)))
    assert "no TLS connection" in await refusal_of(at(server.url, nats_ca_file=str(certificates.authority)))


@pytest.mark.parametrize("scheme", ["nats", "tls"])
async def test_if_tls_is_asked_for_a_password_never_crosses_in_the_clear(
    certificates: Certificates, scheme: str
) -> None:
    """A server that pretends to know no TLS is told nothing, and the service does not start."""
    heard = bytearray()

    async def pretend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"server_id":"x","version":"2.15.1","max_payload":1048576,"auth_required":true}\r\n')
        while chunk := await reader.read(4096):
            heard.extend(chunk)
            writer.write(b"PONG\r\n")
        writer.close()

    listener = await asyncio.start_server(pretend, "127.0.0.1", free_port())
    port = listener.sockets[0].getsockname()[1]
    url = f"{scheme}://openspot:very-secret@127.0.0.1:{port}"
    authority = "" if scheme == "tls" else str(certificates.authority)
    assert "the server does not speak TLS" in await refusal_of(at(url, nats_ca_file=authority))
    assert b"very-secret" not in heard
    listener.close()


async def test_files_that_cannot_be_used_are_named(certificates: Certificates, tmp_path: Path) -> None:
    (tmp_path / "nonsense").write_text("no certificate")
    for options in (
        {"nats_ca_file": str(tmp_path / "missing")},
        {"nats_ca_file": str(tmp_path / "nonsense")},
        {"nats_certificate_file": str(certificates.client)},
        {"nats_certificate_file": str(certificates.client), "nats_key_file": str(certificates.server_key)},
    ):
        assert "OPENSPOT_NATS_CA_FILE, OPENSPOT_NATS_CERTIFICATE_FILE" in await refusal_of(
            at(f"nats://127.0.0.1:{free_port()}", **options)
        )
