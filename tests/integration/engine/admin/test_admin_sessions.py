"""Logins, tokens and permissions (facts A5-23 to A5-29, B4.4-36 to B4.4-39)."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import jwt
import pytest

from openspot.kit.settings import Settings
from tests.support.admin_client import AdminClient, CallFailedError, Transport
from tests.support.engine_client import engine_settings, running_engine
from tests.support.waiting import eventually

ADMINISTRATION: tuple[tuple[str, dict[str, Any]], ...] = (
    ("GetExchangeStats", {}),
    ("ListParticipants", {}),
    ("GetParticipant", {"participantId": "admin"}),
    (
        "CreateParticipant",
        {
            "participantId": "eve",
            "password": "eves-password",
            "name": "",
            "type": "SUPER_ADMIN",
            "stpMode": "NONE",
        },
    ),
    ("ActivateParticipant", {"participantId": "admin"}),
    ("DeactivateParticipant", {"participantId": "admin"}),
    ("UpdateStpMode", {"participantId": "admin", "stpMode": "CANCEL_BOTH"}),
    ("ListOrders", {}),
    ("CancelOrderAdmin", {"orderId": "1"}),
    ("ListTrades", {}),
    ("ListBalances", {}),
    ("AdjustBalance", {"participantId": "eve", "currency": "USD", "amount": "1", "type": "DEPOSIT"}),
    ("ListRiskMetrics", {}),
    ("ListSymbols", {}),
)


async def participant(admin: AdminClient, participant_id: str, participant_type: str = "MAKER") -> None:
    answer = await admin.call(
        "CreateParticipant",
        participantId=participant_id,
        password=f"{participant_id}-password",
        name=participant_id.title(),
        type=participant_type,
        stpMode="NONE",
    )
    assert answer["success"], answer


async def refused(client: AdminClient, method: str, /, **fields: Any) -> CallFailedError:
    with pytest.raises(CallFailedError) as caught:
        await client.call(method, **fields)
    return caught.value


@pytest.mark.spec("B4.4-36", "A2.6-02")
async def test_the_first_administrator_logs_in(anybody: AdminClient) -> None:
    before = time.time_ns() // 1_000_000
    answer = await anybody.call("Login", participantId="admin", password="first-password")
    after = time.time_ns() // 1_000_000
    token, expires_at = answer.pop("token"), int(answer.pop("expiresAt"))
    assert answer == {"success": True, "error": "", "participantId": "admin", "name": "admin", "type": "SUPER_ADMIN"}
    lifetime_ms = anybody.engine.settings.admin_token_s * 1000
    assert before + lifetime_ms <= expires_at <= after + lifetime_ms
    assert len((await anybody.with_token(token).call("ListSymbols"))["symbols"]) == 12


_WRONG_LOGINS = (
    ("admin", "first-Password", "participantId or password is wrong"),
    ("nobody", "first-password", "participantId or password is wrong"),
    ("alice", "anything", "participantId or password is wrong"),  # came by a deposit: has no password
    ("house:fees", "anything", "participantId or password is wrong"),
    ("admin", "", "password must have 1 to 256 characters"),
    ("admin", "x" * 257, "password must have 1 to 256 characters"),
    ("", "first-password", "participantId must be 1 to 64 letters, digits or _ : -"),
    ("a b", "first-password", "participantId must be 1 to 64 letters, digits or _ : -"),
)


@pytest.mark.spec("B4.4-37", "A7-18")
async def test_a_wrong_login_gives_no_token(anybody: AdminClient) -> None:
    await anybody.engine.fund("alice", USD="1")
    for participant_id, password, error in _WRONG_LOGINS:
        assert await anybody.call("Login", participantId=participant_id, password=password) == {
            "success": False,
            "error": error,
            "token": "",
            "participantId": "",
            "name": "",
            "type": "",
            "expiresAt": "0",
        }


@pytest.mark.spec("A5-23", "B4.4-35")
async def test_administrative_methods_require_the_token_of_an_administrator(anybody: AdminClient) -> None:
    for method, fields in ADMINISTRATION:
        for token in ("", "x.y.z", "x" * 5000):
            assert (await refused(anybody.with_token(token), method, **fields)).status == "unauthenticated", method


@pytest.mark.spec("A5-27", "B4.4-38")
@pytest.mark.parametrize("participant_type", ["MAKER", "TAKER", "BOTH", "BROKER"])
async def test_participants_of_other_types_log_in_but_may_not_administer(
    admin: AdminClient, participant_type: str
) -> None:
    await participant(admin, "mallory", participant_type)
    mallory = await AdminClient(admin.engine, admin.transport).login("mallory", "mallory-password")
    assert await mallory.call("ValidateToken", token=mallory.token) == {
        "valid": True,
        "participantId": "mallory",
        "type": participant_type,
    }
    for method, fields in ADMINISTRATION:
        failure = await refused(mallory, method, **fields)
        assert failure.status == "permission_denied", method
        assert participant_type in failure.message
    # It may end its own session.
    assert (await mallory.call("Logout"))["success"]
    assert (await refused(mallory, "Logout")).status == "unauthenticated"


@pytest.mark.spec("A2.6-07", "A2.6-08")
@pytest.mark.parametrize("participant_type", ["SYSTEM", "SUPER_ADMIN"])
async def test_system_and_super_admin_administer(admin: AdminClient, participant_type: str) -> None:
    await participant(admin, "operator", participant_type)
    operator = await AdminClient(admin.engine, admin.transport).login("operator", "operator-password")
    await participant(operator, "made-by-operator")
    assert (await operator.call("GetParticipant", participantId="made-by-operator"))["success"]


@pytest.mark.spec("A5-28", "B4.4-39")
async def test_a_logout_revokes_this_token_and_no_other(admin: AdminClient) -> None:
    other = await AdminClient(admin.engine, admin.transport).login()
    assert other.token != admin.token
    assert await admin.call("Logout") == {"success": True, "error": ""}
    assert (await refused(admin, "ListSymbols")).status == "unauthenticated"
    assert (await refused(admin, "Logout")).message == "the session was ended"
    assert await other.call("ValidateToken", token=admin.token) == {"valid": False, "participantId": "", "type": ""}
    assert (await other.call("ValidateToken", token=other.token))["valid"]


@pytest.mark.spec("B4.4-39")
async def test_forged_tokens_are_refused(admin: AdminClient, settings: Settings) -> None:
    claims: Any = jwt.decode(admin.token, options={"verify_signature": False})
    secret = json.loads((settings.data_dir / "secrets.json").read_text("utf-8"))["admin_token_secret"]
    genuine = jwt.encode(claims, secret, "HS256")
    assert (await admin.call("ValidateToken", token=genuine))["valid"]
    forged = {
        "another secret": jwt.encode(claims, "another secret of thirty-two bytes", "HS256"),
        "no signature": jwt.encode(claims, None, "none"),
        "another algorithm": jwt.encode(claims, secret, "HS512"),
        "another journal": jwt.encode(claims | {"aud": "another"}, secret, "HS256"),
        "expired": jwt.encode(claims | {"expiresAt": 1}, secret, "HS256"),
        "a text for a time": jwt.encode(claims | {"expiresAt": "never"}, secret, "HS256"),
        "no time": jwt.encode({key: claims[key] for key in claims if key != "expiresAt"}, secret, "HS256"),
        "unknown participant": jwt.encode(claims | {"sub": "nobody"}, secret, "HS256"),
        "cut": admin.token[:-2],
        "empty": "",
        "a user's": jwt.encode({"sub": "admin", "exp": 2**40}, secret, "HS256"),
    }
    for what, token in forged.items():
        assert not (await admin.call("ValidateToken", token=token))["valid"], what
        assert (await refused(admin.with_token(token), "ListSymbols")).status == "unauthenticated", what


@pytest.mark.spec("A5-29")
async def test_a_token_is_valid_until_it_expires(tmp_path: Path, transport: Transport) -> None:
    settings = engine_settings(tmp_path, admin_password="first-password", admin_token_s=1)
    async with running_engine(settings) as engine:
        client = AdminClient(engine, transport)
        answer = await client.call("Login", participantId="admin", password="first-password")
        client.token, expires_ms = answer["token"], int(answer["expiresAt"])

        async def is_over() -> bool:
            asked_ms = time.time_ns() // 1_000_000
            valid: bool = (await client.call("ValidateToken", token=client.token))["valid"]
            assert valid or time.time_ns() // 1_000_000 >= expires_ms, "refused before its time"
            assert not valid or asked_ms < expires_ms, "taken after its time"
            return not valid

        assert not await is_over()
        await eventually(is_over, 10)
        assert (await refused(client, "ListSymbols")).message == "the token has expired"


async def test_a_deactivation_ends_sessions_for_good(admin: AdminClient) -> None:
    await participant(admin, "operator", "SYSTEM")
    operator = await AdminClient(admin.engine, admin.transport).login("operator", "operator-password")
    assert (await admin.call("DeactivateParticipant", participantId="operator"))["success"]
    failure = await refused(operator, "ListSymbols")
    assert (failure.status, failure.message) == ("unauthenticated", "the token's participant is not active")
    answer = await operator.call("Login", participantId="operator", password="operator-password")
    assert (answer["success"], answer["error"]) == (False, "participantId: operator is not active")
    assert (await operator.call("Login", participantId="operator", password="guessed"))["error"] == (
        "participantId or password is wrong"
    )
    assert (await admin.call("ActivateParticipant", participantId="operator"))["success"]
    assert (await refused(operator, "ListSymbols")).message == "the session was ended"
    again = await AdminClient(admin.engine, admin.transport).login("operator", "operator-password")
    assert (await again.call("ListSymbols"))["symbols"]


async def test_guesses_are_slowed_by_participant_and_by_address(anybody: AdminClient) -> None:
    async def guess(participant_id: str, password: str = "guess-of-a-password") -> dict[str, Any] | str:
        try:
            return await anybody.call("Login", participantId=participant_id, password=password)
        except CallFailedError as failure:
            assert failure.message.startswith("too many logins, try again in ")
            return failure.status

    # Ten failures from one address for any participant, then one every six seconds.
    started = time.monotonic()
    failures = 0
    while isinstance(await guess(f"somebody-{failures}"), dict):
        failures += 1
    assert 10 <= failures <= 10 + (time.monotonic() - started) / 6
    # Then even the right password is refused.
    assert await guess("admin", "first-password") == "resource_exhausted"


async def test_guesses_from_other_networks_do_not_lock_an_administrator_out(settings: Settings) -> None:
    behind_proxy = settings.model_copy(update={"trusted_proxies": "127.0.0.1"})

    async def log_in(client: AdminClient, address: str, password: str = "first-password") -> int:
        body = {"participantId": "admin", "password": password}
        status, answer = await client.post("Login", body, {"X-Forwarded-For": address})
        return status if status != 200 or answer["success"] else 401

    async def attack(client: AdminClient) -> list[int]:
        addresses = [f"203.0.113.{number}" for number in range(12)]
        return await asyncio.gather(*(log_in(client, address, "guess") for address in addresses for _ in range(5)))

    async with running_engine(behind_proxy) as engine:
        client = AdminClient(engine, "connect")
        assert await log_in(client, "198.51.100.7") == 200
        assert 429 in await attack(client)
        # A login from another network must wait now; one from a known network need not.
        assert await log_in(client, "192.0.2.1") == 429
        assert [await log_in(client, "198.51.100.7") for _ in range(3)] == [200] * 3
    # The same holds after a restart.
    async with running_engine(behind_proxy) as engine:
        client = AdminClient(engine, "connect")
        assert 429 in await attack(client)
        assert await log_in(client, "192.0.2.1") == 429
        assert await log_in(client, "198.51.100.7") == 200


async def test_logins_from_a_known_network_are_limited_too(anybody: AdminClient) -> None:
    right = {"participantId": "admin", "password": "first-password"}
    assert (await anybody.call("Login", **right))["success"]
    failures = 0
    started = time.monotonic()
    with pytest.raises(CallFailedError, match="too many logins"):
        while True:
            await anybody.call("Login", **(right | {"password": "guess"}))
            failures += 1
    assert 10 <= failures <= 10 + (time.monotonic() - started) / 6


async def test_a_forged_client_address_is_ignored(settings: Settings) -> None:
    async with running_engine(settings) as engine:
        client = AdminClient(engine, "connect")
        body = {"participantId": "nobody", "password": "guess"}
        statuses = [
            (await client.post("Login", body, {"X-Forwarded-For": f"203.0.113.{number}"}))[0] for number in range(14)
        ]
        # All came from one address, whatever their headers say.
        assert 429 in statuses


async def test_a_burst_of_guesses_is_limited(anybody: AdminClient) -> None:
    async def guess() -> bool:
        try:
            return bool(await anybody.call("Login", participantId="admin", password="guess-of-a-password"))
        except CallFailedError as failure:
            assert failure.status == "resource_exhausted"
            return False

    started = time.monotonic()
    tried = sum(await asyncio.gather(*(guess() for _ in range(60))))
    assert 10 <= tried <= 10 + (time.monotonic() - started) / 6


async def test_an_admin_token_opens_the_http_routes_of_symbols(admin: AdminClient) -> None:
    engine = admin.engine
    await participant(admin, "mallory")
    mallory = await AdminClient(engine, admin.transport).login("mallory", "mallory-password")
    path = "/api/v1/admin/currencies"
    bearer = {"Authorization": f"Bearer {admin.token}"}
    assert (await engine.request("POST", path, {"currency": "DOGE"}, bearer))[0] == 201
    assert (await engine.request("GET", f"{path}/DOGE", headers=bearer))[0] == 200
    for headers, status, code in (
        ({}, 401, "UNAUTHENTICATED"),
        ({"Authorization": "Bearer x"}, 401, "UNAUTHENTICATED"),
        ({"Authorization": admin.token}, 401, "UNAUTHENTICATED"),
        ({"Authorization": f"Bearer {mallory.token}"}, 403, "FORBIDDEN"),
    ):
        answered, body = await engine.request("GET", path, headers=headers)
        assert (answered, body["code"]) == (status, code), headers
    await admin.call("Logout")
    assert (await engine.request("GET", path, headers=bearer))[0] == 401
    assert (await engine.request("GET", path))[0] == 200  # the service headers
