"""FIFO cost basis: published examples, the rules of a lot, and what can never be lost."""

import tracemalloc
from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.money import AMOUNT_SCALE
from openspot.positions.fifo import (
    Disposal,
    DisposalReason,
    FifoBook,
    FifoStateError,
    Lot,
    OutOfOrderError,
    ShortfallError,
)
from openspot.positions.fifo_transaction import FifoTransaction, TransactionError, TransactionKind
from openspot.positions.tax_years import GainSum, TaxYearStart, YearlyGain, gains_by_tax_year
from tests.support.fifo_histories import DAY_MS, random_history

YEAR_MS = 365 * DAY_MS


def transaction(number: int, kind: str, quantity: int, value: int = 0, **fields: object) -> FifoTransaction:
    """A transaction of day `number` in whole units."""
    chosen: dict[str, object] = {"account": "main", "asset": "BTC", "timestamp": number * DAY_MS, **fields}
    for name in ("fee", "fee_quantity"):
        chosen[name] = int(chosen.get(name, 0)) * AMOUNT_SCALE  # type: ignore[call-overload]
    return FifoTransaction(
        external_id=str(chosen.pop("external_id", f"t{number}")),
        kind=TransactionKind(kind),
        quantity=quantity * AMOUNT_SCALE,
        value=value * AMOUNT_SCALE,
        **chosen,  # type: ignore[arg-type]
    )


def apply_all(book: FifoBook, history: list[FifoTransaction]) -> list[Disposal]:
    return [disposal for item in history for disposal in book.apply(item)]


def test_irish_revenue_tax_briefing_40_gains_50() -> None:
    """100 bought at £2, 50 sold at £3."""
    book = FifoBook("owner")
    disposals = apply_all(book, [transaction(1, "acquisition", 100, 200), transaction(2, "disposal", 50, 150)])
    assert [disposal.gain for disposal in disposals] == [50 * AMOUNT_SCALE]
    assert book.holdings()[0].cost == 100 * AMOUNT_SCALE
    assert disposals == [
        Disposal(
            disposal_id="t2", disposed_at=2 * DAY_MS, account="main", asset="BTC", reason=DisposalReason.SALE,
            quantity=50 * AMOUNT_SCALE, proceeds=150 * AMOUNT_SCALE, cost=100 * AMOUNT_SCALE,
            acquired_at=DAY_MS, acquisition_id="t1",
        )
    ]  # fmt: skip


@pytest.mark.spec("A1.1-15")
def test_the_data_of_hmrc_cryptoassets_manual_22251_gain_299500_under_fifo() -> None:
    """100 for £1,000, 50 for £125,000, then 50 sold for £300,000 (pooled, HMRC's own figure is £258,000)."""
    book = FifoBook("owner")
    disposals = apply_all(
        book,
        [
            transaction(1, "acquisition", 100, 1_000),
            transaction(400, "acquisition", 50, 125_000),
            transaction(1500, "disposal", 50, 300_000),
        ],
    )
    assert [disposal.gain for disposal in disposals] == [299_500 * AMOUNT_SCALE]
    assert [(lot.quantity // AMOUNT_SCALE, lot.cost // AMOUNT_SCALE) for lot in book.holdings()[0].lots] == [
        (50, 500),
        (50, 125_000),
    ]


def test_a_part_takes_its_share_rounded_down_and_the_last_part_takes_the_rest() -> None:
    book = FifoBook("owner")
    book.apply(FifoTransaction("a", 1, TransactionKind.ACQUISITION, "main", "BTC", 3, 10))
    costs = [
        book.apply(FifoTransaction(f"s{number}", number, TransactionKind.DISPOSAL, "main", "BTC", 1, 5))[0].cost
        for number in (2, 3, 4)
    ]
    assert costs == [3, 3, 4]
    assert book.holdings() == []


def test_a_sale_over_several_lots_shares_its_proceeds_in_the_same_way() -> None:
    book = FifoBook("owner")
    for number, quantity in enumerate((1, 1, 1), start=1):
        book.apply(FifoTransaction(f"a{number}", number, TransactionKind.ACQUISITION, "main", "BTC", quantity, 1))
    sold = book.apply(FifoTransaction("s", 9, TransactionKind.DISPOSAL, "main", "BTC", 3, 10))
    assert [disposal.proceeds for disposal in sold] == [3, 3, 4]
    assert [disposal.acquisition_id for disposal in sold] == ["a1", "a2", "a3"]


def test_a_lot_that_is_sold_whole_is_gone() -> None:
    book = FifoBook("owner")
    history = [transaction(1, "acquisition", 2, 10), transaction(2, "acquisition", 1, 7), transaction(3, "disposal", 2)]
    assert [disposal.acquisition_id for disposal in apply_all(book, history)] == ["t1"]
    assert book.open_lots == 1
    assert [holding.lots for holding in book.holdings()] == [(Lot(2 * DAY_MS, "t2", AMOUNT_SCALE, 7 * AMOUNT_SCALE),)]


def test_fees_are_part_of_cost_and_reduce_proceeds() -> None:
    book = FifoBook("owner")
    disposals = apply_all(
        book, [transaction(1, "acquisition", 2, 100, fee=3), transaction(2, "disposal", 2, 120, fee=5)]
    )
    assert (disposals[0].cost, disposals[0].proceeds) == (103 * AMOUNT_SCALE, 115 * AMOUNT_SCALE)


def test_a_fee_larger_than_the_value_of_a_sale_makes_its_proceeds_negative() -> None:
    book = FifoBook("owner")
    for number in (1, 2):
        book.apply(FifoTransaction(f"a{number}", number, TransactionKind.ACQUISITION, "main", "BTC", 1, 10))
    sold = book.apply(FifoTransaction("s", 9, TransactionKind.DISPOSAL, "main", "BTC", 2, 4, 7))
    assert [disposal.proceeds for disposal in sold] == [-2, -1]
    assert sum(disposal.gain for disposal in sold) == -23


def test_a_fee_paid_in_another_asset_is_itself_a_disposal() -> None:
    book = FifoBook("owner")
    disposals = apply_all(
        book,
        [
            transaction(1, "acquisition", 10, 20, asset="BNB"),
            transaction(2, "acquisition", 1, 100, fee=3, fee_asset="BNB", fee_quantity=1),
        ],
    )
    (fee,) = disposals
    assert (fee.asset, fee.reason, fee.proceeds, fee.cost) == (
        "BNB",
        DisposalReason.FEE,
        3 * AMOUNT_SCALE,
        2 * AMOUNT_SCALE,
    )
    assert {holding.asset: holding.cost // AMOUNT_SCALE for holding in book.holdings()} == {"BNB": 18, "BTC": 103}


def test_a_fee_paid_in_the_asset_that_is_received_is_taken_from_the_oldest_lot() -> None:
    book = FifoBook("owner")
    (fee,) = book.apply(transaction(1, "acquisition", 10, 100, fee=10, fee_asset="BTC", fee_quantity=1))
    assert (fee.proceeds, fee.cost, fee.gain) == (10 * AMOUNT_SCALE, 11 * AMOUNT_SCALE, -AMOUNT_SCALE)
    assert book.held("main", "BTC") == 9 * AMOUNT_SCALE


def test_a_transfer_realises_nothing_and_its_lots_keep_cost_and_date() -> None:
    book = FifoBook("owner")
    history = [
        transaction(1, "acquisition", 1, 10),
        transaction(2, "acquisition", 1, 20, account="cold"),
        transaction(3, "transfer", 1, destination="cold"),
        transaction(4, "disposal", 1, 50, account="cold"),
    ]
    disposals = apply_all(book, history)
    # The transferred lot arrived last, but it was acquired first.
    assert [(disposal.acquisition_id, disposal.gain // AMOUNT_SCALE) for disposal in disposals] == [("t1", 40)]
    assert book.held("main", "BTC") == 0


def test_a_lot_that_went_and_came_back_is_one_lot_again() -> None:
    book = FifoBook("owner")
    apply_all(
        book,
        [
            transaction(1, "acquisition", 9, 10),
            transaction(2, "transfer", 4, destination="cold"),
            transaction(3, "transfer", 4, account="cold", destination="main"),
        ],
    )
    (holding,) = book.holdings()
    assert holding.lots == (Lot(DAY_MS, "t1", 9 * AMOUNT_SCALE, 10 * AMOUNT_SCALE),)


@pytest.mark.parametrize(
    ("refused", "asset", "needed", "held"),
    [
        (transaction(5, "disposal", 11, 1), "BTC", 11, 10),
        (transaction(5, "disposal", 1, 1, account="cold"), "BTC", 1, 0),
        (transaction(5, "transfer", 11, destination="cold"), "BTC", 11, 10),
        (transaction(5, "disposal", 10, 1, fee=1, fee_asset="BTC", fee_quantity=1), "BTC", 11, 10),
        (transaction(5, "transfer", 10, fee=1, fee_asset="BTC", fee_quantity=1, destination="cold"), "BTC", 11, 10),
        (transaction(5, "acquisition", 1, 1, fee=1, fee_asset="BNB", fee_quantity=1), "BNB", 1, 0),
        (transaction(5, "acquisition", 1, 1, fee=1, fee_asset="BTC", fee_quantity=12), "BTC", 12, 11),
    ],
)
def test_a_shortfall_is_refused_by_name_and_changes_nothing(
    refused: FifoTransaction, asset: str, needed: int, held: int
) -> None:
    book = FifoBook("owner")
    book.apply(transaction(1, "acquisition", 10, 10))
    before = book.state()
    with pytest.raises(ShortfallError) as error:
        book.apply(refused)
    account = refused.account
    assert str(error.value) == f"transaction t5 takes {needed} {asset} from account {account}, which holds {held}"
    assert book.state() == before


def test_an_acquisition_may_pay_its_fee_out_of_what_it_brings() -> None:
    book = FifoBook("owner")
    book.apply(transaction(1, "acquisition", 1, 1, fee=1, fee_asset="BTC", fee_quantity=1))
    assert book.holdings() == []


def test_transactions_of_the_same_time_are_ordered_by_external_id() -> None:
    book = FifoBook("owner")
    book.apply(transaction(1, "acquisition", 1, 1, external_id="b"))
    for external_id in ("a", "b"):
        with pytest.raises(OutOfOrderError) as error:
            book.apply(transaction(1, "acquisition", 1, 1, external_id=external_id))
        assert str(error.value) == f"transaction {external_id} at {DAY_MS} does not follow b at {DAY_MS}"
    with pytest.raises(OutOfOrderError, match=f"^transaction z at 0 does not follow b at {DAY_MS}$"):
        book.apply(transaction(0, "acquisition", 1, 1, external_id="z"))
    book.apply(transaction(1, "acquisition", 1, 1, external_id="c"))
    assert [lot.acquisition_id for lot in book.holdings()[0].lots] == ["b", "c"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"external_id": "with space"},
            "externalId must be 1 to 200 visible ASCII characters without quotes or backslashes",
        ),
        ({"account": ""}, "account must be 1 to 64 visible ASCII characters, with spaces inside only"),
        ({"account": " padded "}, "account must be 1 to 64 visible ASCII characters, with spaces inside only"),
        ({"asset": "btc"}, "asset must be 2 to 10 capital letters or digits"),
        ({"timestamp": -1}, "timestamp must lie between the years 1970 and 9999"),
        ({"timestamp": 253_402_300_800_000}, "timestamp must lie between the years 1970 and 9999"),
        ({"quantity": 0}, "quantity must be positive"),
        ({"quantity": 10**37 + 1}, "quantity is too large"),
        ({"value": -1}, "value must not be negative"),
        ({"value": 10**37 + 1}, "value is too large"),
        ({"fee": 10**37 + 1}, "fee is too large"),
        ({"fee": -(10**37) - 1}, "fee is too large"),
        ({"fee": -11}, "fee is a rebate larger than the value"),
        ({"fee_quantity": 1}, "feeAsset is missing for the given feeQuantity"),
        ({"fee_asset": "BNB"}, "feeQuantity must be positive"),
        ({"fee_asset": "BNB", "fee_quantity": 10**37 + 1}, "feeQuantity is too large"),
        ({"fee_asset": "bnb", "fee_quantity": 1}, "feeAsset must be 2 to 10 capital letters or digits"),
        ({"fee_asset": "BNB", "fee_quantity": 1, "fee": -1}, "fee must not be negative if it is paid in an asset"),
        ({"destination": "cold"}, "destination belongs to transfers only"),
        (
            {"kind": TransactionKind.TRANSFER, "destination": "cold"},
            "value must be zero for a transfer, which earns nothing",
        ),
        (
            {"kind": TransactionKind.TRANSFER, "value": 0},
            "destination must name the account that receives the transfer",
        ),
        (
            {"kind": TransactionKind.TRANSFER, "value": 0, "destination": " "},
            "destination must name the account that receives the transfer",
        ),
        (
            {"kind": TransactionKind.TRANSFER, "value": 0, "destination": "main"},
            "destination must differ from account",
        ),
        (
            {"kind": TransactionKind.TRANSFER, "value": 0, "destination": "cold", "fee": -1},
            "fee must not be negative for a transfer",
        ),
    ],
)
def test_a_transaction_that_breaks_a_rule_is_refused_with_field_and_reason(
    changes: dict[str, object], message: str
) -> None:
    valid = FifoTransaction("t", 1, TransactionKind.ACQUISITION, "main", "BTC", 10, 10)
    with pytest.raises(TransactionError) as error:
        replace(valid, **changes)  # type: ignore[arg-type]
    assert f"{error.value.field} {error.value.reason}" == str(error.value) == message


@pytest.mark.parametrize(
    "changes",
    [
        {"timestamp": 0},
        {"timestamp": 253_402_300_799_999},
        {"quantity": 1},
        {"quantity": 10**37},
        {"value": 0},
        {"value": 10**37},
        {"fee": 10**37},
        {"fee": -10},
        {"kind": TransactionKind.DISPOSAL, "fee": -(10**37)},
        {"fee_asset": "BNB", "fee_quantity": 1},
        {"fee_asset": "BNB", "fee_quantity": 10**37, "fee": 1},
        {"kind": TransactionKind.TRANSFER, "value": 0, "destination": "cold"},
        {"kind": TransactionKind.TRANSFER, "value": 0, "destination": "cold", "fee": 1},
    ],
)
def test_a_transaction_at_the_edge_of_a_rule_is_taken(changes: dict[str, object]) -> None:
    valid = FifoTransaction("t", 1, TransactionKind.ACQUISITION, "main", "BTC", 10, 10)
    taken = replace(valid, **changes)  # type: ignore[arg-type]
    assert {name: getattr(taken, name) for name in changes} == changes


def test_gains_are_summed_by_the_tax_year_of_the_sale() -> None:
    last_of_1970, first_of_1971 = YEAR_MS - 1, YEAR_MS
    book = FifoBook("owner")
    book.apply(FifoTransaction("a", 0, TransactionKind.ACQUISITION, "main", "BTC", 4, 40))
    disposals = []
    for number, moment in enumerate((last_of_1970, first_of_1971, first_of_1971 + 1)):
        disposals += book.apply(FifoTransaction(f"s{number}", moment, TransactionKind.DISPOSAL, "main", "BTC", 1, 15))
    sums = [GainSum(sale.disposed_at, sale.asset, 1, sale.quantity, sale.proceeds, sale.cost) for sale in disposals]
    assert gains_by_tax_year(sums) == [
        YearlyGain(1970, "BTC", 1, 1, 15, 10),
        YearlyGain(1971, "BTC", 2, 2, 30, 20),
    ]
    assert [year.gain for year in gains_by_tax_year(sums)] == [5, 10]


def test_a_tax_year_may_begin_on_the_sixth_of_april() -> None:
    start = TaxYearStart(4, 6)
    fifth_of_april_1971 = YEAR_MS + (31 + 28 + 31 + 4) * DAY_MS
    assert start.year_of(fifth_of_april_1971) == 1970
    assert start.year_of(fifth_of_april_1971 + DAY_MS - 1) == 1970
    assert start.year_of(fifth_of_april_1971 + DAY_MS) == 1971
    with pytest.raises(ValueError, match="day"):
        TaxYearStart(2, 29)


def test_a_tax_year_begins_at_midnight_utc_of_its_first_day() -> None:
    assert TaxYearStart(4, 6).begin_of(2023) == 1_680_739_200_000  # 2023-04-06T00:00:00Z
    assert TaxYearStart().begin_of(1970) == 0


histories = st.integers(0, 2**32).map(lambda seed: random_history(seed, 40))


def held_after(history: list[FifoTransaction]) -> dict[tuple[str, str], int]:
    """Quantities by account and asset, by plain addition."""
    held: dict[tuple[str, str], int] = defaultdict(int)
    for item in history:
        held[item.account, item.asset] += item.quantity if item.kind is TransactionKind.ACQUISITION else -item.quantity
        if item.destination is not None:
            held[item.destination, item.asset] += item.quantity
        if item.fee_asset is not None:
            held[item.account, item.fee_asset] -= item.fee_quantity
    return {key: quantity for key, quantity in held.items() if quantity}


@given(histories)
def test_quantities_are_conserved(history: list[FifoTransaction]) -> None:
    book = FifoBook("owner")
    apply_all(book, history)
    assert {(holding.account, holding.asset): holding.quantity for holding in book.holdings()} == held_after(history)
    assert all(sum(lot.quantity for lot in holding.lots) == holding.quantity for holding in book.holdings())


@given(histories)
def test_cost_in_is_cost_out_plus_cost_left(history: list[FifoTransaction]) -> None:
    book = FifoBook("owner")
    disposals = apply_all(book, history)
    cost_in = sum(item.value + item.fee for item in history if item.kind is TransactionKind.ACQUISITION)
    cost_left = sum(holding.cost for holding in book.holdings())
    assert cost_in == sum(disposal.cost for disposal in disposals) + cost_left


@given(histories)
def test_realised_plus_unrealised_is_cash_flows_plus_value(history: list[FifoTransaction]) -> None:
    book = FifoBook("owner")
    disposals = apply_all(book, history)
    cash = 0
    for item in history:
        if item.kind is TransactionKind.ACQUISITION:
            cash -= item.value + item.fee
        elif item.kind is TransactionKind.DISPOSAL:
            cash += item.value - item.fee
        if item.fee_asset is not None:
            # Paying in kind is selling for the fee's value.
            cash += item.fee
    value = 1_000_003 * sum(holding.quantity for holding in book.holdings())
    unrealised = value - sum(holding.cost for holding in book.holdings())
    assert sum(disposal.gain for disposal in disposals) + unrealised == cash + value


@given(histories)
def test_lots_lie_in_the_order_of_their_acquisition(history: list[FifoTransaction]) -> None:
    book = FifoBook("owner")
    for item in history:
        book.apply(item)
        for holding in book.holdings():
            keys = [lot[:2] for lot in holding.lots]
            assert keys == sorted(set(keys))


@given(histories, st.integers(0, 39))
def test_a_saved_book_continues_as_if_it_had_never_been_saved(history: list[FifoTransaction], cut: int) -> None:
    whole = FifoBook("owner")
    disposals = apply_all(whole, history)
    first = FifoBook("owner")
    found = apply_all(first, history[:cut])
    second = FifoBook.from_state(first.state())
    found += apply_all(second, history[cut:])
    assert found == disposals
    assert second.state() == whole.state()


@given(st.integers(1, 10**30), st.integers(2, 10**30), st.integers(1, 20), st.data())
def test_splitting_a_fill_moves_only_last_digits(cost: int, quantity: int, parts: int, data: st.DataObject) -> None:
    """A purchase in one fill or in several at the same price, sold in one piece, gains the same but for last digits."""
    sold = data.draw(st.integers(1, quantity))
    parts = min(parts, quantity)
    whole, split = FifoBook("owner"), FifoBook("owner")
    whole.apply(FifoTransaction("a", 1, TransactionKind.ACQUISITION, "main", "BTC", quantity, cost))
    for number in range(parts):
        share = quantity * (number + 1) // parts - quantity * number // parts
        value = cost * (number + 1) // parts - cost * number // parts
        if quantity % parts:
            value = cost * share // quantity
        split.apply(FifoTransaction(f"a{number:02}", 1, TransactionKind.ACQUISITION, "main", "BTC", share, value))
    sale = FifoTransaction("s", 2, TransactionKind.DISPOSAL, "main", "BTC", sold, 7 * sold)
    gain_whole = sum(disposal.gain for disposal in whole.apply(sale))
    gain_split = sum(disposal.gain for disposal in split.apply(sale))
    assert abs(gain_whole - gain_split) <= 2 * parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"version":2,"owner":"o","lastKey":[0,""],"holdings":[]}',
        '{"version":2,"owner":"o","lastKey":[0,0,""],"holdings":[["main","BTC",[[1,"a","x","1"]]]]}',
    ],
)
def test_a_state_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(FifoStateError, match=r"^state cannot be read: [A-Z][A-Za-z]+Error\("):
        FifoBook.from_state(text)


def test_a_state_of_another_version_is_refused() -> None:
    text = '{"version":1,"owner":"o","lastKey":[0,""],"holdings":[]}'
    with pytest.raises(FifoStateError, match=r"^state has version 1, not 2$"):
        FifoBook.from_state(text)


def test_the_state_of_a_book_stays_readable() -> None:
    """Checkpoints of earlier releases are in the database."""
    book = FifoBook("owner")
    apply_all(book, [transaction(1, "acquisition", 2, 10), transaction(2, "transfer", 1, destination="cold")])
    lot = f'[{DAY_MS},"t1","{AMOUNT_SCALE}","{5 * AMOUNT_SCALE}"]'
    state = (
        f'{{"version":2,"owner":"owner","lastKey":[{2 * DAY_MS},0,"t2"],'
        f'"holdings":[["cold","BTC",[{lot}]],["main","BTC",[{lot}]]]}}'
    )
    assert book.state() == state
    read = FifoBook.from_state(state)
    assert (read.owner, read.last_key, read.open_lots, read.holdings()) == (
        "owner", (2 * DAY_MS, 0, "t2"), 2, book.holdings(),
    )  # fmt: skip


def peak_memory(count: int) -> int:
    """Bytes at most, while that many transactions stream through a book: purchases that are sold again soon."""
    tracemalloc.start()
    try:
        book = FifoBook("owner")
        for number in range(count):
            kind = TransactionKind.DISPOSAL if number % 4 == 3 else TransactionKind.ACQUISITION
            quantity = 3 if number % 4 == 3 else 1
            book.apply(FifoTransaction(f"t{number:09}", number, kind, "main", "BTC", quantity, 100 * quantity))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("external_id", "sequence"),
    [
        ("CDddTzPp-9:buy:to", 9), ("CDddTzPp-10:sell:from", 10), ("deposit-10", 0), ("CDddTzPp-10:sell:fees", 0),
        ("CDddTzPp-:buy:to", 0), ("a:b-7:buy:to", 0), ("e-1234567890123456789:buy:to", 0),
    ],
)  # fmt: skip
def test_fills_of_one_millisecond_are_in_the_order_of_the_engine(external_id: str, sequence: int) -> None:
    one = replace(transaction(1, "acquisition", 2, 10), external_id=external_id)
    assert one.order_key == (DAY_MS, sequence, external_id)


def test_ten_times_as_many_transactions_need_no_more_memory() -> None:
    peak_memory(100)
    small, large = peak_memory(500), peak_memory(5_000)
    assert large < small * 1.5
