"""Refusals that say what is not there or not possible: status, code and the words that name it."""

import dataclasses
from collections.abc import Awaitable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from openspot.domain.market import load_markets
from openspot.domain.networks import load_networks
from openspot.http.errors import HttpError
from openspot.rest_edge.funds.fees.network_fees import NetworkFeeService, WithdrawalFees
from openspot.rest_edge.funds.kyc.rules import KycLevel, KycState, Standing
from openspot.rest_edge.funds.kyc.schemas import BasicInformationBody, StartBody
from openspot.rest_edge.funds.kyc.service import KycService
from openspot.rest_edge.funds.kyc.store import KycProfile
from openspot.rest_edge.identity.api_keys.service import ApiKeyService
from openspot.rest_edge.identity.second_factor.service import MfaService
from openspot.rest_edge.notifications.preference_service import NotificationPreferenceService
from openspot.rest_edge.notifications.preferences import ALWAYS_MAILED, SECURITY_EVENTS, NotificationEvent
from openspot.rest_edge.notifications.schemas import NotificationPreferenceBody
from openspot.rest_edge.site_settings.routes import settings_routes
from tests.unit.rest_edge.test_withdrawal_operations import Bench

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NETWORKS, ASSETS = load_networks(), load_markets().assets
ANYTHING: Any = SimpleNamespace()


def clock() -> int:
    return round(NOON.timestamp()) * 10**9


class Answers:
    """Whatever is asked gets the answer that the test has set for that method, or None."""

    def __init__(self, **answers: Any) -> None:
        self._answers = answers

    def __getattr__(self, name: str) -> Any:
        async def answer(*_: Any, **__: Any) -> Any:
            return self._answers.get(name)

        return answer


async def refused(awaited: Awaitable[Any]) -> tuple[int, str | None, Any]:
    with pytest.raises(HttpError) as error:
        await awaited
    return error.value.status_code, error.value.code, error.value.message


async def test_a_withdrawal_of_another_user_or_of_nobody_is_not_found() -> None:
    answer = (404, "WITHDRAWAL_NOT_FOUND", "withdrawal wd-1 not found")
    assert await refused(Bench().service.get("u1", "wd-1")) == answer


async def test_an_asset_that_does_not_leave_over_a_network_has_no_fee_there() -> None:
    fees = NetworkFeeService(ANYTHING, NETWORKS, ANYTHING, ASSETS, clock)
    for asset, network in (("BTC", "tron"), ("BTC", "nowhere"), ("XYZ", "bitcoin")):
        answer = (404, "NETWORK_NOT_FOUND", f"{asset} cannot be withdrawn over {network}")
        assert await refused(fees.quote("alice", asset, network, "1")) == answer


async def test_a_fee_quote_that_is_not_there_pins_nothing() -> None:
    quotes: Any = Answers()
    answer = (409, "FEE_QUOTE_INVALID", "feeQuoteId is unknown or has expired")
    assert await refused(WithdrawalFees(quotes, clock).fee("alice", NETWORKS["bitcoin"], "BTC", "q1")) == answer
    assert (
        await WithdrawalFees(quotes, clock).fee("alice", NETWORKS["bitcoin"], "BTC", None)
        == NETWORKS["bitcoin"].assets["BTC"].fee
    )


class Profiles:
    """One user's verification."""

    def __init__(self, standing: Standing) -> None:
        self.profile = KycProfile(standing, None, None, None)

    async def change(self, _user_id: str, change: Any, _now: datetime, _information: Any = None) -> KycProfile:
        self.profile = change(self.profile)
        return self.profile

    async def own_withdrawal_limit(self, _user_id: str) -> int | None:
        return None


def verification(provider: Any = ANYTHING, **standing: Any) -> KycService:
    fresh = Standing(KycLevel.NONE, KycState.NOT_STARTED, False)
    profiles: Any = Profiles(dataclasses.replace(fresh, **standing))
    return KycService(profiles, provider, "secret", (0, 10, 100), clock)


INFORMATION = BasicInformationBody.model_validate(
    {
        "firstName": "A", "lastName": "B", "dateOfBirth": "1990-01-01", "country": "DE", "city": "C", "street": "D",
        "postalCode": "1",
    }
)  # fmt: skip


async def test_a_verification_that_is_decided_takes_nothing_more() -> None:
    for standing, code, message in (
        ({"status": KycState.REJECTED}, "KYC_REJECTED", "the verification was refused for good"),
        ({"level": KycLevel.VERIFIED}, "KYC_ALREADY_VERIFIED", "you are verified already"),
    ):
        service = verification(**standing, has_basic_information=True)
        assert await refused(service.give_basic_information("alice", INFORMATION)) == (409, code, message)
        assert await refused(service.start("alice", StartBody(level="verified"))) == (409, code, message)


async def test_without_a_provider_no_verification_begins() -> None:
    service = verification(None, has_basic_information=True)
    answer = (503, "KYC_PROVIDER_UNAVAILABLE", "no provider of verification is set up")
    assert await refused(service.start("alice", StartBody(level="verified"))) == answer


async def test_a_key_that_is_not_the_users_is_not_found_by_any_route() -> None:
    answers: Any = Answers()
    keys = ApiKeyService(answers, ANYTHING, answers, answers, answers, answers, clock)
    answer = (404, "API_KEY_NOT_FOUND", "you have no such API key")
    assert await refused(keys.revoke("alice", "k1", ANYTHING)) == answer


async def test_a_factor_that_changed_while_its_code_was_checked_is_not_enabled() -> None:
    store: Any = Answers(factor=SimpleNamespace(enabled_at=None, sealed_secret=b""), enable=False)
    second_factor: Any = SimpleNamespace(count_guess=Answers().anything, step_of=lambda *_: 5)
    service = MfaService(store, ANYTHING, ANYTHING, ANYTHING, second_factor, ANYTHING, lambda: NOON)
    answer = (409, "MFA_CHANGED_MEANWHILE", "MFA was set up anew or enabled meanwhile")
    assert await refused(service.enable("alice", "123456", ANYTHING)) == answer


@pytest.mark.parametrize("event", sorted(ALWAYS_MAILED))
async def test_mail_of_security_and_of_a_position_without_its_stop_cannot_be_turned_off(
    event: NotificationEvent,
) -> None:
    pool: Any = Answers(fetchval=True)
    service = NotificationPreferenceService(pool)
    answer = (409, "MAIL_REQUIRED", f"mail of {event.value} is always sent")
    if event in SECURITY_EVENTS:
        answer = (409, "SECURITY_MAIL", f"mail of {event.value} is security mail, which is always sent")
    off = NotificationPreferenceBody(email=False, websocket=True)
    assert await refused(service.change("alice", event, off)) == answer
    kept = await service.change("alice", event, NotificationPreferenceBody(email=True, websocket=False))
    assert (kept.email, kept.websocket, kept.email_is_required) == (True, False, True)


async def test_a_country_that_is_none_has_no_provinces() -> None:
    router = settings_routes("/api/v1", ANYTHING, ANYTHING)
    [route] = [each for each in router.routes if each.path.endswith("/provinces")]
    assert route.documented is not None
    assert await refused(route.documented.endpoint(country="XX")) == (404, "COUNTRY_NOT_FOUND", "country XX not found")
