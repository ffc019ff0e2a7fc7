"""Withdrawals under an `Idempotency-Key`: a resumed request finds its withdrawal, and never makes a second one."""

from datetime import UTC, datetime
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

BEGINNING = datetime(2026, 3, 1, 12, tzinfo=UTC)
SAVED = SavedAddress(
    address_id="a1",
    label="Cold storage",
    asset="BTC",
    network="bitcoin",
    address="tb1q",
    tag=None,
    is_own=True,
    beneficiary_name=None,
    beneficiary_country=None,
    beneficiary_vasp_id=None,
    available_at=BEGINNING,
    created_at=BEGINNING,
)


class Bench:
    """Everything around the service; the second factor takes each code once, as the real one does."""

    def __init__(self) -> None:
        self.created: dict[str, CreateWithdrawal] = {}
        self.requests: list[str] = []
        self.codes = {"111111"}
        self.is_reply_lost = False
        self.saved = SAVED
        anything: Any = self
        self.service = WithdrawalService(
            custody=anything,
            store=anything,
            addresses=anything,
            verification=anything,
            own_limits=self.own_limits,
            second_factor=anything,
            fees=anything,
            networks=load_networks(),
            pauses=FollowedPauses(anything),
            assets=load_markets().assets,
            limits=(1, 1, 1),
            clock=lambda: round(BEGINNING.timestamp()) * 10**9,
        )

    async def own_limits(self, user_id: str) -> UserLimits:
        return UserLimits()

    async def level(self, user_id: str) -> int:
        """Every user is verified."""
        return 2

    async def find(self, user_id: str, address_id: str) -> SavedAddress | None:
        """Every user has saved the address."""
        return self.saved

    async def fee(self, *_: Any) -> Decimal:
        """A fee of the network."""
        return Decimal("0.0001")

    async def require(self, user_id: str, code: str | None) -> None:
        """Take a code once."""
        if code not in self.codes:
            raise HttpError(400, "the code is wrong or was used", "MFA_CODE_INVALID")
        self.codes.remove(code)

    async def get(self, user_id: str, withdrawal_id: str) -> CreateWithdrawal | None:
        """A withdrawal that custody has."""
        return self.created.get(withdrawal_id)

    async def create(self, request: CreateWithdrawal) -> CreateWithdrawal:
        """Create a withdrawal; the reply may get lost before custody has it."""
        self.requests.append(request.withdrawal_id)
        if self.is_reply_lost:
            raise HttpError(504, "no reply", "WITHDRAWAL_STATUS_UNKNOWN")
        return self.created.setdefault(request.withdrawal_id, request)

    async def withdraw(self, *, is_resumed: bool) -> Any:
        """One run of the same operation."""
        return await self.service.withdraw(
            "u1",
            IdempotentOperation("op1", is_resumed),
            "a1",
            "BTC",
            "bitcoin",
            Decimal("0.01"),
            is_fiat=False,
            code="111111",
        )


async def test_a_resumed_withdrawal_is_found_and_needs_no_second_code() -> None:
    bench = Bench()
    first = await bench.withdraw(is_resumed=False)
    assert await bench.withdraw(is_resumed=True) is first
    assert bench.requests == ["wd-op1"]


async def test_a_run_that_died_before_the_code_was_used_goes_on_under_the_same_id() -> None:
    bench = Bench()
    created = await bench.withdraw(is_resumed=True)
    assert created.withdrawal_id == "wd-op1"
    assert bench.requests == ["wd-op1"]


async def test_a_used_code_does_not_claim_that_nothing_was_withdrawn() -> None:
    bench = Bench()
    bench.is_reply_lost = True
    with pytest.raises(HttpError):
        await bench.withdraw(is_resumed=False)
    with pytest.raises(HttpError) as refused:
        await bench.withdraw(is_resumed=True)
    assert (refused.value.status_code, refused.value.code) == (504, "WITHDRAWAL_STATUS_UNKNOWN")
    assert refused.value.details == {"id": "wd-op1"}
    assert bench.requests == ["wd-op1"]


async def test_a_wrong_code_at_the_first_run_is_told_as_such() -> None:
    bench = Bench()
    bench.codes = set()
    with pytest.raises(HttpError) as refused:
        await bench.withdraw(is_resumed=False)
    assert refused.value.code == "MFA_CODE_INVALID"
    assert bench.requests == []
