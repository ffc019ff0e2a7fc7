"""Fills of the exchange as FIFO transactions: fees, quotes that are property too, quantities as in the ledger."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.order import Side
from openspot.positions.fifo import FifoBook, ShortfallError
from openspot.positions.fifo_transaction import FifoTransaction, TransactionError, TransactionKind
from openspot.positions.fills import Fill, transactions_of_fill

A, D = TransactionKind.ACQUISITION, TransactionKind.DISPOSAL


def fill(side: Side, quote: str = "USD", fee: int = 3, quote_value: int | None = None) -> Fill:
    return Fill(
        trade_id="7-12",
        timestamp=5,
        account="spot",
        base="ETH",
        quote=quote,
        side=side,
        quantity=10,
        notional=200,
        fee=fee,
        quote_value=quote_value,
    )


def shown(transactions: list[FifoTransaction]) -> list[tuple[object, ...]]:
    return [(item.external_id, item.kind, item.asset, item.quantity, item.value, item.fee) for item in transactions]


def test_a_fill_in_the_accounting_currency_moves_lots_of_the_base_only() -> None:
    assert shown(transactions_of_fill(fill(Side.BUY), "USD")) == [("7-12:buy:to", A, "ETH", 10, 200, 3)]
    assert shown(transactions_of_fill(fill(Side.SELL), "USD")) == [("7-12:sell:from", D, "ETH", 10, 200, 3)]
    assert shown(transactions_of_fill(fill(Side.BUY, fee=-1), "USD")) == [("7-12:buy:to", A, "ETH", 10, 200, -1)]


def test_a_fill_in_another_quote_gives_one_asset_for_the_other_fee_included() -> None:
    assert shown(transactions_of_fill(fill(Side.BUY, "BTC", quote_value=900), "USD")) == [
        ("7-12:buy:from", D, "BTC", 203, 900, 0),
        ("7-12:buy:to", A, "ETH", 10, 900, 0),
    ]
    assert shown(transactions_of_fill(fill(Side.SELL, "BTC", quote_value=900), "USD")) == [
        ("7-12:sell:from", D, "ETH", 10, 900, 0),
        ("7-12:sell:to", A, "BTC", 197, 900, 0),
    ]


def test_what_goes_out_comes_first_so_a_shortfall_leaves_nothing_half_done() -> None:
    book = FifoBook("owner")
    with pytest.raises(ShortfallError, match="7-12:buy:from takes"):
        for item in transactions_of_fill(fill(Side.BUY, "BTC", quote_value=900), "USD"):
            book.apply(item)
    assert book.holdings() == []


def test_a_value_of_the_quote_is_asked_for_exactly_where_it_is_needed() -> None:
    with pytest.raises(TransactionError, match="quoteValue is missing: BTC is not the accounting currency"):
        transactions_of_fill(fill(Side.BUY, "BTC"), "USD")
    with pytest.raises(TransactionError, match="quoteValue is not needed"):
        transactions_of_fill(fill(Side.BUY, quote_value=1), "USD")


sides = st.lists(st.tuples(st.sampled_from(Side), st.integers(1, 10**20), st.integers(100, 10**20)), max_size=30)


@given(sides)
def test_quantities_equal_what_a_ledger_would_hold(fills: list[tuple[Side, int, int]]) -> None:
    """ETH-BTC fills from a full account, against plain debits and credits."""
    book, ledger = FifoBook("owner"), defaultdict(lambda: 10**25)
    for asset in ("BTC", "ETH"):
        book.apply(FifoTransaction(f"deposit-{asset}", 0, A, "spot", asset, 10**25, 1))
    for number, (side, quantity, notional) in enumerate(fills, start=1):
        fee = notional // 100
        trade = Fill(
            trade_id=f"t{number:02}",
            timestamp=number,
            account="spot",
            base="ETH",
            quote="BTC",
            side=side,
            quantity=quantity,
            notional=notional,
            fee=fee,
            quote_value=12,
        )
        for item in transactions_of_fill(trade, "USD"):
            book.apply(item)
        sign = 1 if side is Side.BUY else -1
        ledger["ETH"] += sign * quantity
        ledger["BTC"] -= sign * notional + fee
    assert {asset: book.held("spot", asset) for asset in ("BTC", "ETH")} == {
        asset: ledger[asset] for asset in ("BTC", "ETH")
    }
