"""Nobody makes a price: every strategy of an attacker fails, and each guard is what makes one of them fail."""

from dataclasses import replace

import pytest

from openspot.domain.fair_price.band import PriceReference
from openspot.domain.money import AMOUNT_SCALE
from tests.simulation.economics.attacks import BY_NAME, PATIENT, STRATEGIES, Strategy, play
from tests.simulation.economics.guards import Guards
from tests.simulation.economics.mutants import MUTANTS, Mutant, near_the_last_trade

SEED = 1
MORE_SEEDS = range(2, 12)
SEEDS_OF_GUARDS = range(1, 6)
"""Fewer: that a guard is needed is shown by one seed."""


SLOW = ("spread_over_hours", "slow_walk_up_and_open", "slow_walk_down_and_short", "slow_walk_down_and_liquidate")
"""Strategies of so many steps that playing one takes seconds."""


@pytest.mark.parametrize(
    "strategy",
    [pytest.param(strategy, marks=pytest.mark.proof if strategy.name in SLOW else ()) for strategy in STRATEGIES],
    ids=lambda strategy: strategy.name,
)
def test_a_strategy_does_not_pay(strategy: Strategy) -> None:
    assert play(strategy, SEED).findings == []


def test_a_position_is_not_closed_at_a_made_price_where_bands_follow_the_last_trade() -> None:
    # Such bands let attackers refuse honest prices, so the findings are more than what they gain.
    strategy, bands = BY_NAME["close_at_a_made_price"], Guards(band=PriceReference.LAST_TRADE)
    assert play(strategy, SEED, bands).gain < 0
    assert play(strategy, SEED, replace(bands, closing_price=near_the_last_trade)).gain > 2_000 * AMOUNT_SCALE


@pytest.mark.proof
@pytest.mark.parametrize("strategy", PATIENT, ids=lambda strategy: strategy.name)
def test_a_strategy_of_half_a_day_stays_within_its_bound(strategy: Strategy) -> None:
    assert play(strategy, SEED).findings == []


@pytest.mark.proof
@pytest.mark.parametrize("seed", MORE_SEEDS)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_a_strategy_does_not_pay_by_luck(strategy: Strategy, seed: int) -> None:
    assert play(strategy, seed).findings == []


@pytest.mark.proof
@pytest.mark.parametrize("seed", SEEDS_OF_GUARDS)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name.replace(" ", "_"))
def test_without_a_guard_its_strategy_pays_with_every_seed(mutant: Mutant, seed: int) -> None:
    assert play(BY_NAME[mutant.strategy], seed, mutant.guards).findings
