"""A saved withdrawal address waits before it can be used, and the withdrawal holds that to the second."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from openspot.domain.networks import load_networks
from openspot.http.errors import HttpError
from openspot.rest_edge.funds.addresses.schemas import WithdrawalAddressBody
from openspot.rest_edge.funds.addresses.service import WithdrawalAddressService
from openspot.rest_edge.funds.addresses.store import Beside, SavedAddress
from openspot.rest_edge.identity.activity.log import Origin
from tests.unit.rest_edge.test_withdrawal_operations import BEGINNING, SAVED, Bench

WAIT = timedelta(days=3)


class Addresses:
    """Custody, second factor, plans, log and store around the service."""

    def __init__(self) -> None:
        self.added: list[SavedAddress] = []
        self.refusal: HttpError | None = None
        self.is_full = False

    async def check_address(self, _asset: str, _network: str, address: str, _tag: str | None) -> str:
        """Give an address the one form in which custody keeps it."""
        return address.lower()

    async def require(self, _user_id: str, _code: str | None) -> None:
        """Need no code, unless a refusal is set."""
        if self.refusal is not None:
            raise self.refusal

    async def of_user(self, _user_id: str, _name: str, default: int) -> int:
        """Give every plan the platform's own limit."""
        return default

    async def add(
        self, _user_id: str, new: SavedAddress, _addresses_max: int, _beside: Beside, _session_id: str
    ) -> str | None:
        if self.is_full:
            return None
        self.added.append(new)
        return new.address_id


async def test_a_new_address_can_be_used_when_its_wait_is_over() -> None:
    around: Any = Addresses()
    service = WithdrawalAddressService(
        around, around, around, around, load_networks(), around, WAIT, lambda: round(BEGINNING.timestamp()) * 10**9
    )
    body = WithdrawalAddressBody.model_validate(
        {"label": "Cold storage", "asset": "BTC", "network": "bitcoin", "address": "tb1q"}
    )
    response = await service.add("u1", body, Origin())
    assert [saved.available_at for saved in around.added] == [BEGINNING + WAIT]
    assert response.available_at == "2026-03-04T12:00:00.000Z"


async def test_an_address_that_waits_is_refused_until_its_time_and_taken_then() -> None:
    bench = Bench()
    bench.saved = replace(SAVED, available_at=BEGINNING + timedelta(seconds=1))
    with pytest.raises(HttpError) as refused:
        await bench.withdraw(is_resumed=False)
    assert (refused.value.status_code, refused.value.code) == (403, "ADDRESS_NOT_AVAILABLE")
    assert refused.value.details == {"availableAt": "2026-03-01T12:00:01Z"}
    assert (bench.requests, bench.codes) == ([], {"111111"})
    bench.saved = replace(SAVED, available_at=BEGINNING)
    await bench.withdraw(is_resumed=False)
    assert bench.requests == ["wd-op1"]


@pytest.mark.parametrize(
    "change", [{"asset": "ETH"}, {"network": "wire"}, {"asset": None}, {"network": None}, {"asset": "USD"}]
)
async def test_an_address_is_used_for_its_asset_and_network_only(change: dict[str, Any]) -> None:
    bench = Bench()
    bench.saved = replace(SAVED, **{name: value or "other" for name, value in change.items()})
    with pytest.raises(HttpError):
        await bench.withdraw(is_resumed=False)
    assert bench.requests == []


async def test_the_address_of_somebody_else_needs_a_beneficiary_and_a_code() -> None:
    around: Any = Addresses()
    service = WithdrawalAddressService(
        around, around, around, around, load_networks(), around, WAIT, lambda: round(BEGINNING.timestamp()) * 10**9
    )
    fields = {"label": "Other", "asset": "BTC", "network": "bitcoin", "address": "tb1q", "isOwn": False}
    with pytest.raises(HttpError) as refused:
        await service.add("u1", WithdrawalAddressBody.model_validate(fields), Origin())
    assert refused.value.code == "VALIDATION_FAILED"
    fields["beneficiary"] = {"name": "Bob", "country": "DE"}
    around.refusal = HttpError(400, "a code is needed", "MFA_CODE_INVALID")
    with pytest.raises(HttpError, match="a code is needed"):
        await service.add("u1", WithdrawalAddressBody.model_validate(fields), Origin())
    assert around.added == []
    around.refusal, around.is_full = None, True
    with pytest.raises(HttpError) as refused:
        await service.add("u1", WithdrawalAddressBody.model_validate(fields), Origin())
    assert (refused.value.status_code, refused.value.code) == (409, "TOO_MANY_ADDRESSES")


async def test_an_address_is_saved_in_custodys_form_for_an_asset_of_its_network_only() -> None:
    around: Any = Addresses()
    service = WithdrawalAddressService(
        around, around, around, around, load_networks(), around, WAIT, lambda: round(BEGINNING.timestamp()) * 10**9
    )
    fields = {"label": "Cold storage", "asset": "BTC", "network": "bitcoin", "address": "TB1Q"}
    assert (await service.add("u1", WithdrawalAddressBody.model_validate(fields), Origin())).address == "tb1q"
    assert around.added[0].address == "tb1q"
    for change, message in (
        ({"network": "tron"}, "network must be one of bitcoin for BTC"),
        ({"network": "nowhere"}, "network must be one of bitcoin for BTC"),
        ({"asset": "DOGE"}, "asset DOGE cannot be withdrawn"),
    ):
        with pytest.raises(HttpError) as refused:
            await service.add("u1", WithdrawalAddressBody.model_validate(fields | change), Origin())
        assert (refused.value.status_code, refused.value.message) == (400, [message])
    assert len(around.added) == 1
