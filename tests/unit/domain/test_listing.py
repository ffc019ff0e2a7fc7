"""The rules of a listing: what a new market must fulfil, and which status may follow which."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from openspot.domain.listing import (
    FIRST,
    FOLLOWING,
    ListingCheck,
    MarketStatus,
    ProposedBounds,
    ProposedMarket,
    ScheduledStatus,
    Surroundings,
    asset_checks,
    faults,
    market_checks,
    schedule_checks,
    status_fault,
)

BOUNDS = ProposedBounds(
    quantity_min=Decimal(1),
    quantity_max=Decimal(1000),
    notional_min=Decimal(1),
    notional_max=Decimal(5000),
    deviation_bps_max=2000,
    slippage_bps_max=500,
)
MARKET = ProposedMarket(
    symbol="DOGE-USD",
    base_places=8,
    quote_places=2,
    tick=Decimal("0.0001"),
    lot=Decimal("0.1"),
    taker_fee_bps=25,
    maker_fee_bps=15,
    bounds=BOUNDS,
    name="Dogecoin",
    announcement="",
    status=MarketStatus.ANNOUNCED,
    schedule=[],
)
AROUND = Surroundings(symbols=frozenset({"BTC-USD"}), now_ms=1_000, has_phases=True)
YEAR_MS = 366 * 86_400_000


def found(**changes: Any) -> list[str]:
    return faults(market_checks(replace(MARKET, **changes), AROUND))


def bounds(**changes: Any) -> list[str]:
    return found(bounds=replace(BOUNDS, **changes))


def at(*entries: tuple[str, int]) -> list[ScheduledStatus]:
    return [ScheduledStatus(MarketStatus(status), time) for status, time in entries]


def test_a_sound_market_has_no_fault_and_every_rule_is_shown() -> None:
    checks = market_checks(MARKET, AROUND)
    assert faults(checks) == []
    assert len(checks) == 29
    assert all(check.rule for check in checks)
    assert checks[0] == ListingCheck("symbol", "two assets of 2 to 10 capital letters or digits, joined by -", "")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"symbol": "DOGEUSD"}, "symbol must have the format <BASE>-<QUOTE>, for example BTC-USD"),
        ({"symbol": "USD-USD"}, "symbol must not have the same asset twice"),
        ({"symbol": "BTC-USD"}, "symbol BTC-USD exists already"),
        ({"base_places": None}, "symbol there is no asset DOGE: list it with the market"),
        ({"quote_places": None}, "symbol there is no asset USD"),
        ({"tick": Decimal("0.00000000000001")}, "lotSize tickSize and lotSize have too many decimal places"),
        ({"base_places": 0}, "lotSize is finer than the 0 decimal places of the base asset"),
        ({"taker_fee_bps": 1001}, "takerFee must be between 0 and 1000"),
        ({"taker_fee_bps": -1, "maker_fee_bps": 1}, "takerFee must be between 0 and 1000"),
        ({"maker_fee_bps": -26}, "makerFee must be between minus the taker fee and 1000"),
        ({"maker_fee_bps": 1001}, "makerFee must be between minus the taker fee and 1000"),
        ({"name": "x" * 65}, "name must have at most 64 characters"),
        ({"name": "a\nb"}, "name must be of printable characters"),
        ({"announcement": "x" * 501}, "announcement must have at most 500 characters"),
        ({"status": MarketStatus.DELISTED}, "status must be one of announced, auction, open, post-only"),
    ],
)
def test_each_rule_of_a_new_market_names_its_field(changes: dict[str, Any], fault: str) -> None:
    assert found(**changes) == [fault]


@pytest.mark.parametrize(
    "changes",
    [
        {"tick": Decimal("0.0000000000001")},
        {"base_places": 1},
        {"taker_fee_bps": 0, "maker_fee_bps": 0},
        {"taker_fee_bps": 1000, "maker_fee_bps": -1000},
        {"maker_fee_bps": -25},
        {"name": "x" * 64, "announcement": "x" * 500},
    ],
)
def test_each_rule_is_fulfilled_at_its_edge(changes: dict[str, Any]) -> None:
    assert found(**changes) == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"quantity_min": Decimal(0)}, "quantityMin must be above 0"),
        ({"quantity_min": Decimal("1000.1")}, "quantityMax must not be below quantityMin"),
        ({"quantity_min": Decimal("1.05")}, "quantityMin quantityMin and quantityMax must be multiples of lotSize"),
        ({"quantity_max": Decimal("1.05")}, "quantityMin quantityMin and quantityMax must be multiples of lotSize"),
        ({"quantity_max": Decimal(2**62) / 10 + Decimal("0.2")}, "quantityMax is beyond the engine's range"),
        ({"notional_min": Decimal(0)}, "notionalMin must be above 0"),
        ({"notional_min": Decimal("5000.01")}, "notionalMax must not be below notionalMin"),
        ({"deviation_bps_max": 0}, "deviationBpsMax must be between 1 and 10000"),
        ({"deviation_bps_max": 10_001}, "deviationBpsMax must be between 1 and 10000"),
        ({"slippage_bps_max": 0}, "slippageBpsMax must be between 1 and 10000"),
        ({"slippage_bps_max": 10_001}, "slippageBpsMax must be between 1 and 10000"),
    ],
)
def test_each_rule_of_the_bounds_names_its_field(changes: dict[str, Any], fault: str) -> None:
    assert fault in bounds(**changes)


def test_bounds_are_fulfilled_at_their_edges() -> None:
    assert bounds(quantity_min=Decimal(1000)) == []
    assert bounds(notional_min=Decimal(5000)) == []
    assert bounds(deviation_bps_max=10_000, slippage_bps_max=10_000) == []
    assert bounds(deviation_bps_max=1, slippage_bps_max=1) == []


def test_numbers_of_any_length_are_compared_exactly() -> None:
    assert faults(market_checks(replace(MARKET, tick=Decimal("1E-18"), lot=Decimal("1E-18")), AROUND)) == [
        "lotSize tickSize and lotSize have too many decimal places",
        "lotSize is finer than the 8 decimal places of the base asset",
        "quantityMax is beyond the engine's range",
    ]


def test_steps_that_are_not_above_zero_are_refused_without_a_division() -> None:
    assert found(tick=Decimal(0), lot=Decimal(0)) == [
        "tickSize must be above 0",
        "lotSize must be above 0",
        "quantityMin quantityMin and quantityMax must be multiples of lotSize",
    ]


@pytest.mark.parametrize(
    ("schedule", "fault"),
    [
        (at(("open", 1_000)), "schedule must be in the future"),
        (at(("open", 1_001 + YEAR_MS)), "schedule must be within a year"),
        (at(("auction", 3_000), ("open", 2_000)), "schedule must be in order of time, each at a time of its own"),
        (at(("auction", 2_000), ("open", 2_000)), "schedule must be in order of time, each at a time of its own"),
        (at(("open", 2_000), ("auction", 3_000)), "schedule auction cannot follow open"),
    ],
)
def test_each_rule_of_a_schedule(schedule: list[ScheduledStatus], fault: str) -> None:
    assert faults(schedule_checks(schedule, MarketStatus.ANNOUNCED, AROUND)) == [fault]


def test_a_schedule_at_its_edges_and_one_that_is_too_long() -> None:
    whole = at(("post-only", 1_001), ("auction", 1_002), ("open", 1_000 + YEAR_MS))
    assert faults(schedule_checks(whole, MarketStatus.ANNOUNCED, AROUND)) == []
    long = at(*(("open", 2_000 + number) for number in range(9)))
    assert "schedule must have at most 8 entries" in faults(schedule_checks(long, MarketStatus.ANNOUNCED, AROUND))


def test_without_phases_a_market_is_announced_and_opens() -> None:
    plain = replace(AROUND, has_phases=False)
    needs = "needs OPENSPOT_RULES=complete"
    assert faults(market_checks(replace(MARKET, status=MarketStatus.AUCTION), plain)) == [f"status auction {needs}"]
    assert faults(schedule_checks(at(("post-only", 2_000)), MarketStatus.ANNOUNCED, plain)) == [
        f"schedule post-only {needs}"
    ]
    assert faults(schedule_checks(at(("open", 2_000)), MarketStatus.ANNOUNCED, plain)) == []
    assert status_fault(MarketStatus.ANNOUNCED, MarketStatus.POST_ONLY, has_phases=False) == f"post-only {needs}"
    assert status_fault(MarketStatus.ANNOUNCED, MarketStatus.OPEN, has_phases=False) == ""


def test_a_market_goes_forward_only_and_comes_back_by_a_new_announcement() -> None:
    allowed = {(before.value, after.value) for before, all_after in FOLLOWING.items() for after in all_after}
    assert allowed == {
        ("announced", "post-only"), ("announced", "auction"), ("announced", "open"), ("announced", "delisting"),
        ("post-only", "auction"), ("post-only", "open"), ("post-only", "delisting"),
        ("auction", "open"), ("auction", "delisting"), ("open", "delisting"), ("delisted", "announced"),
    }  # fmt: skip
    assert {status.value for status in FIRST} == {"announced", "post-only", "auction", "open"}
    assert status_fault(MarketStatus.OPEN, MarketStatus.AUCTION, has_phases=True) == (
        "auction cannot follow open: delisting can"
    )
    assert status_fault(MarketStatus.DELISTING, MarketStatus.OPEN, has_phases=True) == (
        "open cannot follow delisting: nothing that an operator sets can"
    )


@pytest.mark.parametrize(
    ("asset", "places", "name", "logo", "fault"),
    [
        ("doge", 8, "Dogecoin", "", "asset.currency must be 2 to 10 capital letters or digits, for example BTC"),
        ("BTC", 8, "Bitcoin", "", "asset.currency BTC exists already"),
        ("DOGE", -1, "Dogecoin", "", "asset.places must be between 0 and 18"),
        ("DOGE", 19, "Dogecoin", "", "asset.places must be between 0 and 18"),
        ("DOGE", 8, "", "", "asset.name must not be empty"),
        ("DOGE", 8, "Dogecoin", "a b", "asset.logo must be 1 to 32 small letters, digits or -"),
        ("DOGE", 8, "Dogecoin", "x" * 33, "asset.logo must be 1 to 32 small letters, digits or -"),
    ],
)
def test_each_rule_of_a_new_asset(asset: str, places: int, name: str, logo: str, fault: str) -> None:
    assert faults(asset_checks(asset, places, name, logo, frozenset({"BTC"}))) == [fault]


def test_a_sound_asset_has_no_fault() -> None:
    for places in (0, 18):
        assert faults(asset_checks("DOGE", places, "Dogecoin", "doge-2", frozenset({"BTC"}))) == []
