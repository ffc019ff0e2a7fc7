"""API keys: signatures, networks, secrets at rest, and which signed requests are taken."""

import asyncio
import base64
import hashlib
import hmac
from typing import Any

import pytest
from limits.errors import StorageError
from limits.storage import storage_from_string
from nacl.signing import SigningKey
from starlette.responses import Response

from openspot.http.api_keys import checker as checker_module
from openspot.http.api_keys import replays
from openspot.http.api_keys.authenticator import ApiKeys
from openspot.http.api_keys.checker import NOT_VALID, ApiKeyChecker, SignedRequest
from openspot.http.api_keys.networks import AllowedNetworks
from openspot.http.api_keys.replays import MemoryReplays, SharedReplays
from openspot.http.api_keys.signature import (
    REPLAY_S,
    WINDOW_MS,
    Algorithm,
    PublicKeyError,
    read_public_key,
    signed_text,
    timestamp_fault,
    verified,
)
from openspot.http.api_keys.vault import Vault
from openspot.http.app import make_http_app
from openspot.http.authentication import CredentialsError, opens
from openspot.http.context import BodyLimits, RequestContext
from openspot.http.errors import HttpError
from openspot.http.policy import Access, Policy, Scope, ThrottleClass
from openspot.http.routing import Router
from openspot.http.throttle import MemoryThrottle, Tier
from openspot.kit.health import Health
from openspot.kit.sealing import UnsealError
from tests.support.asgi import ask
from tests.support.signed_requests import KeysInMemory, Signer

NOW_MS = 1_800_000_000_000


class Clock:
    """A clock that a test moves, in seconds."""

    def __init__(self) -> None:
        self.now = NOW_MS / 1000

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys() -> KeysInMemory:
    return KeysInMemory()


@pytest.fixture
def checker(keys: KeysInMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> ApiKeyChecker:
    store: Any = keys
    return ApiKeyChecker(store, keys.vault, MemoryReplays(clock), clock, clock)


def signed(signer: Signer, *, method: str = "GET", target: str = "/x", body: bytes = b"", at: int = NOW_MS,
           address: str = "198.51.100.1") -> SignedRequest:  # fmt: skip
    headers = signer.headers(method, target, body, at)
    return SignedRequest(
        headers["x-api-key"], headers["x-api-timestamp"], headers["x-api-signature"], method, target.encode(), body,
        address,
    )  # fmt: skip


async def refusal(checker: ApiKeyChecker, request: SignedRequest) -> str:
    with pytest.raises(CredentialsError) as caught:
        await checker.check(request)
    return str(caught.value)


# The rules


@pytest.mark.spec("A5-17")
def test_the_signed_text_is_timestamp_method_path_with_query_and_body() -> None:
    text = signed_text("1800000000000", "POST", b"/api/v1/orders?a=b", b'{"x": 1}')
    assert text == b'1800000000000POST/api/v1/orders?a=b{"x": 1}'
    # Computed without our code: openssl dgst -sha256 -hmac secret.
    signature = hmac.new(b"secret", text, hashlib.sha256).hexdigest()
    assert verified(Algorithm.HMAC_SHA256, b"secret", text, signature) == bytes.fromhex(signature)
    assert verified(Algorithm.HMAC_SHA256, b"secret", text, signature.upper()) == bytes.fromhex(signature)
    assert verified(Algorithm.HMAC_SHA256, b"other", text, signature) is None
    assert verified(Algorithm.HMAC_SHA256, b"secret", text + b" ", signature) is None


def test_an_hmac_with_a_public_key_as_its_secret_is_no_ed25519_signature() -> None:
    key = SigningKey.generate()
    public = bytes(key.verify_key)
    forged = hmac.new(public, b"text", hashlib.sha256).hexdigest()
    assert verified(Algorithm.ED25519, public, b"text", forged) is None
    genuine = base64.b64encode(key.sign(b"text").signature).decode()
    assert verified(Algorithm.ED25519, public, b"text", genuine) is not None
    assert verified(Algorithm.ED25519, public, b"texts", genuine) is None


@pytest.mark.parametrize("signature", ["", "zz", "00" * 31, "00" * 33, "é" * 64, "AAAA", "=" * 88, "\x00"])
def test_a_malformed_signature_is_only_wrong(signature: str) -> None:
    assert verified(Algorithm.HMAC_SHA256, b"secret", b"text", signature) is None
    public = bytes(SigningKey.generate().verify_key)
    assert verified(Algorithm.ED25519, public, b"text", signature) is None


@pytest.mark.spec("A5-17")
@pytest.mark.parametrize("offset", [-WINDOW_MS, -1, 0, WINDOW_MS])
def test_a_timestamp_within_five_seconds_is_taken(offset: int) -> None:
    assert WINDOW_MS == 5_000
    assert timestamp_fault(str(NOW_MS + offset), NOW_MS) is None


@pytest.mark.parametrize(
    "text", [str(NOW_MS - 5_001), str(NOW_MS + 5_001), "", "-1", "1e12", "１８００", str(NOW_MS) + ".0", "9" * 40]
)
def test_any_other_timestamp_is_refused(text: str) -> None:
    assert timestamp_fault(text, NOW_MS) is not None


def test_a_public_key_comes_as_pem_as_its_content_or_as_the_bytes() -> None:
    public = bytes(SigningKey.generate().verify_key)
    info = base64.b64encode(bytes.fromhex("302a300506032b6570032100") + public).decode()
    pem = f"-----BEGIN PUBLIC KEY-----\n{info}\n-----END PUBLIC KEY-----\n"
    for text in (pem, info, base64.b64encode(public).decode()):
        assert read_public_key(text) == public
    # The point of order one signs anything: libsodium knows it.
    for bad in ("", "not base64!", base64.b64encode(b"short").decode(), base64.b64encode(b"\x01" + bytes(31)).decode()):
        with pytest.raises(PublicKeyError):
            read_public_key(bad)


@pytest.mark.parametrize(
    ("address", "admitted"),
    [("203.0.113.7", True), ("203.0.114.7", False), ("::ffff:203.0.113.7", True), ("2001:db8::1", True),
     ("2001:db9::1", False), ("", False), ("nonsense", False)],
)  # fmt: skip
def test_a_key_is_good_from_its_networks_only(address: str, admitted: bool) -> None:
    networks = AllowedNetworks(["203.0.113.0/24", "2001:db8::/32"])
    assert [networks.admit(address) for _ in range(2)] == [admitted, admitted]
    assert AllowedNetworks([]).admit(address)


def test_a_stored_secret_is_useless_without_the_vaults_own() -> None:
    vault, other = Vault("a" * 32), Vault("b" * 32)
    key_id = vault.make_id(bytes(range(16)))
    sealed = vault.seal(key_id, b"the secret")
    assert b"the secret" not in sealed
    assert vault.open(key_id, sealed) == b"the secret"
    assert vault.seal(key_id, b"the secret") != sealed
    another_id = vault.make_id(b"x" * 16)
    for box, name, content in ((other, key_id, sealed), (vault, another_id, sealed), (vault, key_id, sealed[:-1])):
        with pytest.raises(UnsealError):
            box.open(name, content)
    assert vault.made(key_id) and not other.made(key_id)
    assert not vault.made(key_id[:-1] + ("2" if key_id[-1] != "2" else "3"))


def test_a_key_outlives_the_sealing_secret_under_which_it_was_made() -> None:
    old, strange = Vault("a" * 32), Vault("c" * 32)
    key_id = old.make_id(bytes(range(16)))
    rotated = Vault("b" * 32, "a" * 32)
    assert rotated.made(key_id)
    assert rotated.make_id(bytes(range(16))) != key_id
    assert rotated.open(key_id, old.seal(key_id, b"the secret")) == b"the secret"
    # Without the former secret, what the rotated vault has kept is enough to know the id.
    later = Vault("b" * 32)
    assert not later.made(key_id)
    later.learn(strange.sealed_tag_keys().items())
    later.learn(rotated.sealed_tag_keys().items())
    assert later.made(key_id)
    assert not later.made(strange.make_id(bytes(range(16))))


# The decision


@pytest.mark.spec("A5-12", "A5-17")
@pytest.mark.parametrize("secret", [None, SigningKey(b"s" * 32)], ids=["hmac", "ed25519"])
async def test_a_signed_request_speaks_for_the_owner_of_the_key(
    keys: KeysInMemory, checker: ApiKeyChecker, secret: Any
) -> None:
    signer = keys.add(Scope.READ, Scope.TRADE, user_id="u7", secret=secret)
    key = await checker.check(signed(signer, method="POST", target="/orders?x=1", body=b"{}"))
    assert key.identity.user_id == "u7"
    assert key.identity.scopes == {Scope.READ, Scope.TRADE}
    assert key.identity.access == Access.USER


@pytest.mark.parametrize("secret", [None, SigningKey(b"s" * 32)], ids=["hmac", "ed25519"])
async def test_any_other_signature_is_refused(keys: KeysInMemory, checker: ApiKeyChecker, secret: Any) -> None:
    signer = keys.add(Scope.READ, secret=secret)
    good = signed(signer, method="POST", target="/a", body=b"{}")

    def changed(**parts: Any) -> SignedRequest:
        return SignedRequest(**{name: getattr(good, name) for name in SignedRequest.__slots__} | parts)

    for parts in (
        {"method": "PUT"}, {"target": b"/b"}, {"body": b"{ }"}, {"timestamp": str(NOW_MS + 1)},
        {"key_id": keys.add(Scope.READ).key_id}, {"key_id": "A" * 24}, {"key_id": ""}, {"key_id": "é" * 24},
        {"signature": ""},
    ):  # fmt: skip
        assert await refusal(checker, changed(**parts)) == NOT_VALID, parts
    await checker.check(good)


async def test_a_repeated_signature_is_refused_in_every_spelling(
    keys: KeysInMemory, checker: ApiKeyChecker, clock: Clock
) -> None:
    signer, public = keys.add(Scope.READ), keys.add(Scope.READ, secret=SigningKey(b"s" * 32))
    for request, spelled in (
        (signed(signer), str.upper),
        # The last letter of 88 holds two bits that no byte needs.
        (signed(public), lambda text: text[:-3] + chr(ord(text[-3]) + 1) + "=="),
    ):
        await checker.check(request)
        for signature in (request.signature, spelled(request.signature)):
            again = SignedRequest(request.key_id, request.timestamp, signature, "GET", b"/x", b"", request.address)
            assert await refusal(checker, again) in ("the signature was used before: sign each request anew", NOT_VALID)
    # As long as its timestamp can be taken, which may have been ahead of the clock by a whole window.
    early = signed(signer, at=NOW_MS + WINDOW_MS)
    await checker.check(early)
    clock.now += REPLAY_S
    assert "used before" in await refusal(checker, early)
    clock.now += 0.001
    assert "away from the server's time" in await refusal(checker, early)


async def test_signatures_are_forgotten_when_no_timestamp_of_theirs_is_taken(clock: Clock) -> None:
    memory = MemoryReplays(clock)
    for number in range(5):
        assert await memory.is_first("key", bytes([number]))
    clock.now += REPLAY_S + 1
    assert await memory.is_first("key", b"new")
    assert len(memory) == 1


async def test_a_full_memory_of_signatures_refuses_instead_of_forgetting(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "REMEMBERED_MAX", 2)
    memory = MemoryReplays(clock)
    assert await memory.is_first("key", b"1") and await memory.is_first("key", b"2")
    with pytest.raises(HttpError) as caught:
        await memory.is_first("key", b"3")
    assert caught.value.status_code == 503
    assert not await memory.is_first("key", b"1")


async def test_two_processes_that_share_a_store_take_a_signature_once() -> None:
    storage = storage_from_string("async+memory://")
    first, second = SharedReplays(storage), SharedReplays(storage)
    outcomes = await asyncio.gather(*(each.is_first("key", b"s") for each in (first, second, first)))
    assert sorted(outcomes) == [False, False, True]
    assert await second.is_first("other", b"s")


async def test_a_store_that_does_not_respond_lets_no_signed_request_in() -> None:
    class Silent:
        async def incr(self, *_: Any) -> int:
            raise StorageError(ConnectionError("refused"))

    memory = SharedReplays(Silent())
    with pytest.raises(HttpError) as caught:
        await memory.is_first("key", b"s")
    assert caught.value.status_code == 503


@pytest.mark.spec("A5-13", "A5-14")
async def test_a_rotated_or_revoked_key_stops_as_soon_as_it_is_dropped(
    keys: KeysInMemory, checker: ApiKeyChecker
) -> None:
    old = keys.add(Scope.READ)
    key = await checker.check(signed(old))
    new = keys.rotate(old.key_id, "another secret")
    checker.drop(old.key_id)
    assert await refusal(checker, signed(old, target="/2")) == NOT_VALID
    assert (await checker.check(signed(new, target="/3"))).version == 2
    assert not await checker.is_current(key)
    del keys.rows[old.key_id]
    checker.drop(old.key_id)
    assert await refusal(checker, signed(new, target="/4")) == NOT_VALID


async def test_a_key_that_changes_while_it_is_read_is_read_again(keys: KeysInMemory, checker: ApiKeyChecker) -> None:
    old = keys.add(Scope.READ)
    row, reading, go = keys.rows[old.key_id], asyncio.Event(), asyncio.Event()

    async def slow(key_id: str) -> Any:
        keys.reads += 1
        found = keys.rows.get(key_id)
        reading.set()
        await go.wait()
        return found

    keys.get = slow  # type: ignore[method-assign]
    checking = asyncio.create_task(checker.check(signed(old)))
    await reading.wait()
    keys.rotate(old.key_id, "another secret")
    checker.drop(old.key_id)
    go.set()
    with pytest.raises(CredentialsError):
        await checking
    assert (keys.reads, row.version) == (2, 1)


async def test_a_change_that_nobody_told_is_noticed_after_some_seconds(
    keys: KeysInMemory, checker: ApiKeyChecker, clock: Clock
) -> None:
    signer = keys.add(Scope.READ)
    for number in range(5):
        await checker.check(signed(signer, target=f"/{number}"))
    assert keys.reads == 1
    del keys.rows[signer.key_id]
    clock.now += checker_module.KEPT_S
    assert await refusal(checker, signed(signer, at=int(clock.now * 1000))) == NOT_VALID


async def test_made_up_ids_cause_no_look_up(keys: KeysInMemory, checker: ApiKeyChecker) -> None:
    for number in range(50):
        await refusal(checker, signed(Signer(f"{number:0>24}", "secret")))
    assert keys.reads == 0


async def test_uses_are_handed_over_once_and_come_back_if_they_could_not_be_written(
    keys: KeysInMemory, checker: ApiKeyChecker, clock: Clock
) -> None:
    signer = keys.add(Scope.READ)
    await checker.check(signed(signer))
    first = checker.take_uses()
    assert {key: time.timestamp() for key, time in first.items()} == {signer.key_id: NOW_MS / 1000}
    assert checker.take_uses() == {}
    clock.now += 1
    await checker.check(signed(signer, target="/2"))
    checker.give_back_uses(first)
    assert checker.take_uses()[signer.key_id].timestamp() == clock.now


# The request


def request(headers: dict[str, str], body: bytes = b"", *, takes_body: bool = True, **scope: Any) -> RequestContext:
    given = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    given.append((b"content-length", b"%d" % len(body)))

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    shown = {"type": "http", "method": "POST", "path": "/a b", "raw_path": b"/a%20b", "query_string": b"q=%C3%A9",
             "headers": given, "client": ("127.0.0.1", 1)} | scope  # fmt: skip
    context = RequestContext("r", shown, receive, BodyLimits(1000, 1.0))
    context.read_head()
    context.takes_body = takes_body
    return context


async def test_the_path_is_signed_as_it_was_sent(keys: KeysInMemory) -> None:
    signer = keys.add(Scope.READ)
    kind = ApiKeys(keys.checker())
    json = {"content-type": "application/json"}
    headers = signer.headers("POST", "/a%20b?q=%C3%A9", b"{}") | json
    identity = await kind.identify(request(headers, b"{}"))
    assert identity is not None and identity.user_id == "u1"
    with pytest.raises(CredentialsError, match="not valid"):
        await kind.identify(
            request(signer.headers("POST", "/a b?q=é".encode("ascii", "ignore").decode(), b"{}") | json, b"{}")
        )


async def test_a_body_that_the_route_does_not_read_is_not_let_in_unsigned(keys: KeysInMemory) -> None:
    signer = keys.add(Scope.READ)
    kind = ApiKeys(keys.checker())
    headers = signer.headers("POST", "/a%20b?q=%C3%A9")
    with pytest.raises(CredentialsError, match="must not have a body"):
        await kind.identify(request(headers, b"extra", takes_body=False))
    assert await kind.identify(request(headers, takes_body=False)) is not None


async def test_each_header_is_needed_and_given_once(keys: KeysInMemory) -> None:
    kind = ApiKeys(keys.checker())
    headers = keys.add(Scope.READ).headers("POST", "/a%20b?q=%C3%A9")
    for name in ("x-api-timestamp", "x-api-signature"):
        with pytest.raises(CredentialsError, match="needs X-API-Timestamp and X-API-Signature"):
            await kind.identify(request({key: value for key, value in headers.items() if key != name}))
    assert await kind.identify(request({})) is None
    twice = request(headers)
    twice.scope["headers"].append((b"x-api-key", b"other"))
    with pytest.raises(HttpError) as caught:
        await kind.identify(twice)
    assert caught.value.status_code == 400


# The pipeline


def small_app(keys: KeysInMemory, **options: Any) -> Any:
    router = Router()

    @router.post("/things", Policy(Access.USER, Scope.TRADE), summary="Takes a body")
    async def take(body: dict[str, int]) -> Response:
        return Response(b"taken")

    return make_http_app(
        [router], title="Test", health=Health(), authenticators=[ApiKeys(keys.checker())], body_bytes_max=100, **options
    )


async def test_a_signed_body_is_bounded_like_any_other_and_counts_at_the_throttle(keys: KeysInMemory) -> None:
    throttle = MemoryThrottle([Tier("short", 2, 60)])
    app = small_app(keys, throttles={ThrottleClass.STANDARD: throttle})
    signer, json = keys.add(Scope.TRADE), {"content-type": "application/json"}
    large = b" " * 200
    for body, headers, status in (
        (large, signer.headers("POST", "/things", large) | json, 413),
        (b"{}", signer.headers("POST", "/things", b"{}") | {"content-type": "text/plain"}, 415),
        (large, signer.headers("POST", "/things", large) | json, 429),
    ):
        assert (await ask(app, "POST", "/things", body, headers)).status == status


async def test_a_key_is_throttled_as_its_user(keys: KeysInMemory) -> None:
    throttle = MemoryThrottle([Tier("short", 2, 60)])
    app = small_app(keys, throttles={ThrottleClass.STANDARD: throttle})
    statuses = []
    for signer in (keys.add(Scope.TRADE), keys.add(Scope.TRADE), keys.add(Scope.TRADE)):
        headers = signer.headers("POST", "/things", b"{}") | {"content-type": "application/json"}
        statuses.append((await ask(app, "POST", "/things", b"{}", headers)).status)
    assert statuses == [200, 200, 429]


def test_the_routes_that_take_keys_say_so(keys: KeysInMemory) -> None:
    limited: Any = ApiKeys(keys.checker())
    assert opens(limited, Policy(Access.USER, Scope.READ))
    assert not opens(limited, Policy(Access.USER))
    assert not opens(limited, Policy(Access.ADMIN, Scope.READ))
