"""Web Push without a push service: encryption against the example of its RFC, signature, and where it may go."""

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from pydantic import ValidationError

from openspot.http.context import Identity
from openspot.http.ended_sessions import SessionOverError
from openspot.http.errors import HttpError
from openspot.http.policy import Access
from openspot.kit.secrets_file import with_secrets
from openspot.rest_edge.push.encryption import MESSAGE_BYTES_MAX, BadDeviceKeyError, DeviceKeys, encrypted
from openspot.rest_edge.push.endpoints import endpoint_fault, is_public
from openspot.rest_edge.push.queue import PushMessage, QueuedPush
from openspot.rest_edge.push.schemas import PushKeysBody, PushSubscriptionBody
from openspot.rest_edge.push.sender import content_of, topic_of
from openspot.rest_edge.push.service import DeviceService, PushServices, make_push_services
from openspot.rest_edge.push.settings import KNOWN_PUSH_HOSTS, PushSettings
from openspot.rest_edge.push.subscriptions import TooManyDevicesError
from openspot.rest_edge.push.transport import RETRY_AFTER_MAX_S, retry_after_s
from openspot.rest_edge.push.vapid import BadPushKeyError, PushKey, contact_of
from tests.support.push_service import Device, decoded, encoded

# The example of RFC 8291, appendix A.
RFC_MESSAGE = b"When I grow up, I want to be a watermelon"
RFC_SENDER_KEY = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
RFC_DEVICE_KEY = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
RFC_DEVICE_POINT = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
RFC_SECRET = "BTBZMqHH6r4Tts7J_aSIgg"
RFC_SALT = "DGv6ra1nlYgDCS1FRnbzlw"
RFC_BODY = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl"
    "7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def private(text: str) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(decoded(text), "big"), ec.SECP256R1())


def test_a_message_is_closed_as_the_example_of_its_standard() -> None:
    keys = DeviceKeys(decoded(RFC_DEVICE_POINT), decoded(RFC_SECRET))
    body = encrypted(RFC_MESSAGE, keys, decoded(RFC_SALT), private(RFC_SENDER_KEY))
    assert encoded(body) == RFC_BODY
    assert Device(private(RFC_DEVICE_KEY), decoded(RFC_SECRET)).opened(body) == RFC_MESSAGE


def test_messages_of_different_lengths_have_one_size_and_fit_what_push_services_take() -> None:
    device = Device()
    keys, key = DeviceKeys(device.public_key, device.secret), ec.generate_private_key(ec.SECP256R1())
    bodies = [encrypted(message, keys, bytes(16), key, 2048) for message in (b"a", b"a" * 2000)]
    assert len({len(body) for body in bodies}) == 1
    assert [device.opened(body) for body in bodies] == [b"a", b"a" * 2000]
    assert len(encrypted(bytes(MESSAGE_BYTES_MAX), keys, bytes(16), key)) == 4096
    with pytest.raises(ValueError, match="at most"):
        encrypted(bytes(MESSAGE_BYTES_MAX + 1), keys, bytes(16), key)


@pytest.mark.parametrize(
    "public_key, secret",
    [(b"\x04" + bytes(64), bytes(16)), (b"\x04", bytes(16)), (decoded(RFC_DEVICE_POINT), bytes(15))],
)
def test_keys_of_a_device_that_are_none_are_refused(public_key: bytes, secret: bytes) -> None:
    with pytest.raises(BadDeviceKeyError, match="must"):
        DeviceKeys(public_key, secret).point()


def test_a_generated_key_signs_for_the_push_service_alone(tmp_path: Path) -> None:
    settings = with_secrets(PushSettings(data_dir=tmp_path))
    assert with_secrets(PushSettings(data_dir=tmp_path)).push_key == settings.push_key
    assert (tmp_path / "secrets.json").stat().st_mode & 0o077 == 0
    key = PushKey(settings.push_key, contact_of(settings.push_contact, "OpenSpot <mail@example.org>"))
    scheme, _, parts = key.authorization("https://push.example/a?b", 1_000_000_000).partition(" ")
    token = parts.removeprefix("t=").partition(",")[0]
    assert scheme == "vapid"
    assert parts.endswith(f"k={key.public_key}")
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(key.public_key))
    options = {"verify_exp": False}
    claims = jwt.decode(token, point, algorithms=["ES256"], audience="https://push.example", options=options)
    assert claims["sub"] == "mailto:mail@example.org"
    assert 0 < claims["exp"] - 1_000_000_000 <= 86_400


@pytest.mark.parametrize("text", ["", "short", "!" * 43, "A" * 43, encoded(b"\xff" * 32)])
def test_a_setting_that_is_no_private_key_is_named(text: str) -> None:
    with pytest.raises(BadPushKeyError, match="OPENSPOT_PUSH_KEY"):
        PushKey(text, "mailto:mail@example.org")


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://fcm.googleapis.com/fcm/send/abc",
        "https://updates.push.services.mozilla.com/wpush/v2/abc",
        "https://web.push.apple.com/abc",
        "https://wns2-par02p.notify.windows.com/w/?token=abc",
        "https://fcm.googleapis.com:443/abc",
    ],
)
def test_push_services_of_the_known_browsers_are_taken(endpoint: str) -> None:
    assert endpoint_fault(endpoint, KNOWN_PUSH_HOSTS, allows_private=False) is None


@pytest.mark.parametrize(
    "endpoint, reason",
    [
        ("http://fcm.googleapis.com/abc", "https://"),
        ("https:///abc", "host"),
        ("https://fcm.googleapis.com:8443/abc", "port"),
        ("https://fcm.googleapis.com:99999/abc", "address"),
        ("https://user@fcm.googleapis.com/abc", "user"),
        ("https://fcm.googleapis.com\\@inside/abc", "backslash"),
        ("https://fcm.googleapis.com/abc#part", "fragment"),
        ("https://fcm.googleapis.com.evil.example/abc", "push service"),
        ("https://evilpush.apple.com/abc", "push service"),
        ("https://push.apple.com/abc", "push service"),
        ("https://localhost/abc", "public host"),
        ("https://127.0.0.1/abc", "public host"),
        ("https://2130706433/abc", "public host"),
        ("https://0x7f000001/abc", "public host"),
        ("https://127.1/abc", "public host"),
        ("https://evil%2f.push.apple.com/abc", "public host"),
        ("https://[::1]/abc", "public host"),
        ("https://fcm.googleapis.com/a b", "ASCII"),
        ("https://fcm.googleapis.com/\r\nHost: x", "ASCII"),
        ("https://fcm.googleapis.com/" + "a" * 2048, "2048"),
    ],
)
def test_an_endpoint_elsewhere_is_refused_with_the_reason(endpoint: str, reason: str) -> None:
    assert reason in str(endpoint_fault(endpoint, KNOWN_PUSH_HOSTS, allows_private=False))


def test_every_public_host_is_taken_only_where_the_operator_says_so() -> None:
    assert endpoint_fault("https://push.example/abc", "*", allows_private=False) is None
    assert endpoint_fault("https://localhost:8443/abc", "*", allows_private=True) is None
    assert endpoint_fault("https://push.example/abc", "", allows_private=False)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "::", "::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "2002:7f00:1::",
        "64:ff9b::7f00:1", "no address",
    ],
)  # fmt: skip
def test_an_address_inside_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["142.250.185.74", "2a00:1450:4001:830::200a", "::ffff:142.250.185.74"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


def test_a_long_text_is_cut_so_that_it_can_be_sent() -> None:
    for text in ("short", '"' * 4000, "€" * 4000, "\n" * 4000):
        message = PushMessage("x" * 200, "order.filled", "€" * 200, text)
        time = datetime(2026, 1, 2, tzinfo=UTC)
        content = content_of(QueuedPush(1, "s", 1, time, message, "https://x.y/z", DeviceKeys(b"", b"")))
        assert len(content) <= MESSAGE_BYTES_MAX
        shown = json.loads(content)["text"]
        assert text.startswith(shown.removesuffix("…"))
        assert (shown == text) == (text == "short")


def test_a_topic_is_one_for_a_notification_and_tells_nothing_of_it() -> None:
    assert topic_of("order.filled:1") == topic_of("order.filled:1") != topic_of("order.filled:2")
    assert len(topic_of("order.filled:1")) == 32
    assert "order" not in topic_of("order.filled:1")


@pytest.mark.parametrize(
    "header, seconds",
    [("120", 120.0), ("9" * 30, RETRY_AFTER_MAX_S), ("", None), ("-1", None), ("Fri, 31 Dec 1999 23:59:59 GMT", None)],
)
def test_a_pause_that_a_push_service_asks_for_is_bounded(header: str, seconds: float | None) -> None:
    assert retry_after_s(header) == seconds


class Frame:
    """Keeps the names of what would run in the background."""

    def __init__(self) -> None:
        self.started: list[str] = []

    def start(self, name: str, work: Any, **_: Any) -> None:
        work.close()
        self.started.append(name)

    def at_end(self, end: Any) -> None:
        """Nothing is ended: nothing runs."""


def services_with(data_dir: Path, **given: Any) -> tuple[PushServices, list[str]]:
    frame: Any = Frame()
    settings = with_secrets(PushSettings(data_dir=data_dir, **given))
    return make_push_services(settings, "OpenSpot <mail@example.org>", MagicMock(), frame), frame.started


async def test_an_exchange_without_push_services_sends_nothing_and_takes_no_device(tmp_path: Path) -> None:
    services, started = services_with(tmp_path, push_hosts=" ")
    assert "push to devices" not in started
    assert services.devices.public_key is None
    body = PushSubscriptionBody.model_validate(Device().body("https://push.example/x"))
    with pytest.raises(HttpError, match="notifies no devices") as refusal:
        await services.devices.add(Identity("ada", Access.USER, session_id="s"), body)
    assert (refusal.value.status_code, refusal.value.code) == (409, "PUSH_OFF")


async def test_private_addresses_are_taken_only_where_a_setting_allows_them(tmp_path: Path) -> None:
    body = PushSubscriptionBody.model_validate(Device().body("https://localhost:8443/x"))
    caller = Identity("ada", Access.USER, session_id="s")
    refusing, started = services_with(tmp_path, push_hosts="*")
    assert "push to devices" in started
    with pytest.raises(HttpError) as refusal:
        await refusing.devices.add(caller, body)
    assert refusal.value.code == "VALIDATION_FAILED"
    taking, _ = services_with(tmp_path, push_hosts="*", push_private_addresses=True)
    with pytest.raises(HttpError) as refusal:
        await taking.devices.add(caller, body.model_copy(update={"keys": PushKeysBody(p256dh="AAAA", auth="AAAA")}))
    # The endpoint passes: it is the keys that are none.
    assert "keys" in str(refusal.value.message)


@pytest.mark.parametrize("given", [{"push_queue_max": 0}, {"push_contact": "operator@example.org"}])
def test_a_setting_out_of_bounds_is_refused_by_name(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(given))):
        PushSettings(**given)


class Devices:
    """Subscriptions of a user, which refuse a new one with an error."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def add(self, *_: Any) -> Any:
        raise self._error

    async def all_of(self, _: str) -> list[Any]:
        return [SimpleNamespace(subscription_id="d1")]


@pytest.mark.parametrize(
    "error, code", [(TooManyDevicesError(), "TOO_MANY_DEVICES"), (SessionOverError(), "SESSION_OVER")]
)
async def test_a_device_that_cannot_be_added_is_refused_with_the_reason(error: Exception, code: str) -> None:
    devices: Any = Devices(error)
    service = DeviceService(MagicMock(), devices, MagicMock(), lambda _: None, "key")
    body = PushSubscriptionBody.model_validate(Device().body("https://push.example/x"))
    with pytest.raises(HttpError) as refusal:
        await service.add(Identity("ada", Access.USER, session_id="s"), body)
    assert (refusal.value.status_code, refusal.value.code) == (409, code)


async def test_a_test_for_a_device_with_too_much_waiting_is_refused() -> None:
    devices: Any = Devices(SessionOverError())
    pool, queue = MagicMock(fetchval=AsyncMock(return_value="de")), MagicMock(add=AsyncMock(return_value=0))
    # An error inside passes on, as with a real connection.
    connection = MagicMock()
    pool.acquire.return_value.__aenter__.return_value = connection
    for block in (pool.acquire.return_value, connection.transaction.return_value):
        block.__aexit__.return_value = False
    service = DeviceService(pool, devices, queue, lambda _: None, "key")
    with pytest.raises(HttpError) as refusal:
        await service.test("ada", "d1")
    assert (refusal.value.status_code, refusal.value.code) == (409, "PUSH_QUEUE_FULL")
    assert queue.add.await_args.args[1].title == "Test der Mitteilungen"
    with pytest.raises(HttpError) as refusal:
        await service.test("ada", "of another")
    assert refusal.value.code == "PUSH_SUBSCRIPTION_NOT_FOUND"
