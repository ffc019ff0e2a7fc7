"""The pre-trade check: every reason, and the order of the steps."""

from decimal import Decimal
from typing import Any

import pytest

from openspot.domain.fair_price.band import PriceReference
from openspot.domain.market import load_markets
from openspot.router.orders.pre_trade import STEPS, PreTradeCheck, Reference, first_failure
from tests.unit.router.orders import LIMITS, candidate


def reason_of(reference: str | None = None, available: str | None = None, **fields: Any) -> str | None:
    given = candidate(reference, **fields)
    given.available = None if available is None else Decimal(available)
    failure = first_failure(given)
    return None if failure is None else failure.reason


def check_of(reference: str | None = None, available: str | None = None, **fields: Any) -> PreTradeCheck | None:
    given = candidate(reference, **fields)
    given.available = None if available is None else Decimal(available)
    failure = first_failure(given)
    return None if failure is None else failure.check


MARKET = {"type": "market", "price": None}


@pytest.mark.spec("A7-01", "A7-02")
@pytest.mark.parametrize("order_type", ["stop_limit", "stop_market"])
def test_a_stop_order_is_refused(order_type: str) -> None:
    assert reason_of(type=order_type, stop_price="90") == "Stop orders are not yet supported"


@pytest.mark.spec("A7-03")
def test_a_symbol_without_a_market_is_refused() -> None:
    assert reason_of(symbol="DOGE-USD") == "Market DOGE-USD not found"


@pytest.mark.spec("A1.3-10", "A1.3-11", "A1.3-12", "A1.3-13", "A1.3-16")
@pytest.mark.parametrize(
    ("fields", "reference", "available", "reason"),
    [
        # quantity
        ({"quantity": None}, None, None, "quantity is required"),
        ({"quantity": "0.0099"}, None, None, "quantity 0.0099 is below the minimum of 0.01 on BTC-USD"),
        ({"quantity": "0"}, None, None, "quantity 0 is below the minimum of 0.01 on BTC-USD"),
        ({"quantity": "-1"}, None, None, "quantity -1 is below the minimum of 0.01 on BTC-USD"),
        ({"quantity": "10.001"}, None, None, "quantity 10.001 is above the maximum of 10 on BTC-USD"),
        ({"quantity": "1.00001"}, None, None, "quantity 1.00001 has more than 4 decimal places"),
        ({"quantity": "1.0005"}, None, None, "quantity 1.0005 is not a multiple of the lot 0.001"),
        ({"quote_quantity": "50"}, None, None, "quoteQuantity is for market buys only"),
        (MARKET | {"side": "sell", "quantity": None, "quote_quantity": "50"}, "100", None,
         "quoteQuantity is for market buys only"),
        (MARKET | {"quote_quantity": "50"}, "100", None, "quantity and quoteQuantity exclude each other"),
        (MARKET | {"quantity": None, "quote_quantity": "0"}, "100", None, "quoteQuantity 0 must be positive"),
        (MARKET | {"quantity": None, "quote_quantity": "0.001"}, "100", None,
         "quantity 0 is below the minimum of 0.01 on BTC-USD"),
        # notional
        ({"price": None}, None, None, "price is required for a limit order"),
        ({"price": "0"}, None, None, "price 0 must be positive"),
        ({"price": "-5"}, None, None, "price -5 must be positive"),
        ({"price": "100.001"}, None, None, "price 100.001 has more than 2 decimal places"),
        ({"price": "100.01"}, None, None, "price 100.01 is not a multiple of the tick 0.05"),
        ({"price": "9.95"}, None, None, "notional 9.95 USD is below the minimum of 10 on BTC-USD"),
        ({"price": "1000.05"}, None, None, "notional 1000.05 USD is above the maximum of 1000 on BTC-USD"),
        (MARKET | {"quantity": "0.09"}, "100", None, "notional 9 USD is below the minimum of 10 on BTC-USD"),
        (MARKET | {"quantity": None, "quote_quantity": "1000.01"}, "100", None,
         "notional 1000.01 USD is above the maximum of 1000 on BTC-USD"),
        # deviation
        ({"price": "110.05"}, "100", None,
         "price 110.05 deviates from the last trade price 100 by more than 1000 bps on BTC-USD"),
        ({"price": "89.95"}, "100", None,
         "price 89.95 deviates from the last trade price 100 by more than 1000 bps on BTC-USD"),
        # slippage
        (MARKET, None, None, "no recent trade price for BTC-USD: a market order needs one"),
        (MARKET | {"quantity": None, "quote_quantity": "50"}, None, None,
         "no recent trade price for BTC-USD: a market order needs one"),
        (MARKET | {"max_slippage_bps": "200.5"}, "100", None,
         "maxSlippageBps 200.5 is above the ceiling of 200 on BTC-USD"),
        (MARKET | {"side": "sell", "quantity": "0.1"}, "100", None,
         "notional 9.8 USD at the worst-case price 98 is below the minimum of 10 on BTC-USD"),
        # balance
        ({}, None, "99.99", "insufficient USD balance: the order needs 100, 99.99 is available"),
        ({"side": "sell"}, None, "0.999", "insufficient BTC balance: the order needs 1, 0.999 is available"),
        (MARKET, "100", "101.99", "insufficient USD balance: the order needs 102, 101.99 is available"),
    ],
)  # fmt: skip
def test_a_refusal_names_field_value_and_bound(
    fields: dict[str, Any], reference: str | None, available: str | None, reason: str
) -> None:
    assert reason_of(reference, available, **fields) == reason


@pytest.mark.spec("A1.3-11", "A1.3-12", "A1.3-13")
@pytest.mark.parametrize(
    ("fields", "reference", "available"),
    [
        ({"quantity": "0.1"}, None, None),
        ({"quantity": "10"}, None, None),
        ({"price": "10"}, None, None),
        ({"price": "1000"}, None, None),
        ({"price": "110"}, "100", None),
        ({"price": "90"}, "100", None),
        ({}, None, "100"),
        ({"side": "sell"}, None, "1"),
        (MARKET | {"max_slippage_bps": "200.0"}, "100", "102"),
        (MARKET | {"quantity": None, "quote_quantity": "1000"}, "100", None),
        (MARKET | {"side": "sell", "max_slippage_bps": "0.0", "quantity": "0.1"}, "100", None),
    ],
)
def test_an_order_at_a_bound_passes(fields: dict[str, Any], reference: str | None, available: str | None) -> None:
    assert reason_of(reference, available, **fields) is None


@pytest.mark.spec("A1.3-23")
def test_a_market_order_may_have_the_markets_slippage_ceiling_and_no_more() -> None:
    ceiling = LIMITS.slippage_bps_max
    assert reason_of("100", **MARKET, max_slippage_bps=f"{ceiling}.0") is None
    reason = reason_of("100", **MARKET, max_slippage_bps=f"{ceiling}.1")
    assert reason == f"maxSlippageBps {ceiling}.1 is above the ceiling of {ceiling} on BTC-USD"


@pytest.mark.spec("A1.3-14")
def test_the_deviation_is_not_looked_at_for_a_market_order() -> None:
    # Its price, if any, is not read.
    assert reason_of("100", type="market", price="500") is None


@pytest.mark.spec("A1.3-15", "A2.1-10")
def test_the_slippage_guard_is_not_looked_at_for_a_limit_order() -> None:
    assert reason_of(None, max_slippage_bps="9999.0") is None
    assert reason_of("100", **MARKET) is None


def against_fair(fair: str | None, width_bps: int = 1000, **fields: Any) -> str | None:
    """Why an order is refused whose price is compared with a fair price."""
    order = candidate(**fields)
    order.reference = Reference(None if fair is None else Decimal(fair), PriceReference.FAIR_PRICE, width_bps)
    failure = first_failure(order)
    return None if failure is None else failure.reason


def test_with_a_fair_price_the_band_has_its_own_width_and_says_what_it_is_centred_on() -> None:
    assert against_fair("100", price="110") is None
    assert against_fair("100", price="110.05") == (
        "price 110.05 deviates from the fair price 100 by more than 1000 bps on BTC-USD"
    )
    assert against_fair("100", 2000, price="120") is None
    assert against_fair("100", 2000, price="120.05") is not None
    assert against_fair(None, 2000, price="500") is None


def test_a_market_order_is_bounded_around_the_fair_price_and_refused_without_one() -> None:
    assert against_fair("100", **MARKET) is None
    order = candidate(**MARKET)
    order.reference = Reference(Decimal(100), PriceReference.FAIR_PRICE, 5000)
    assert (first_failure(order), order.price) == (None, Decimal(102))
    assert against_fair(None, **MARKET) == (
        "no fair price for BTC-USD yet: a market order needs one, a limit order does not"
    )


@pytest.mark.spec("A1.3-17")
def test_an_order_passes_where_nobody_knows_the_balance() -> None:
    assert reason_of(None, None) is None


@pytest.mark.spec("A1.3-05", "A1.3-06", "A1.3-07", "A1.3-08", "A1.3-09")
def test_the_steps_stand_in_the_order_of_the_spec() -> None:
    assert [PreTradeCheck.OPENING, *(check for check, _ in STEPS)] == list(PreTradeCheck)
    # An order that fails every step that it can: mending the first leads to the next.
    bad: dict[str, Any] = {"type": "stop_limit", "symbol": "DOGE-USD", "quantity": "0.001", "price": "5000"}
    assert check_of("100", "0", **bad) is PreTradeCheck.STOP_ORDER
    bad["type"] = "limit"
    assert check_of("100", "0", **bad) is PreTradeCheck.MARKET
    bad["symbol"] = "BTC-USD"
    assert check_of("100", "0", **bad) is PreTradeCheck.QUANTITY
    bad["quantity"] = "1"
    assert check_of("100", "0", **bad) is PreTradeCheck.NOTIONAL
    bad["price"] = "500"
    assert check_of("100", "0", **bad) is PreTradeCheck.DEVIATION
    bad["price"] = "100"
    assert check_of("100", "0", **bad) is PreTradeCheck.BALANCE
    assert check_of("100", "100", **bad) is None


@pytest.mark.spec("A1.3-08", "A1.3-09")
def test_a_market_order_meets_notional_then_slippage_then_balance() -> None:
    bad: dict[str, Any] = MARKET | {"quantity": "0.09", "max_slippage_bps": "5000.0"}
    assert check_of("100", "0", **bad) is PreTradeCheck.NOTIONAL
    bad["quantity"] = "1"
    assert check_of("100", "0", **bad) is PreTradeCheck.SLIPPAGE
    bad["max_slippage_bps"] = "10.0"
    assert check_of("100", "0", **bad) is PreTradeCheck.BALANCE


@pytest.mark.parametrize(
    ("side", "reference", "slippage", "bound"),
    [
        ("buy", "100", "200.0", "102"),
        ("sell", "100", "200.0", "98"),
        ("buy", "100", None, "102"),
        # Rounded to the tick of 0.05 towards the reference, never beyond what was allowed.
        ("buy", "100.05", "100.0", "101.05"),
        ("sell", "100.05", "100.0", "99.05"),
        ("buy", "100", "12.5", "100.1"),
        ("sell", "100", "12.5", "99.9"),
        ("buy", "100", "0.0", "100"),
        ("sell", "100", "0.0", "100"),
    ],
)
def test_a_market_order_is_bound_by_reference_and_slippage(
    side: str, reference: str, slippage: str | None, bound: str
) -> None:
    given = candidate(reference, side=side, max_slippage_bps=slippage, **MARKET)
    assert first_failure(given) is None
    assert given.price == Decimal(bound)


@pytest.mark.parametrize(
    ("quote_quantity", "slippage", "quantity"),
    [("102", "200.0", "1"), ("101.99", "200.0", "0.999"), ("100", "0.0", "1"), ("33.333", "0.0", "0.333")],
)
def test_a_spend_buys_whole_lots_at_the_worst_price(quote_quantity: str, slippage: str, quantity: str) -> None:
    given = candidate("100", quantity=None, quote_quantity=quote_quantity, max_slippage_bps=slippage, **MARKET)
    assert first_failure(given) is None
    assert given.quantity == Decimal(quantity)
    assert given.funds_needed <= Decimal(quote_quantity)


@pytest.mark.spec("A1.3-27", "A1.3-28")
def test_price_and_quantity_become_scaled_integers_exactly() -> None:
    given = candidate(price="99.95", quantity="1.234")
    assert first_failure(given) is None
    assert (given.scaled_price, given.scaled_quantity) == (9995, 12340)


def test_the_widest_numbers_of_a_request_are_handled_exactly() -> None:
    huge = "9" * 19 + "." + "9" * 18
    assert "above the maximum" in (reason_of(quantity=huge) or "")
    assert "decimal places" in (reason_of(price=huge) or "")
    assert reason_of(huge, **MARKET) is not None
    assert reason_of("100", max_slippage_bps="1e-17", **MARKET) is None


@pytest.mark.spec("A2.5-07")
def test_the_check_knows_twelve_markets_and_the_bounds_of_each() -> None:
    limits = load_markets().limits
    names = "BTC-USD ETH-USD SOL-USD BTC-BRL ETH-BRL SOL-BRL ETH-BTC BTC-USDT ETH-USDT SOL-USDT USDT-USD USDC-USD"
    assert set(limits) == set(names.split())
    for market in limits.values():
        assert 0 < market.quantity_min < market.quantity_max
        assert 0 < market.notional_min < market.notional_max
        assert 0 < market.deviation_bps_max < 10_000
        assert 0 < market.slippage_bps_max < 10_000


def test_the_least_quantity_is_itself_allowed() -> None:
    assert reason_of(quantity="0.01", price="1000") is None


def refusal_under_complete_rules(reference: str | None = "100", **fields: Any) -> str | None:
    given = candidate(reference, **fields)
    given.has_complete_rules = True
    failure = first_failure(given)
    return None if failure is None else failure.reason


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"post_only": "refuse"}, None),
        ({"post_only": "slide", "time_in_force": "gtc"}, None),
        (MARKET | {"post_only": "refuse"}, "postOnly is for limit orders only"),
        ({"post_only": "refuse", "time_in_force": "ioc"}, "postOnly does not go with timeInForce ioc"),
        ({"post_only": "slide", "time_in_force": "fok"}, "postOnly does not go with timeInForce fok"),
        (MARKET | {"quantity": None, "quote_quantity": "50", "side": "sell"}, None),
        ({"quantity": None, "quote_quantity": "50"}, "quoteQuantity is for market orders only"),
        (MARKET | {"quantity": None, "quote_quantity": "50", "time_in_force": "fok"},
         "quoteQuantity does not go with timeInForce fok"),
        (MARKET | {"quantity": None, "quote_quantity": "0", "side": "sell"}, "quoteQuantity 0 must be positive"),
        (MARKET | {"quantity": None, "quote_quantity": "5", "side": "sell"},
         "notional 5 USD is below the minimum of 10 on BTC-USD"),
        (MARKET | {"quantity": None, "quote_quantity": "1001", "side": "sell"},
         "quantity 10.214 is above the maximum of 10 on BTC-USD"),
    ],
)  # fmt: skip
def test_the_complete_rules_take_more_orders_and_say_why_not(fields: dict[str, Any], reason: str | None) -> None:
    assert refusal_under_complete_rules(**fields) == reason


def test_post_only_does_not_exist_under_the_specifications_rules() -> None:
    assert reason_of(post_only="refuse") == "postOnly is not available under the rules of this platform"


def test_a_sell_of_an_amount_in_quote_needs_no_more_than_the_least_quantity() -> None:
    given = candidate("100", **MARKET, quantity=None, quote_quantity="500", side="sell")
    given.has_complete_rules = True
    given.available = Decimal("0.01")
    assert first_failure(given) is None
    given.available = Decimal("0.009")
    failure = first_failure(given)
    assert failure is not None
    assert failure.reason == "insufficient BTC balance: the order needs 0.01, 0.009 is available"


def test_a_buy_of_an_amount_in_quote_needs_that_amount() -> None:
    given = candidate("100", **MARKET, quantity=None, quote_quantity="500")
    given.has_complete_rules = True
    given.available = Decimal("499.99")
    failure = first_failure(given)
    assert failure is not None
    assert failure.reason == "insufficient USD balance: the order needs 500, 499.99 is available"
