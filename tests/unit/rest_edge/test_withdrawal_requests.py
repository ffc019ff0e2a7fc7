"""What the edge asks custody for: the whole request, to an address of the right asset, kind and network only."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from openspot.coin_networks.pauses import FollowedPauses
from openspot.contracts.messages import CreateWithdrawal
from openspot.domain.market import load_markets
from openspot.domain.networks import load_networks
from openspot.http.context import IdempotentOperation
from openspot.http.errors import HttpError
from openspot.rest_edge.common.user_limits import UserLimits
from openspot.rest_edge.funds.addresses.store import SavedAddress
from openspot.rest_edge.funds.withdrawals.service import WithdrawalService
from tests.unit.rest_edge.test_withdrawal_operations import BEGINNING, SAVED, Bench

USDC = replace(SAVED, asset="USDC", network="stellar", address="GB", tag="12345")
BANK = replace(SAVED, asset="USD", network="wire", address="021000021:100200300")


class Request(Bench):
    """One request of a user of the first level, at a fee that the test sets."""

    def __init__(self, saved: SavedAddress | None, fee: str = "0.0001") -> None:
        super().__init__()
        self.own = saved
        self.charged = Decimal(fee)
        anything: Any = self
        self.service = WithdrawalService(
            custody=anything, store=anything, addresses=anything, verification=anything, own_limits=self.own_limits,
            second_factor=anything, fees=anything, networks=load_networks(), pauses=FollowedPauses(anything),
            assets=load_markets().assets,
            limits=(10, 2_000, 50_000), clock=lambda: round(BEGINNING.timestamp()) * 10**9,
        )  # fmt: skip

    async def level(self, user_id: str) -> int:
        return 1

    async def own_limits(self, user_id: str) -> UserLimits:
        return UserLimits()

    async def find(self, user_id: str, address_id: str) -> SavedAddress | None:
        return self.own if (user_id, address_id) == ("u1", "a1") else None

    async def fee(self, *_: Any) -> Decimal:
        return self.charged

    async def send(self, asset: str, amount: str, *, is_fiat: bool = False, network: str | None = None) -> Any:
        operation = IdempotentOperation("op1", False)
        return await self.service.withdraw(
            "u1", operation, "a1", asset, network, Decimal(amount), is_fiat=is_fiat, code="111111",
            client_withdrawal_id="c1",
        )  # fmt: skip


async def refused(request: Request, *given: Any, **more: Any) -> tuple[int, str | None, Any]:
    """How a request is refused. Nothing is created, and the code of the second factor is not used up."""
    with pytest.raises(HttpError) as error:
        await request.send(*given, **more)
    assert (request.requests, request.codes) == ([], {"111111"})
    return error.value.status_code, error.value.code, error.value.message


async def test_a_withdrawal_is_asked_for_whole() -> None:
    assert await Request(USDC, "0.5").send("USDC", "20") == CreateWithdrawal(
        withdrawal_id="wd-op1", user_id="u1", asset="USDC", network="stellar", amount="20", fee="0.5", address="GB",
        tag="12345", user_limit_cents=200_000, client_withdrawal_id="c1",
    )  # fmt: skip
    bank = await Request(BANK, "1").send("USD", "100", is_fiat=True, network="wire")
    assert (bank.network, bank.address, bank.tag) == ("wire", "021000021:100200300", None)


async def test_an_address_of_another_kind_is_none() -> None:
    for request, asset, is_fiat, field in (
        (Request(BANK), "USD", False, "addressId"),
        (Request(SAVED), "BTC", True, "bankAccountId"),
        (Request(None), "BTC", False, "addressId"),
        (Request(replace(SAVED, network="gone")), "BTC", False, "addressId"),
    ):
        code = (404, "ADDRESS_NOT_FOUND", f"{field} is none of your saved addresses")
        assert await refused(request, asset, "1", is_fiat=is_fiat) == code


async def test_an_address_is_used_for_its_own_asset_and_network() -> None:
    assert await refused(Request(USDC), "USDC", "20", network="solana") == (
        400, "VALIDATION_FAILED", ["addressId was saved for the network stellar, not for solana"],
    )  # fmt: skip
    assert await refused(Request(USDC), "USDT", "20", network="tron") == (
        400,
        "VALIDATION_FAILED",
        [
            "addressId was saved for USDC, not for USDT",
            "addressId was saved for the network stellar, not for tron",
        ],
    )


async def test_the_least_amount_is_enough_and_less_is_not() -> None:
    assert (await Request(SAVED).send("BTC", "0.0005")).amount == "0.0005"
    assert await refused(Request(SAVED), "BTC", "0.00049999") == (
        400, "VALIDATION_FAILED", ["amount must be at least 0.0005 BTC"],
    )  # fmt: skip
    assert (await refused(Request(SAVED), "BTC", "0.000500001"))[2] == ["amount has more than 8 decimal places"]


async def test_an_amount_that_only_pays_the_fee_is_refused() -> None:
    assert await refused(Request(SAVED, "0.001"), "BTC", "0.001") == (
        400, "VALIDATION_FAILED", ["amount must be greater than the fee of 0.001 BTC"],
    )  # fmt: skip
    assert (await Request(SAVED, "0.001").send("BTC", "0.00100001")).fee == "0.001"
