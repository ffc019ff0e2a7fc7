"""A trade of the exchange as its two participants see it: each with the own side and fee, or refused with a reason."""

import msgspec
import pytest

from openspot.contracts.messages import ExecutedTrade, TradeFee, TradeFees
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from openspot.positions.fifo_transaction import TIMESTAMP_MAX
from openspot.positions.followed_trade import FollowedTrade, UnusableTradeError, followed_trade
from openspot.positions.holdings.trade_store import NewTrade, PositionKey
from openspot.positions.position import PositionTrade

ONE = AMOUNT_SCALE


def fees(of_buyer: str, of_seller: str) -> TradeFees:
    """Fees of half a unit for the buyer, and a rebate of a quarter for the seller, in these assets."""
    return TradeFees(TradeFee("alice", "0.5", of_buyer), TradeFee("bob", "-0.25", of_seller))


TRADE = ExecutedTrade(
    id="7-12", symbol="BTC-USD", base_asset="BTC", quote_asset="USD", buyer_id="alice", seller_id="bob", price="100.5",
    quantity="2", fees=fees("USD", "USD"), taker_side="buy",
    taker_order_id="o1", maker_order_id="o2", is_taker_completed=True, is_maker_completed=False, sequence=12,
    timestamp=5,
)  # fmt: skip


def test_each_participant_has_the_own_side_and_the_own_fee() -> None:
    assert followed_trade(TRADE) == FollowedTrade(
        "7-12",
        12,
        (
            NewTrade(
                PositionKey("alice", "BTC-USD"),
                PositionTrade("7-12:buy", 5, Side.BUY, 2 * ONE, 201 * ONE, ONE // 2),
                "fill",
            ),
            NewTrade(
                PositionKey("bob", "BTC-USD"),
                PositionTrade("7-12:sell", 5, Side.SELL, 2 * ONE, 201 * ONE, -ONE // 4),
                "fill",
            ),
        ),
    )


def test_a_notional_is_rounded_down_to_the_last_unit_for_both() -> None:
    least = msgspec.structs.replace(TRADE, price="0.000000000000000001", quantity="1.5")
    assert [side.trade.notional for side in followed_trade(least).sides] == [1, 1]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": "a b"}, "id is not a trade id"),
        ({"symbol": "BTC"}, "symbol is not <BASE>-<QUOTE>"),
        ({"timestamp": -1}, "timestamp is out of range"),
        ({"timestamp": TIMESTAMP_MAX + 1}, "timestamp is out of range"),
        ({"buyer_id": "a b"}, "the buyer's id is not one"),
        ({"seller_id": ""}, "the seller's id is not one"),
        ({"quantity": "0"}, "quantity must be positive"),
        ({"price": "x"}, "price"),
        ({"fees": fees("BTC", "USD")}, "the fee is in BTC, not in USD"),
        ({"fees": fees("USD", "BTC")}, "the fee is in BTC, not in USD"),
    ],
)  # fmt: skip
def test_a_trade_that_cannot_be_booked_is_refused_with_its_reason(change: dict[str, object], reason: str) -> None:
    with pytest.raises(UnusableTradeError, match=reason):
        followed_trade(msgspec.structs.replace(TRADE, **change))


def test_the_edges_of_time_are_themselves_allowed() -> None:
    for timestamp in (0, TIMESTAMP_MAX):
        assert followed_trade(msgspec.structs.replace(TRADE, timestamp=timestamp)).sides[0].trade.timestamp == timestamp
