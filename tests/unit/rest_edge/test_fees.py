"""The estimate and the fee lookup (facts A2.7-01 to A2.7-23)."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from openspot.engine_client.errors import EngineUnreachableError
from openspot.http.errors import HttpError
from openspot.rest_edge.funds.fees.estimate import PRICES, UnknownPriceError, estimate
from openspot.rest_edge.funds.fees.schemas import EstimateBody, TradingFeesResponse
from openspot.rest_edge.funds.fees.trading import TradingFeeService, trading_fees


def lookup(token: str = "", held: str = "0") -> TradingFeesResponse:
    return trading_fees(token, Decimal("100"), Decimal(held))


def estimated(**fields: object) -> dict[str, object]:
    body = EstimateBody.model_validate({"symbol": "BTC-USD", "side": "buy", "quantity": "1"} | fields)
    return estimate(body).model_dump(by_alias=True, mode="json")


@pytest.mark.spec("A2.7-22", "B4.1-04")
def test_a_market_buy_spends_the_subtotal_and_the_taker_fee() -> None:
    answer = estimated(quantity="0.5")
    assert (answer["subtotal"], answer["fee"], answer["feeRate"], answer["total"]) == ("32500", "65", "0.002", "32565")
    assert (answer["spendAsset"], answer["receiveAsset"]) == ("USD", "BTC")


@pytest.mark.spec("A2.7-21", "B4.1-04")
def test_a_limit_sell_receives_the_subtotal_less_the_maker_fee() -> None:
    answer = estimated(side="SELL", type="limit", price="100.01", quantity="0.123")
    assert (answer["subtotal"], answer["fee"], answer["total"]) == ("12.30123", "0.01230123", "12.28892877")
    assert (answer["spendAsset"], answer["receiveAsset"]) == ("BTC", "USD")


@pytest.mark.spec("A2.7-23")
def test_there_are_fixed_prices_for_six_symbols() -> None:
    assert len(PRICES) == 6
    for symbol in PRICES:
        assert estimated(symbol=symbol)["price"] == str(PRICES[symbol])
    with pytest.raises(UnknownPriceError) as unknown:
        estimated(symbol="USDC-USD")
    assert unknown.value.args == UnknownPriceError("USDC-USD").args
    assert estimated(symbol="USDC-USD", price="1.0001")["price"] == "1.0001"


def test_the_largest_figures_are_exact() -> None:
    answer = estimated(quantity="9" * 19 + "." + "9" * 18, price="9" * 19 + "." + "9" * 18)
    number = 10**37 - 1
    digits = str(number * number).rjust(37, "0")
    assert answer["subtotal"] == f"{digits[:-36]}.{digits[-36:]}".rstrip("0")


@pytest.mark.spec("A2.7-02")
def test_the_lookup_answers_bronze_for_everybody() -> None:
    fees = lookup()
    assert (fees.tier, fees.volume30d, fees.maker_rate, fees.taker_rate) == ("Bronze", "25000", "0.0016", "0.0026")


@pytest.mark.spec("A2.7-03", "A2.7-04", "A2.7-05", "A2.7-06", "A2.7-07", "A2.7-08", "A2.7-09")
def test_the_lookup_lists_every_tier() -> None:
    assert [(tier.name, tier.volume_min, tier.maker_rate, tier.taker_rate) for tier in lookup().tiers] == [
        ("Starter", "0", "0.002", "0.003"),
        ("Bronze", "10000", "0.0016", "0.0026"),
        ("Silver", "50000", "0.0014", "0.0024"),
        ("Gold", "100000", "0.0012", "0.0022"),
        ("Platinum", "500000", "0.001", "0.0018"),
        ("Diamond", "1000000", "0.0008", "0.0016"),
        ("VIP", "5000000", "0.0005", "0.001"),
    ]


@pytest.mark.spec("A2.7-19", "A2.7-20")
def test_only_a_holder_of_enough_of_the_token_has_the_token_holders_rates() -> None:
    def rates(token: str, held: str) -> tuple[str, str, bool]:
        fees = lookup(token, held)
        assert (fees.token_holder.maker_rate, fees.token_holder.taker_rate) == ("0.0003", "0.0006")
        return fees.maker_rate, fees.taker_rate, fees.token_holder.is_holder

    assert rates("SPOT", "100") == ("0.0003", "0.0006", True)
    assert rates("SPOT", "99.999999999999999999") == ("0.0016", "0.0026", False)
    # Without a token of the platform nobody holds one.
    assert rates("", "100") == ("0.0016", "0.0026", False)
    assert lookup("SPOT", "100").tier == "Bronze"
    assert (lookup("SPOT").token_holder.asset, lookup("").token_holder.asset) == ("SPOT", None)


class Engine:
    """An engine that knows the balances of one user, or does not respond."""

    def __init__(self, *totals: tuple[str, str]) -> None:
        self.totals = totals
        self.asked: list[str] = []

    async def balances(self, user_id: str) -> Any:
        self.asked.append(user_id)
        if not self.totals:
            raise EngineUnreachableError("refused")
        return [SimpleNamespace(asset=asset, total=total) for asset, total in self.totals]


async def test_the_lookup_reads_what_a_user_holds_of_the_token() -> None:
    async def is_holder(token: str, minimum: str, *totals: tuple[str, str]) -> bool:
        engine: Any = Engine(("USD", "1000"), *totals)
        found = await TradingFeeService(engine, token, Decimal(minimum)).lookup("u1")
        assert found.token_holder.minimum == minimum
        assert engine.asked == (["u1"] if token else [])
        return found.token_holder.is_holder

    assert await is_holder("SPOT", "100", ("SPOT", "100"))
    assert not await is_holder("SPOT", "100", ("SPOT", "99.99"))
    assert not await is_holder("SPOT", "0.5")
    assert not await is_holder("", "0.5", ("SPOT", "100"))


async def test_the_lookup_is_refused_while_the_engine_is_away() -> None:
    engine: Any = Engine()
    with pytest.raises(HttpError) as refused:
        await TradingFeeService(engine, "SPOT", Decimal(100)).lookup("u1")
    assert (refused.value.status_code, refused.value.message) == (503, "the matching engine does not respond")
