"""What an edge remembers of API keys: how many keys, uses and addresses, which go first, and for how long."""

from datetime import UTC, datetime
from typing import Any

import pytest

from openspot.http.api_keys import checker as checker_module
from openspot.http.api_keys import networks as networks_module
from openspot.http.api_keys.authenticator import ApiKeys
from openspot.http.api_keys.checker import ApiKeyChecker, SignedRequest
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.api_keys.replays import MemoryReplays
from openspot.http.api_keys.store import ApiKeyRow
from openspot.http.api_keys.vault import Vault
from openspot.http.authentication import CredentialsError
from openspot.http.context import BodyLimits, RequestContext
from openspot.http.policy import Scope
from tests.support.signed_requests import KeysInMemory, Signer


class Clock:
    """A clock that a test moves, in seconds."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


class Keys(KeysInMemory):
    """Keys whose reads are written down, and during a read of which a test can do something."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []
        self.during_reads: list[Any] = []

    async def get(self, key_id: str) -> ApiKeyRow | None:
        self.read.append(key_id)
        row = await super().get(key_id)
        if self.during_reads:
            self.during_reads.pop(0)()
        return row


class Edge:
    """A checker, and its clock and keys."""

    def __init__(self) -> None:
        self.clock, self.keys = Clock(), Keys()
        store: Any = self.keys
        self.checker = ApiKeyChecker(store, self.keys.vault, MemoryReplays(self.clock), self.clock, self.clock)
        self._serial = 0

    async def check(self, signer: Signer, address: str = "198.51.100.1") -> Any:
        """Check a request that was not sent before."""
        self._serial += 1
        target = f"/{self._serial}"
        headers = signer.headers("GET", target, b"", int(self.clock.now * 1000))
        return await self.checker.check(
            SignedRequest(signer.key_id, headers["x-api-timestamp"], headers["x-api-signature"], "GET",
                          target.encode(), b"", address)
        )  # fmt: skip


@pytest.fixture
def edge() -> Edge:
    return Edge()


async def test_of_too_many_keys_the_one_that_was_read_first_is_read_again(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker_module, "KEPT_MAX", 2)
    a, b, c = (edge.keys.add(Scope.READ) for _ in range(3))
    await edge.check(a)
    edge.clock.now += 5
    await edge.check(b)
    # A key is read again ten seconds after it was read, and is then the newest.
    edge.clock.now += 4.5
    await edge.check(a)
    edge.clock.now += 0.5
    await edge.check(a)
    assert edge.keys.read == [a.key_id, b.key_id, a.key_id]
    await edge.check(c)
    assert edge.keys.read[3:] == [c.key_id]
    await edge.check(a)
    await edge.check(c)
    assert len(edge.keys.read) == 4
    await edge.check(b)
    assert edge.keys.read[4:] == [b.key_id]


async def test_a_key_that_changes_in_three_reads_running_is_taken_once_and_not_kept(edge: Edge) -> None:
    other, signer = edge.keys.add(Scope.READ), edge.keys.add(Scope.READ)
    edge.keys.during_reads = [lambda: edge.checker.drop(other.key_id) for _ in range(3)]
    assert (await edge.check(signer)).key_id == signer.key_id
    assert edge.keys.read == [signer.key_id] * 3
    await edge.check(signer)
    await edge.check(signer)
    assert edge.keys.read == [signer.key_id] * 4


async def test_a_row_that_was_read_before_the_second_change_is_not_believed_either(edge: Edge) -> None:
    old = edge.keys.add(Scope.READ)
    edge.checker.drop("some other key")

    def rotate() -> None:
        edge.keys.rotate(old.key_id, "another secret")
        edge.checker.drop(old.key_id)

    edge.keys.during_reads = [rotate]
    with pytest.raises(CredentialsError, match=r"^the API key or its signature is not valid$"):
        await edge.check(old)
    assert edge.keys.read == [old.key_id] * 2


async def test_a_key_is_current_until_it_is_rotated_or_gone(edge: Edge) -> None:
    signer = edge.keys.add(Scope.READ)
    key = await edge.check(signer)
    assert await edge.checker.is_current(key)
    edge.keys.rotate(signer.key_id, "another secret")
    edge.checker.drop(signer.key_id)
    assert not await edge.checker.is_current(key)
    del edge.keys.rows[signer.key_id]
    edge.checker.drop(signer.key_id)
    assert not await edge.checker.is_current(key)


async def test_a_key_whose_secret_cannot_be_opened_is_no_key(edge: Edge) -> None:
    signer = edge.keys.add(Scope.READ)
    edge.keys.rows[signer.key_id] = edge.keys.rows[edge.keys.add(Scope.READ).key_id]
    with pytest.raises(CredentialsError, match=r"^the API key or its signature is not valid$"):
        await edge.check(signer)


async def test_a_key_is_refused_from_other_addresses_by_name(edge: Edge) -> None:
    signer = edge.keys.add(Scope.READ, networks=("198.51.100.0/24",))
    await edge.check(signer, "198.51.100.255")
    with pytest.raises(CredentialsError) as refused:
        await edge.check(signer, "198.51.101.0")
    assert str(refused.value) == "the API key may not be used from 198.51.101.0"


async def test_the_uses_of_a_bounded_number_of_keys_wait_to_be_written(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker_module, "USES_MAX", 2)
    a, b, c = (edge.keys.add(Scope.READ) for _ in range(3))
    for signer in (a, b, c):
        await edge.check(signer)
    edge.clock.now += 1
    await edge.check(a)
    first, second = datetime(2027, 1, 15, 8, tzinfo=UTC), datetime(2027, 1, 15, 8, 0, 1, tzinfo=UTC)
    uses = edge.checker.take_uses()
    assert uses == {a.key_id: second, b.key_id: first}
    assert {time.tzinfo for time in uses.values()} == {UTC}
    edge.clock.now += 1
    await edge.check(c)
    edge.checker.give_back_uses(uses)
    assert edge.checker.take_uses() == {c.key_id: datetime(2027, 1, 15, 8, 0, 2, tzinfo=UTC), a.key_id: second}


def test_a_bounded_number_of_admitted_addresses_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks_module, "_ADMITTED_MAX", 2)
    networks = AllowedNetworks(["10.0.0.0/24"])
    for last in (1, 2, 2, 3):
        assert networks.admit(f"10.0.0.{last}")
    assert networks._admitted == {"10.0.0.1", "10.0.0.2"}


def test_ids_that_an_older_version_made_stay_known() -> None:
    vault = Vault("a" * 32)
    assert vault.make_id(bytes(range(16))) == "EnaJfbhC8degmKHtKhfGVgRX"
    assert vault.made("EnaJfbhC8degmKHtKhfGVgRX")
    for other in ("EnaJfbhC8degmKHtKhfGVgR", "EnaJfbhC8degmKHtKhfGVgRXX", "", "é" * 24):
        assert not vault.made(other)


def request(address: str, headers: dict[str, str], **scope: Any) -> RequestContext:
    """A request without a body from an address."""
    given = [(name.encode(), value.encode()) for name, value in headers.items()]
    shown = {"type": "http", "method": "GET", "path": "/a", "query_string": b"", "client": (address, 1),
             "headers": given} | scope  # fmt: skip
    receive: Any = None
    context = RequestContext("r", shown, receive, BodyLimits(1000, 1.0))
    context.read_head()
    return context


async def test_a_signed_request_is_refused_with_the_exact_reason(edge: Edge) -> None:
    signer = edge.keys.add(Scope.READ, networks=("198.51.100.7",))
    kind = ApiKeys(edge.checker)
    headers = signer.headers("GET", "/a", b"", int(edge.clock.now * 1000))
    identity = await kind.identify(request("198.51.100.7", headers))
    assert identity is not None and identity.user_id == "u1"
    body = {"content-length": "5"}
    for address, given, reason in (
        ("198.51.100.8", headers, "the API key may not be used from 198.51.100.8"),
        ("198.51.100.7", headers | body, "a signed request must not have a body that the route does not read"),
        ("198.51.100.7", {"x-api-key": signer.key_id}, "X-API-Key needs X-API-Timestamp and X-API-Signature"),
        ("198.51.100.7", headers, "the signature was used before: sign each request anew"),
    ):
        with pytest.raises(CredentialsError) as refused:
            await kind.identify(request(address, given))
        assert str(refused.value) == reason
