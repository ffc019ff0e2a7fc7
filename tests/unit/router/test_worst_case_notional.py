"""The notional floor of a market order, at the reference price and at the worst price that it may trade at."""

import pytest

from openspot.router.orders.pre_trade import PreTradeCheck, first_failure
from tests.unit.router.orders import candidate

# A market of tick 0.05, lot 0.001, floor 10 USD, slippage of at most 200 bps; the last trade was at 100.


@pytest.mark.spec("A1.3-24")
@pytest.mark.parametrize(
    ("side", "quantity", "slippage", "refused_by"),
    [
        # A sell trades at the worst below the reference: 0.102 at 98 is 9.996, 0.103 is 10.094.
        ("sell", "0.102", None, PreTradeCheck.SLIPPAGE),
        ("sell", "0.103", None, None),
        ("sell", "0.100", "100.0", PreTradeCheck.SLIPPAGE),
        ("sell", "0.101", "100.0", PreTradeCheck.SLIPPAGE),
        ("sell", "0.102", "100.0", None),
        # Without slippage the worst price is the reference itself.
        ("sell", "0.100", "0.0", None),
        # A buy trades at the worst above it: the floor at the reference decides, and comes first.
        ("buy", "0.100", None, None),
        ("buy", "0.099", None, PreTradeCheck.NOTIONAL),
        ("sell", "0.099", "0.0", PreTradeCheck.NOTIONAL),
    ],
)
def test_a_market_order_keeps_the_floor_at_its_worst_price(
    side: str, quantity: str, slippage: str | None, refused_by: PreTradeCheck | None
) -> None:
    given = candidate("100", type="market", price=None, side=side, quantity=quantity, max_slippage_bps=slippage)
    failure = first_failure(given)
    assert (failure and failure.check) == refused_by


@pytest.mark.spec("A1.3-24")
def test_the_refusal_names_notional_price_and_floor() -> None:
    failure = first_failure(candidate("100", type="market", price=None, side="sell", quantity="0.1"))
    assert failure is not None
    assert failure.reason == ("notional 9.8 USD at the worst-case price 98 is below the minimum of 10 on BTC-USD")


@pytest.mark.spec("A1.3-24")
@pytest.mark.parametrize(("spend", "refused"), [("10", True), ("10.097", True), ("10.098", False), ("10.2", False)])
def test_what_a_spend_buys_in_whole_lots_keeps_the_floor_too(spend: str, refused: bool) -> None:
    # At the worst price of 102 a spend of 10.097 buys 98 lots, which come to 9.996; one of 10.098 buys 99.
    given = candidate("100", type="market", price=None, quantity=None, quote_quantity=spend)
    failure = first_failure(given)
    assert refused == (failure is not None and failure.check is PreTradeCheck.SLIPPAGE)
