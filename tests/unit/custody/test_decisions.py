"""Decisions on withdrawals and the steps after them, to the cent and the block, with the tables replaced."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from openspot.contracts.messages import CreateWithdrawal, WithdrawalOutcome
from openspot.contracts.refusals import RefusalCode
from openspot.custody import deposits, progress, withdrawals
from openspot.custody.deciding import Decider
from openspot.custody.deposits import ChainDeposit, ChainDepositError, Deposits
from openspot.custody.progress import WithdrawalProgress
from openspot.custody.wallet_policy import Wallet
from openspot.custody.withdrawal_states import Funds, Status
from openspot.custody.withdrawal_store import Withdrawal, WithdrawalDecision
from openspot.custody.withdrawals import WithdrawalError, Withdrawals
from openspot.domain.fair_price.model import PriceState
from openspot.domain.fair_price.sources import WAITS_FOR_MORE
from openspot.domain.market import load_markets
from openspot.domain.networks import load_networks
from tests.support.fair_prices import asset_price

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SEED = b"seed of a test"
BY = Decider("user:carol", "the owner confirmed it")
NETWORKS = load_networks()
REQUEST = CreateWithdrawal(
    withdrawal_id="w1", user_id="Alice", asset="BTC", network="bitcoin", amount="0.01", fee="0.0001",
    address="tb1q", tag=None, user_limit_cents=10**9,
)  # fmt: skip


class Tables:
    """The tables of custody in memory, and the chain and the bus."""

    def __init__(self) -> None:
        self.now = NOON
        self.rows: dict[str, Withdrawal] = {}
        self.approved: dict[str, list[str]] = {}
        self.signed: dict[str, dict[str, str]] = {}
        self.sums = {"wallet": 0, "user": 0, "user in wallet": 0}
        self.audited: list[tuple[WithdrawalDecision, int]] = []
        self.published: list[msgspec.Struct] = []
        self.height_now = 100
        self.executed: list[tuple[Any, ...]] = []

    @asynccontextmanager
    async def transaction(self, _pool: Any) -> AsyncIterator["Tables"]:
        yield self

    async def lock_named(self, _connection: Any, _name: str) -> None:
        """One test at a time is here."""

    async def pause_of(self, *_: Any) -> None:
        """Nothing is paused."""

    async def is_locked_by_operator(self, _connection: Any, user_id: str) -> bool:
        return user_id == "locked"

    async def get(self, _connection: Any, withdrawal_id: str) -> Withdrawal | None:
        return self.rows.get(withdrawal_id)

    async def lock(self, _connection: Any, withdrawal_id: str, *, skip_locked: bool = False) -> Withdrawal | None:
        return self.rows.get(withdrawal_id)

    async def insert(self, _connection: Any, new: Withdrawal) -> None:
        self.rows[new.withdrawal_id] = new

    async def save(self, _connection: Any, _changed: Withdrawal, _now: datetime) -> None:
        """The rows are the objects themselves."""

    async def audit(
        self, _connection: Any, _about: Withdrawal, decision: WithdrawalDecision, _now: datetime, sum_before: int
    ) -> None:
        self.audited.append((decision, sum_before))

    async def sum_of_wallet(self, *_: Any) -> int:
        return self.sums["wallet"]

    async def sum_of_user(self, *_: Any) -> int:
        return self.sums["user"]

    async def sum_of_user_in_wallet(self, *_: Any) -> int:
        return self.sums["user in wallet"]

    async def approvers(self, _connection: Any, withdrawal_id: str) -> list[str]:
        return list(self.approved.get(withdrawal_id, []))

    async def add_approval(self, _connection: Any, withdrawal_id: str, approver: str, _now: datetime) -> bool:
        given = self.approved.setdefault(withdrawal_id, [])
        if approver in given:
            return False
        given.append(approver)
        return True

    async def signatures(self, _connection: Any, withdrawal_id: str) -> dict[str, str]:
        return self.signed.get(withdrawal_id, {})

    async def add_signature(
        self, _connection: Any, withdrawal_id: str, signer: str, signature: str, _now: datetime
    ) -> bool:
        given = self.signed.setdefault(withdrawal_id, {})
        return given.setdefault(signer, signature) is signature

    async def accounts_of(self, _connection: Any, operator: str) -> frozenset[str]:
        """Alice has a mail address; carol and cara are linked."""
        name = operator.removeprefix("user:")
        linked = {"alice@example.org": {"alice"}, "carol": {"cara"}, "cara": {"carol"}}
        return frozenset({name} | linked.get(name, set()))

    async def fetchval(self, *_: Any) -> str:
        """The owner of a deposit address."""
        return "Alice"

    async def execute(self, _query: str, *values: Any) -> None:
        self.executed.append(values)

    async def publish(self, _subject: str, message: msgspec.Struct, _message_id: str) -> None:
        self.published.append(message)

    def height(self, _now: datetime) -> int:
        """The chain's newest block."""
        return self.height_now

    async def send(self, _withdrawal: Withdrawal, _now: datetime) -> int:
        """Include a transaction in the next block."""
        return self.height_now + 1


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    found = Tables()
    for module in (withdrawals, progress, deposits):
        monkeypatch.setattr(module, "store", found)
    return found  # type: ignore[return-value]


def decisions(
    tables: Any,
    dollars: str = "100000",
    *,
    share: int = 100,
    state: PriceState = PriceState.GOOD,
    reason: str = "sources differ",
) -> Any:
    """The decisions at a price of one BTC."""
    return Withdrawals(
        tables, NETWORKS, lambda: {"BTC": asset_price(dollars, state=state, reason=reason)}, {},
        lambda: round(tables.now.timestamp()) * 10**9, hot_share_percent=share,
    )  # fmt: skip


def steps(tables: Any, automatic: frozenset[Wallet] = frozenset()) -> WithdrawalProgress:
    return WithdrawalProgress(tables, tables, tables, SEED, automatic, lambda: round(tables.now.timestamp()) * 10**9)


async def created(tables: Any, amount: str = "0.01", **change: Any) -> Withdrawal:
    request = msgspec.structs.replace(REQUEST, amount=amount, **change)
    found: Withdrawal = await decisions(tables).create(request, Decimal(request.amount), Decimal(request.fee))
    return found


async def refused(awaited: Any) -> tuple[RefusalCode, str]:
    with pytest.raises(WithdrawalError) as error:
        await awaited
    return error.value.refusal.code, str(error.value)


async def test_a_withdrawal_is_written_whole(tables: Any) -> None:
    assert await created(tables) == Withdrawal(
        withdrawal_id="w1", user_id="Alice", client_withdrawal_id=None, asset="BTC", network="bitcoin",
        amount=Decimal("0.01"), fee=Decimal("0.0001"), net_amount=Decimal("0.0099"), address="tb1q", tag=None,
        wallet=Wallet.HOT, price=Decimal(100_000), value_cents=100_000, approvals_needed=1,
        status=Status.PENDING_APPROVAL, funds=Funds.NEW, reason=None, digest=None, tx_hash=None, height=None,
        confirmations=0, required_confirmations=NETWORKS["bitcoin"].confirmations, created_at=NOON, updated_at=NOON,
    )  # fmt: skip
    assert tables.audited == [(WithdrawalDecision("user:Alice", "requested"), 0)]


async def test_a_users_limit_is_used_up_to_the_last_cent(tables: Any) -> None:
    tables.sums["user"] = 50_000
    code, said = await refused(created(tables, user_limit_cents=149_999))
    assert code is RefusalCode.USER_DAILY_LIMIT
    assert "1000.00 USD; your limit of 24 hours is 1499.99 USD, of which 500.00 are used" in said
    assert (await created(tables, user_limit_cents=150_000)).value_cents == 100_000


async def test_a_wallets_limit_is_used_up_to_the_last_cent(tables: Any) -> None:
    tables.sums["wallet"] = 100_000_00 - 99_999
    assert (await refused(created(tables)))[0] is RefusalCode.WALLET_DAILY_LIMIT
    tables.sums["wallet"] -= 1
    await created(tables)
    assert tables.audited[0][1] == 100_000_00 - 100_000


async def test_what_goes_beyond_a_users_share_is_sent_by_warm_with_its_approvals(tables: Any) -> None:
    tables.sums["user in wallet"] = 2_400_001
    found = await decisions(tables, share=25).create(REQUEST, Decimal("0.01"), Decimal("0.0001"))
    assert (found.wallet, found.approvals_needed) == (Wallet.WARM, 2)
    [(decision, _)] = tables.audited
    assert decision.detail == "beyond the user's 25 % of HOT, so WARM sends it"
    tables.rows.clear()
    tables.sums["user in wallet"] = 2_400_000
    found = await decisions(tables, share=25).create(REQUEST, Decimal("0.01"), Decimal("0.0001"))
    assert (found.wallet, found.approvals_needed) == (Wallet.HOT, 1)


async def test_no_wallet_approves_by_itself_at_a_price_that_is_not_sure(tables: Any) -> None:
    small = msgspec.structs.replace(REQUEST, amount="0.001")
    sure = await decisions(tables).create(small, Decimal("0.001"), Decimal(0))
    assert (sure.approvals_needed, sure.reason) == (0, None)
    tables.rows.clear()
    unsure = await decisions(tables, state=PriceState.DISPUTED).create(small, Decimal("0.001"), Decimal(0))
    assert unsure.approvals_needed == 1
    assert unsure.reason == "it waits until the price of BTC is certain, or an operator decides: sources differ"


async def test_what_a_withdrawal_waits_for_is_told_to_its_end(tables: Any) -> None:
    because = f"The price is far from that of the last day, and too little confirms it. {WAITS_FOR_MORE}"
    found = await decisions(tables, state=PriceState.DISPUTED, reason=because).create(
        msgspec.structs.replace(REQUEST, amount="0.001"), Decimal("0.001"), Decimal(0)
    )
    assert found.reason is not None and found.reason.endswith(because)


async def test_bank_transfers_need_no_block_and_chains_need_theirs(tables: Any) -> None:
    bank = next(network for network in NETWORKS.values() if network.is_fiat and "USD" in network.assets)
    assert (await created(tables, "50", asset="USD", network=bank.name)).required_confirmations == 0


async def test_only_its_user_cancels_a_withdrawal_and_only_before_it_is_approved(tables: Any) -> None:
    found, service = await created(tables), decisions(tables)
    assert await refused(service.cancel("w1", "Bob")) == (RefusalCode.NOT_FOUND, "withdrawal w1 not found")
    for status in set(Status) - {Status.PENDING_APPROVAL, Status.CANCELLED}:
        found.status = status
        assert (await refused(service.cancel("w1", "Alice")))[0] is RefusalCode.NOT_CANCELLABLE
    found.status = Status.PENDING_APPROVAL
    assert (await service.cancel("w1", "Alice")).status is Status.CANCELLED
    assert (await service.cancel("w1", "Alice")).status is Status.CANCELLED
    assert [decision.decision for decision, _ in tables.audited] == ["requested", "cancelled"]


@pytest.mark.parametrize("operator", ["alice", "alice@example.org"])
async def test_nobody_decides_on_a_withdrawal_of_their_own_by_id_or_by_mail_address(tables: Any, operator: str) -> None:
    await created(tables)
    service = decisions(tables)
    for decision in (service.approve("w1", operator, BY), service.reject("w1", operator, BY)):
        assert await refused(decision) == (RefusalCode.VALIDATION, "nobody may decide on a withdrawal of their own")
    assert (await service.approve("w1", "carol", BY)).approvals_needed == 1


async def test_an_approval_counts_once_a_person(tables: Any) -> None:
    await created(tables)
    service = decisions(tables)
    await service.approve("w1", "carol", BY)
    assert await refused(service.approve("w1", "carol", BY)) == (
        RefusalCode.VALIDATION, "carol has approved this withdrawal already",
    )  # fmt: skip
    for other in ("user:carol", "cara"):
        assert await refused(service.approve("w1", other, BY)) == (
            RefusalCode.VALIDATION, f"carol has approved already, and is the same person as {other}",
        )  # fmt: skip
    counted = {"approvals": "0 of 1"}, {"approvals": "1 of 1"}
    assert tables.audited[-1][0] == WithdrawalDecision("operator:carol", "approved", "1 of 1", BY, *counted)


async def test_only_the_signers_of_the_wallet_sign_each_once(tables: Any) -> None:
    found, service = await created(tables), decisions(tables)
    assert (await refused(service.sign("w1", "hot-1", SEED, BY)))[1] == "the withdrawal is pending_approval"
    found.status, found.digest = Status.SIGNING, "d1"
    for signer in ("hot-4", "warm-1", ""):
        assert (await refused(service.sign("w1", signer, SEED, BY)))[1] == "signer must be one of hot-1, hot-2, hot-3"
    await service.sign("w1", "hot-1", SEED, BY, operator="carol")
    counted = {"signatures": "0 of 2"}, {"signatures": "1 of 2", "signer": "hot-1"}
    detail = "1 of 2, by operator:carol"
    assert tables.audited[-1][0] == WithdrawalDecision("signer:hot-1", "signed", detail, BY, *counted)
    assert (await refused(service.sign("w1", "hot-1", SEED, BY)))[1] == "hot-1 has signed this withdrawal already"


async def test_the_audit_leaves_a_withdrawal_out_of_the_sum_while_the_sum_has_it(tables: Any) -> None:
    await created(tables)
    tables.sums["wallet"] = 300_000
    tables.now = NOON + timedelta(hours=24) - timedelta(seconds=1)
    await decisions(tables).approve("w1", "carol", BY)
    tables.now = NOON + timedelta(hours=24)
    await decisions(tables).approve("w1", "dave", BY)
    assert [sum_before for _, sum_before in tables.audited] == [0, 200_000, 300_000]


@pytest.mark.parametrize("funds", sorted(set(Funds) - {Funds.NEW, Funds.REQUESTED}))
async def test_news_of_the_engine_change_only_what_waits_for_them(tables: Any, funds: Funds) -> None:
    found = await created(tables)
    found.funds = funds
    event = WithdrawalOutcome("w1", "Alice", "BTC", "0.01", "RISK_NSF", refused=True)
    await steps(tables).reserved(event)
    await steps(tables).refused(event)
    assert (found.funds, found.status) == (funds, Status.PENDING_APPROVAL)


async def test_only_the_engines_own_refusal_ends_a_withdrawal(tables: Any) -> None:
    found = await created(tables)
    await steps(tables).refused(WithdrawalOutcome("w1", "Alice", "BTC", "0.01", "rejected"))
    assert (found.funds, found.status) == (Funds.NEW, Status.PENDING_APPROVAL)
    await steps(tables).refused(WithdrawalOutcome("w1", "Alice", "BTC", "0.01", "RISK_NSF", refused=True))
    assert (found.funds, found.status, found.reason) == (Funds.REFUSED, Status.FAILED, "RISK_NSF")


@pytest.mark.parametrize("cancels", [True, False])
async def test_the_end_of_a_withdrawal_says_whether_its_user_cancelled_it(tables: Any, cancels: bool) -> None:
    found, service = await created(tables), decisions(tables)
    found.funds = Funds.RESERVED
    await (
        service.cancel("w1", "Alice") if cancels else service.reject("w1", "carol", Decider("user:carol", "cancelled"))
    )
    await steps(tables).advance("w1")
    (outcome,) = tables.published
    assert (outcome.reason, outcome.cancelled) == ("cancelled", cancels)


async def test_a_withdrawal_is_complete_with_its_last_confirmation_and_not_one_before(tables: Any) -> None:
    found = await created(tables)
    found.status, found.funds, found.height, found.required_confirmations = Status.CONFIRMING, Funds.RESERVED, 101, 3
    seen = []
    for tables.height_now in (100, 101, 102, 103):
        await steps(tables).advance("w1")
        seen.append((found.status.value, found.confirmations))
    assert seen == [("confirming", 0), ("confirming", 1), ("confirming", 2), ("completed", 3)]


async def test_a_withdrawal_goes_out_with_the_signatures_of_its_wallet_and_not_with_fewer(tables: Any) -> None:
    found = await created(tables)
    found.status, found.funds = Status.APPROVED, Funds.RESERVED
    people = steps(tables)
    await people.advance("w1")
    assert (found.status, found.digest is not None) == (Status.SIGNING, True)
    await decisions(tables).sign("w1", "hot-1", SEED, BY)
    assert not await people.advance("w1")
    await decisions(tables).sign("w1", "hot-2", SEED, BY)
    assert await people.advance("w1")
    assert found.status is Status.BROADCASTING
    tables.signed["w1"]["hot-2"] = tables.signed["w1"]["hot-1"]
    assert not await people.advance("w1")
    assert found.status is Status.BROADCASTING


async def test_a_deposit_is_included_in_the_next_block_and_not_below_the_minimum(tables: Any) -> None:
    network = NETWORKS["bitcoin"]
    minimum = network.assets["BTC"].deposit_minimum
    service = Deposits(tables, tables, NETWORKS, load_markets().assets, lambda: round(NOON.timestamp()) * 10**9)
    deposit = ChainDeposit("0xabc", "bitcoin", "tb1q", "BTC", str(minimum))
    assert await service.include(deposit) == "Alice"
    [row] = tables.executed
    assert row == ("0xabc", "Alice", "BTC", "bitcoin", "tb1q", minimum, 101, network.confirmations, NOON)
    less = replace(deposit, amount=str(minimum - Decimal("0.00000001")))
    with pytest.raises(ChainDepositError, match="amount must be at least"):
        await service.include(less)
