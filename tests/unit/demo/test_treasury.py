"""The bots' funds: which deposits they get, and what assets are worth."""

import math
from decimal import Decimal

import pytest

from openspot.contracts.messages import DepositConfirmed
from openspot.demo.inventory import InventoryTarget
from openspot.demo.market import demo_markets
from openspot.demo.prices import usual_prices
from openspot.demo.treasury import Funding, HouseFunding, Treasury, fundings, house_fundings
from openspot.demo.valuation import DISTANCE_MAX, distances, dollar_prices, targets
from openspot.domain.market import load_markets
from openspot.kit.bus import PublishError

TARGETS = {"BTC": InventoryTarget(Decimal(80), Decimal(4)), "USD": InventoryTarget(Decimal(5000), Decimal(100))}


def deposits(bitcoin: str, dollars: str, day: str = "2026-01-02") -> list[Funding]:
    return list(fundings("bot", {"BTC": Decimal(bitcoin), "USD": Decimal(dollars)}, TARGETS, day))


def test_a_bot_without_funds_gets_them_under_one_reference_on_every_day() -> None:
    first = [Funding("bot-BTC-first", "BTC", Decimal(80)), Funding("bot-USD-first", "USD", Decimal(5000))]
    assert list(fundings("bot", {}, TARGETS, "2026-01-02")) == first
    assert deposits("0", "0", "2026-01-03") == first


def test_what_fees_used_up_comes_back_once_a_day() -> None:
    assert deposits("78", "5100") == []
    assert deposits("77.9", "5100") == [Funding("bot-BTC-2026-01-02", "BTC", Decimal(2))]
    # The same day has the same deposit, whatever was lost meanwhile; the next one has another.
    assert deposits("70", "5100") == [Funding("bot-BTC-2026-01-02", "BTC", Decimal(2))]
    assert deposits("70", "5100", "2026-01-03") == [Funding("bot-BTC-2026-01-03", "BTC", Decimal(2))]


def test_every_asset_has_a_price_in_dollars_and_a_target_that_deposits_can_make() -> None:
    configuration = load_markets()
    prices = dollar_prices(demo_markets(configuration), usual_prices(configuration.seeds))
    assert set(prices) == set(configuration.assets)
    assert abs(prices["BTC"] / 60_000 - 1) < Decimal("0.01")
    # BRL has no market with the dollar: its price comes by way of another asset.
    assert abs(prices["BRL"] / Decimal("0.18") - 1) < Decimal("0.01")
    found = targets(Decimal(1_000_000), Decimal("0.05"), prices, configuration.assets)
    for asset, target in found.items():
        assert abs(target.amount * prices[asset] / 1_000_000 - 1) < Decimal("0.001")
        assert target.amount == round(target.amount, configuration.assets[asset].places)
        assert abs(target.band / target.amount - Decimal("0.05")) < Decimal("0.0001")


def test_prices_go_on_where_the_markets_stand_but_not_at_an_absurd_one() -> None:
    usual = {"BTC": Decimal(60_000), "ETH": Decimal(3000), "BRL": Decimal("0.2")}
    now = {"BTC": Decimal(66_000), "ETH": Decimal("0.01"), "NEW": Decimal(1)}
    assert distances(now, usual) == {"BTC": math.log(Decimal("1.1")), "ETH": -DISTANCE_MAX}


def test_assets_without_a_traded_market_have_no_price() -> None:
    markets = demo_markets(load_markets())
    assert dollar_prices(markets, {}) == {"USD": 1}
    assert set(dollar_prices(markets, {"BTC-USD": Decimal(60_000), "ETH-BRL": Decimal(1)})) == {"USD", "BTC"}


def test_the_house_gets_the_worth_of_its_level_in_every_priced_asset_under_a_lasting_reference() -> None:
    assets = load_markets().assets
    prices = {"BTC": Decimal(60_000), "USD": Decimal(1)}
    levels = {"house:lending": Decimal(5000), "house:insurance": Decimal(0)}
    found = house_fundings(levels, prices, assets)
    assert found == [
        HouseFunding("house:lending", Funding("house:lending-BTC-5000", "BTC", Decimal("0.08333333"))),
        HouseFunding("house:lending", Funding("house:lending-USD-5000", "USD", Decimal(5000))),
    ]
    assert house_fundings(levels, prices, assets) == found
    # Another level is another deposit: the platform would refuse another amount under the same reference.
    more = house_fundings({"house:lending": Decimal(6000)}, {"USD": Decimal(1)}, assets)
    assert more == [HouseFunding("house:lending", Funding("house:lending-USD-6000", "USD", Decimal(6000)))]


class BusOfOne:
    """Keeps what is published; fails as often as it is told to."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.published: list[tuple[str, str, str, str]] = []

    async def publish(self, subject: str, event: DepositConfirmed, message_id: str) -> None:
        if self.failures:
            self.failures -= 1
            raise PublishError("no acknowledgement")
        self.published.append((subject, event.user_id, event.asset, event.amount))
        assert message_id == f"deposit-{event.tx_hash}"


async def test_a_deposit_is_repeated_until_the_bus_has_it_and_not_after() -> None:
    bus = BusOfOne(failures=1)
    treasury = Treasury(bus, TARGETS, lambda: 1_767_312_000_000_000_000)  # type: ignore[arg-type]
    with pytest.raises(PublishError):
        await treasury.fund("bot", {})
    for _ in range(3):
        await treasury.fund("bot", {})
    await treasury.fund("other", {"BTC": Decimal(80), "USD": Decimal(4900)})
    assert bus.published == [
        ("custody.deposit.confirmed", "bot", "BTC", "80"),
        ("custody.deposit.confirmed", "bot", "USD", "5000"),
        ("custody.deposit.confirmed", "other", "USD", "50"),
    ]
    house = [HouseFunding("house:lending", Funding("house:lending-USD-7", "USD", Decimal(7)))]
    for _ in range(2):
        await treasury.fund_house(house)
    assert bus.published[3:] == [("custody.deposit.confirmed", "house:lending", "USD", "7")]
    assert not treasury.is_funded({"BTC": Decimal(80)})
    assert treasury.is_funded({"BTC": Decimal(40), "USD": Decimal(2500)})
