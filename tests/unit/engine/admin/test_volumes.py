"""Volumes over thirty days, their value in USD, and the resulting tiers."""

from decimal import Decimal
from pathlib import Path

import pytest

from openspot.domain.money import AMOUNT_SCALE
from openspot.engine.admin.volume_store import VolumeStore
from openspot.engine.admin.volumes import VolumeBook, VolumeKey, tier_above_base, usd_rates, weighted_median

RATES = {"USD": Decimal(1), "BTC": Decimal(60_000)}


def test_a_volume_is_the_sum_of_its_days_in_usd() -> None:
    book = VolumeBook()
    assert book.add(VolumeKey(2, 100, "USD"), 40_000 * AMOUNT_SCALE) == 40_000 * AMOUNT_SCALE
    assert book.add(VolumeKey(2, 100, "USD"), 2_000 * AMOUNT_SCALE) == 42_000 * AMOUNT_SCALE
    book.add(VolumeKey(2, 110, "BTC"), AMOUNT_SCALE // 2)
    book.add(VolumeKey(2, 110, "XYZ"), 10**30)  # has no rate
    book.add(VolumeKey(3, 110, "USD"), 1)
    assert book.value(2, RATES) == 72_000
    assert book.value(3, RATES) == Decimal("1e-18")
    assert book.value(4, RATES) == 0
    book.forget_before(101)
    assert book.value(2, RATES) == 30_000
    assert book.accounts() == [2, 3]
    book.forget_before(111)
    assert book.accounts() == []


@pytest.mark.spec("A2.7-12", "A2.7-13", "A2.7-14", "A2.7-15", "A2.7-16", "A2.7-17", "A2.7-18")
@pytest.mark.parametrize(
    ("volume", "taker", "maker"),
    [
        ("0", None, None),
        ("49999.999999", None, None),
        ("50000", 22, 12),
        ("500000", 20, 10),
        ("2000000", 18, 8),
        ("10000000", 15, 5),
        ("50000000", 12, 2),
        ("100000000", 12, 2),
        ("100000000.01", 10, -2),
    ],
)
def test_a_tier_above_base_has_its_own_fees(volume: str, taker: int | None, maker: int | None) -> None:
    tier = tier_above_base(Decimal(volume))
    assert (tier.taker_bps if tier else None, tier.maker_bps if tier else None) == (taker, maker)


def test_currencies_are_valued_by_usual_prices() -> None:
    prices = {"BTC-USD": "60000", "ETH-BTC": "0.05", "BTC-BRL": "300000", "USDT-USD": "0.99", "SOL-EUR": "100"}
    rates = usd_rates({symbol: Decimal(price) for symbol, price in prices.items()})
    assert rates == {
        "USD": 1,
        "USDT": Decimal("0.99"),
        "USDC": 1,
        "BTC": 60_000,
        "BRL": Decimal("0.2"),
    }
    assert usd_rates({}) == {"USD": 1, "USDT": 1, "USDC": 1}
    # BTC has no trade against USD, so it is valued through ETH.
    assert usd_rates({"ETH-USD": Decimal(3000), "ETH-BTC": Decimal("0.05")})["BTC"] == 60_000


def test_a_few_prints_do_not_move_the_usual_price() -> None:
    honest = [(100, 5), (101, 5), (99, 5)]
    assert weighted_median(honest) == 100
    assert weighted_median([*honest, (1, 1), (10**6, 7)]) == 101
    assert weighted_median([(7, 1), (9, 1)]) == 7
    assert weighted_median([]) is None


def test_the_file_keeps_only_volumes_of_this_journal(tmp_path: Path) -> None:
    path = tmp_path / "volumes.sqlite"
    store = VolumeStore(path, "epoch")
    assert (store.next_sequence, store.rows()) == (1, [])
    store.write({(2, 100, "USD"): 10**30, (2, 101, "BTC"): 5}, 77, 0)
    store.write({(2, 101, "BTC"): 6}, 80, 101)
    store.close()
    again = VolumeStore(path, "epoch")
    assert (again.next_sequence, again.rows()) == (80, [((2, 101, "BTC"), 6)])
    again.close()
    other = VolumeStore(path, "another")
    assert (other.next_sequence, other.rows()) == (1, [])
    other.close()


def test_an_unreadable_file_is_recreated(tmp_path: Path) -> None:
    path = tmp_path / "volumes.sqlite"
    path.write_bytes(b"no database at all" * 1000)
    store = VolumeStore(path, "epoch")
    store.write({(2, 100, "USD"): 1}, 5, 0)
    assert store.rows() == [((2, 100, "USD"), 1)]
    store.close()
