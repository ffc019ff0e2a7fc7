"""The fair prices of all markets in one process."""

from typing import Any

import pytest

from openspot.contracts.engine_events import TradeEvent
from openspot.contracts.messages import FairPriceEvent
from openspot.domain.fair_price.estimate import Remembered
from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.domain.fair_price.rules import FairPriceRules
from openspot.domain.money import AMOUNT_SCALE, MoneyError
from openspot.domain.owners import Owners
from openspot.market_data.book import BookBase
from openspot.market_data.fair_price_board import FairPriceBoard
from openspot.market_data.fair_price_store import OperatorPrice, PastTrade, Sample
from openspot.market_data.markets import Markets
from openspot.market_data.settings import MarketDataSettings

ONE = AMOUNT_SCALE
RULES = FairPriceRules()
SYMBOL = "BTC-USD"
NOW = 1_800_000_000_000
REFERENCES = {"USD": ONE, "BTC": 1000 * ONE, "BRL": ONE // 5}


def board(*, is_complete: bool = True) -> FairPriceBoard:
    made = FairPriceBoard(RULES, REFERENCES, {SYMBOL: 40})
    made.begin({}, [])
    made.is_complete = is_complete
    return made


def markets(*symbols: str, bids: tuple[str, str] = ("990", "5"), asks: tuple[str, str] = ("1010", "6")) -> Markets:
    made = Markets(10)
    made.begin({})
    for symbol in symbols or (SYMBOL,):
        made.set_base(symbol, BookBase(1, 0, [bids], [asks]))
    return made


def trade(price: str = "1000", quantity: str = "10", taker: str = "t", maker: str = "m", **fields: Any) -> TradeEvent:
    values: dict[str, Any] = dict.fromkeys(TradeEvent.__struct_fields__, "")
    values |= {"seq": 7, "timestamp": NOW, "symbol": SYMBOL, "price": price, "quantity": quantity, "taker_fee_bps": 0}
    return TradeEvent(**values | {"taker_participant_id": taker, "maker_participant_id": maker} | fields)


def ticked(made: FairPriceBoard, seconds: int = 1, around: Markets | None = None) -> FairPriceEvent:
    """The price of BTC-USD after this many seconds."""
    found = [made.tick(NOW + second * 1000, around or markets()) for second in range(seconds)][-1]
    return next(event for event in found if event.symbol == SYMBOL)


def remembered(price: int = 1000, timestamp_ms: int = NOW) -> Remembered:
    amounts = dict.fromkeys(("price", "low", "high", "day_median", "sellable", "buyable"), price * ONE)
    return Remembered(FairPrice(symbol=SYMBOL, state=PriceState.GOOD, timestamp_ms=timestamp_ms, **amounts))


def test_before_anybody_trades_the_settings_say_the_price() -> None:
    found = ticked(board(), around=markets("BTC-BRL", SYMBOL))
    assert (found.state, found.price) == ("thin", "1000")
    made = board()
    assert [(event.symbol, event.price) for event in made.tick(NOW, markets("BTC-BRL", SYMBOL, "ETH-USD"))] == [
        ("BTC-BRL", "5000"), (SYMBOL, "1000"),
    ]  # fmt: skip


def test_trades_and_the_book_make_the_price_with_every_figure() -> None:
    made = board()
    for number in range(4):
        made.take(trade("995", "20", taker=f"t{number}"))
    made.take(trade("900", "1000", taker="margin:m", maker="m"))
    assert ticked(made, 12) == FairPriceEvent(
        symbol=SYMBOL,
        # One part of the window does not make it good.
        state="thin",
        price="1000",
        low="1000",
        high="1000",
        day_median="995",
        sellable="5",
        buyable="6",
        timestamp=NOW + 11_000,
        reason="The price rests on the order book alone. "
        "It becomes sure when more people trade or when an outside price comes.",
    )


def test_a_book_in_the_middle_of_a_command_is_not_looked_at() -> None:
    made = board()
    made.take(trade())
    crossed = markets(bids=("1020", "5"), asks=("1010", "5"))
    ticked(made, 20, crossed)
    assert made.prices[SYMBOL].reason.startswith("The price rests on trades alone.")


def test_an_operators_price_counts_until_its_end_even_if_the_database_is_away() -> None:
    made = board()
    made.set_by_operator({SYMBOL: OperatorPrice(7 * ONE, NOW + 2000)}, Owners())
    assert (ticked(made, 2).state, made.prices[SYMBOL].price) == ("good", 7 * ONE)
    assert made.tick(NOW + 2000, markets())[0].state == "stale"


def test_linked_owners_make_no_price() -> None:
    made = board()
    made.take(trade("900"))
    assert ticked(made).price == "900"
    made.set_by_operator({}, Owners([("t", "m")]))
    assert ticked(made, 2).state == "stale"


def test_past_trades_count_in_their_part() -> None:
    made = board(is_complete=False)
    made.take_past([PastTrade(NOW - RULES.part_ms, SYMBOL, "a", "margin:b", 900 * ONE, 100 * ONE)])
    made.is_complete = True
    assert ticked(made).price == "900"


def test_until_the_past_is_known_the_last_price_counts_for_half_a_minute() -> None:
    made = board()
    made.begin({SYMBOL: remembered(1234)}, [])
    assert not made.is_complete
    found = ticked(made, 31)
    assert (found.state, found.price, found.timestamp) == ("good", "1234", NOW)
    assert ticked(made, 32).state == "stale"
    assert made.records() == []


def test_a_process_that_is_behind_says_that_its_prices_are_stale() -> None:
    made = board()
    made.begin({SYMBOL: remembered()}, [])
    (event,) = made.stale_events()
    assert (event.state, event.price, event.sellable, event.reason) == (
        "stale", "1000", "0", "Market data is behind the matching engine. Wait until it has caught up.",
    )  # fmt: skip
    assert made.prices[SYMBOL].state is PriceState.GOOD


def test_samples_are_handed_out_once_a_minute_and_recorded_ones_never_again() -> None:
    made = board()
    made.begin({SYMBOL: remembered()}, [Sample(SYMBOL, NOW - 60_000, 990 * ONE)])
    made.is_complete = True
    ticked(made, 61)
    samples = made.take_samples()
    assert samples == [Sample(SYMBOL, NOW, 1000 * ONE), Sample(SYMBOL, NOW + 60_000, 1000 * ONE)]
    assert made.take_samples() == []
    made.put_samples_back(samples)
    assert made.take_samples() == samples


def test_only_prices_that_people_made_are_kept() -> None:
    made = board()
    ticked(made, 2, markets(bids=("1", "1")))
    assert made.records() == []
    made.take(trade())
    ticked(made, 3)
    (record,) = made.records()
    assert record.remembered.price == made.prices[SYMBOL]
    # A third of 10,000, at 0.4 %.
    assert record.move_cost == made.move_cost(SYMBOL) == 13_333_333_333_333_333_333
    assert made.move_cost("ETH-USD") is None


def test_a_venues_quote_counts_and_nonsense_is_refused() -> None:
    made = board()
    made.quote(NOW, SYMBOL, "999", "1001")
    assert ticked(made).price == "1000"
    with pytest.raises(MoneyError):
        made.quote(NOW, SYMBOL, "x", "1001")


def test_a_quote_asset_without_a_reference_is_worth_about_its_market() -> None:
    made = FairPriceBoard(RULES, {"USD": ONE}, {})
    made.begin({}, [])
    made.is_complete = True
    two = markets("BTC-USD", "ETH-BTC")
    made.quote(NOW, "BTC-USD", "1000", "1000")
    made.tick(NOW, two)
    assert [made._dollars(asset) for asset in ("USD", "XYZ")] == [ONE, ONE]
    assert 500 * ONE < made._dollars("BTC") <= 1000 * ONE


def test_every_setting_reaches_its_rule() -> None:
    given: dict[str, Any] = {
        "parts": 5, "part_s": 60, "owner_part": 4, "volume_dollars": "1.5", "thin_volume_dollars": "0.25",
        "owners_min": 6, "parts_min": 2, "standing_s": 7, "depth_dollars": "8", "spread_bps": 9, "hold_s": 11,
        "venue_age_s": 12, "difference_bps": 13, "speed_bps": 14, "thin_difference_bps": 15,
        "unconfirmed_difference_bps": 18, "absorbed_band_bps": 16, "absorbed_share_bps": 17,
    }  # fmt: skip
    settings = MarketDataSettings(**{f"fair_price_{name}": value for name, value in given.items()})
    assert settings.fair_price_rules == FairPriceRules(
        parts=5,
        part_ms=60_000,
        owner_part=4,
        volume_dollars=3 * ONE // 2,
        thin_volume_dollars=ONE // 4,
        owners_min=6,
        parts_min=2,
        standing_ms=7000,
        depth_dollars=8 * ONE,
        spread_bps_max=9,
        hold_ms=11_000,
        venue_age_ms=12_000,
        difference_bps_max=13,
        speed_bps_max=14,
        thin_difference_bps_max=15,
        unconfirmed_difference_bps_max=18,
        absorbed_band_bps=16,
        absorbed_share_bps=17,
    )
    assert MarketDataSettings().fair_price_rules == FairPriceRules()
