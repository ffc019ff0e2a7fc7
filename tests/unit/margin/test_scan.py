"""The scan: warnings once for each crossing, and only the accounts that can have changed."""

import random

import pytest

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.model import PriceState
from openspot.domain.money import AMOUNT_SCALE
from openspot.margin.crossings import CROSSINGS, Crossing, RiskBand, crossing, risk_band_of
from openspot.margin.figures import AssetBalance, margin_figures
from openspot.margin.scan import IndebtedAccounts, changed_marks
from tests.support.marks import mark, marks_of

UNIT = AMOUNT_SCALE


def marks(btc: int) -> dict[str, AssetPrice]:
    return marks_of(USDT=UNIT, BTC=btc * UNIT, ETH=100 * UNIT)


def long(owed: int) -> dict[str, AssetBalance]:
    """One BTC against a debt in USDT."""
    return {"BTC": AssetBalance(held=UNIT), "USDT": AssetBalance(owed=owed * UNIT)}


@pytest.mark.spec("A8-16", "A8-17")
@pytest.mark.parametrize(
    ("btc", "risk_band"),
    [
        (15_001, RiskBand.SAFE),
        (15_000, RiskBand.WARNING),
        (10_501, RiskBand.WARNING),
        (10_500, RiskBand.LIQUIDATION),
        (1, RiskBand.LIQUIDATION),
    ],
)
def test_the_risk_bands_begin_at_150_and_105_percent(btc: int, risk_band: RiskBand) -> None:
    assert risk_band_of(margin_figures(long(10_000), marks(btc))) is risk_band


def test_every_step_between_zones_is_in_the_table() -> None:
    assert set(CROSSINGS) == {(before, now) for before in RiskBand for now in RiskBand}
    warned = [step for step, asked in CROSSINGS.items() if asked.warn]
    assert warned == [(RiskBand.SAFE, RiskBand.WARNING), (RiskBand.SAFE, RiskBand.LIQUIDATION)]
    assert all(asked.liquidate == (now is RiskBand.LIQUIDATION) for (_, now), asked in CROSSINGS.items())
    assert crossing(RiskBand.WARNING, RiskBand.LIQUIDATION) == Crossing(warn=False, liquidate=True)


def test_a_warning_is_published_for_each_crossing_not_for_each_scan() -> None:
    accounts = IndebtedAccounts()
    accounts.put("a", long(10_000))
    warned = [
        len(accounts.scan(["BTC"], marks(price)).warnings)
        for price in (20_000, 14_000, 13_000, 14_900, 16_000, 16_000, 15_000, 15_000)
    ]
    assert warned == [0, 1, 0, 0, 0, 0, 1, 0]


def test_an_account_opened_inside_the_warning_zone_is_warned_once() -> None:
    accounts = IndebtedAccounts()
    accounts.put("a", long(8_000))
    assert [finding.account_id for finding in accounts.scan([], marks(10_000)).warnings] == ["a"]
    accounts.put("a", long(8_001))
    assert accounts.scan(["BTC"], marks(10_000)).warnings == []


def test_a_fall_from_safety_to_the_liquidation_level_warns_and_liquidates() -> None:
    accounts = IndebtedAccounts()
    accounts.put("a", long(10_000))
    accounts.scan(["BTC"], marks(20_000))
    result = accounts.scan(["BTC"], marks(10_000))
    assert [finding.account_id for finding in result.warnings] == ["a"]
    assert [finding.account_id for finding in result.liquidations] == ["a"]
    assert result.liquidations[0].figures.level == UNIT


def test_an_account_to_be_liquidated_stays_due_until_it_is_not() -> None:
    accounts = IndebtedAccounts()
    accounts.put("a", long(10_000))
    for _ in range(3):
        assert len(accounts.scan([], marks(10_000)).liquidations) == 1
    accounts.put("a", {"USDT": AssetBalance(held=UNIT)})
    assert accounts.scan(["BTC"], marks(10_000)).looked_at == 0
    assert len(accounts) == 0


def test_a_scan_looks_at_changed_accounts_and_those_of_changed_marks_only() -> None:
    accounts = IndebtedAccounts()
    accounts.put("btc", long(100))
    accounts.put("eth", {"ETH": AssetBalance(held=UNIT), "USDT": AssetBalance(owed=UNIT)})
    accounts.put("no debt", {"BTC": AssetBalance(held=UNIT)})
    assert accounts.due([]) == {"btc", "eth"}
    assert accounts.scan([], marks(1_000)).looked_at == 2
    assert accounts.due([]) == set()
    assert accounts.due(["BTC"]) == {"btc"}
    assert accounts.due(["USDT"]) == {"btc", "eth"}
    assert accounts.due(["SOL"]) == set()
    accounts.put("eth", long(100))
    assert accounts.due(["ETH"]) == {"eth"}
    accounts.scan([], marks(1_000))
    assert accounts.due(["ETH"]) == set()


def test_an_account_with_an_unpriced_asset_is_named_and_stays_due() -> None:
    accounts = IndebtedAccounts()
    accounts.put("a", long(10_000))
    unpriced = accounts.scan(["BTC"], marks_of(USDT=UNIT))
    assert unpriced.unpriced == {"a": ("BTC",)}
    assert unpriced.liquidations == []
    assert len(accounts.scan([], marks(10_000)).liquidations) == 1


@pytest.mark.parametrize("state", [PriceState.STALE, PriceState.DISPUTED])
def test_at_a_price_that_is_not_sure_nobody_is_warned_or_liquidated(state: PriceState) -> None:
    accounts = IndebtedAccounts()
    accounts.put("a", long(10_000))
    accounts.scan(["BTC"], marks(20_000))
    for price in (14_000, 1):
        result = accounts.scan(
            ["BTC"], {**marks(price), "BTC": mark(price * UNIT, state=state, day_median=20_000 * UNIT)}
        )
        assert (result.warnings, result.liquidations, result.unpriced) == ([], [], {"a": ("BTC",)})
    # When the price is sure again, it is looked at without a further change.
    assert [each.account_id for each in accounts.scan([], marks(14_000)).warnings] == ["a"]


def test_an_account_that_only_a_made_price_would_liquidate_is_warned_and_stays_due() -> None:
    accounts = IndebtedAccounts()
    accounts.put("a", long(16_000))
    accounts.put("b", long(16_200))
    made = {**marks(14_000), "BTC": mark(14_000 * UNIT, day_median=20_000 * UNIT)}
    result = accounts.scan(["BTC"], made)
    assert (result.held_back, [each.account_id for each in result.warnings]) == (["a"], ["a", "b"])
    assert [each.account_id for each in result.liquidations] == ["b"]
    # Nobody is warned twice, and without a further change the day's median may have followed.
    result = accounts.scan([], made)
    assert (result.held_back, result.warnings) == (["a"], [])
    result = accounts.scan([], {**marks(14_000), "BTC": mark(14_000 * UNIT, day_median=16_000 * UNIT)})
    assert (result.held_back, [each.account_id for each in result.liquidations]) == ([], ["a", "b"])


def test_a_grain_of_an_asset_with_a_disputed_price_does_not_save_an_account() -> None:
    accounts = IndebtedAccounts()
    accounts.put("a", long(10_000) | {"SOL": AssetBalance(held=UNIT)})
    # The disputed price is a million, the day's median 5: SOL counts as 10 at most.
    disputed = mark(10**6 * UNIT, state=PriceState.DISPUTED, day_median=5 * UNIT)
    assert accounts.scan([], {**marks(10_491), "SOL": disputed}).liquidations == []
    assert len(accounts.scan(["BTC"], {**marks(10_490), "SOL": disputed}).liquidations) == 1


def test_a_disputed_debt_counts_half_the_days_median_at_least() -> None:
    accounts = IndebtedAccounts()
    accounts.put("a", {"USDT": AssetBalance(held=105 * UNIT), "SOL": AssetBalance(owed=UNIT)})
    for median, is_liquidated in ((199, False), (200, True)):
        disputed = mark(UNIT, state=PriceState.DISPUTED, day_median=median * UNIT)
        assert bool(accounts.scan(["SOL"], {**marks(1), "SOL": disputed}).liquidations) is is_liquidated


def test_an_account_without_a_sure_price_does_not_keep_the_scan_from_the_others() -> None:
    accounts = IndebtedAccounts()
    accounts.put("a", {**long(10_000), "SOL": AssetBalance(held=UNIT)})
    accounts.put("b", {**long(10_000), "DOT": AssetBalance(held=UNIT)})
    accounts.put("c", long(10_000))
    disputed = mark(10**6 * UNIT, state=PriceState.DISPUTED)
    result = accounts.scan([], {**marks(10_000), "SOL": disputed})
    assert result.unpriced == {"a": ("SOL",), "b": ("DOT",)}
    assert [each.account_id for each in result.liquidations] == ["c"]


def test_only_bounds_and_sureness_make_an_account_due() -> None:
    before = {"BTC": mark(100, low=90, high=110, sellable=5, day_median=100)}
    for same in (mark(101, low=90, high=110, sellable=1), mark(100, low=90, high=110, state=PriceState.THIN)):
        assert changed_marks(before, {"BTC": same}) == set()
    for other in (
        mark(100, low=89, high=110),
        mark(100, low=90, high=111),
        mark(100, low=90, high=110, state=PriceState.STALE),
    ):
        assert changed_marks(before, {"BTC": other}) == {"BTC"}
    assert changed_marks(before, {}) == changed_marks({}, before) == {"BTC"}


def test_restored_zones_repeat_no_warning() -> None:
    before = IndebtedAccounts()
    before.put("a", long(10_000))
    before.scan([], marks(14_000))
    after = IndebtedAccounts()
    after.put("a", long(10_000))
    after.restore_risk_bands({**before.risk_bands(), "gone": RiskBand.WARNING})
    assert after.scan([], marks(14_000)).warnings == []
    assert set(after.risk_bands()) == {"a"}


def test_due_accounts_give_the_same_findings_as_looking_at_all() -> None:
    """Three hundred rounds of random changes: the index never overlooks an account."""
    source = random.Random(7)
    accounts, held = IndebtedAccounts(), {}
    prices = marks_of(USDT=UNIT, BTC=100 * UNIT, ETH=10 * UNIT)
    risk_bands: dict[str, RiskBand] = {}
    for _ in range(300):
        changed = [asset for asset in ("BTC", "ETH") if source.random() < 0.3]
        for asset in changed:
            prices[asset] = mark(source.randrange(1, 200) * UNIT)
        for number in range(20):
            if source.random() < 0.1:
                balances = {
                    asset: AssetBalance(source.choice([0, 3 * UNIT]), source.choice([0, 0, 2 * UNIT]))
                    for asset in prices
                }
                held[f"account-{number}"] = balances
                accounts.put(f"account-{number}", balances)
        result = accounts.scan(changed, prices)
        expected_warnings, expected_liquidations = [], []
        for account_id, balances in sorted(held.items()):
            figures = margin_figures(balances, prices)
            if figures.level is None:
                risk_bands.pop(account_id, None)
                continue
            risk_band = risk_band_of(figures)
            if risk_band is not RiskBand.SAFE and risk_bands.get(account_id, RiskBand.SAFE) is RiskBand.SAFE:
                expected_warnings.append(account_id)
            if risk_band is RiskBand.LIQUIDATION:
                expected_liquidations.append(account_id)
            risk_bands[account_id] = risk_band
        assert [finding.account_id for finding in result.warnings] == expected_warnings
        assert [finding.account_id for finding in result.liquidations] == expected_liquidations
