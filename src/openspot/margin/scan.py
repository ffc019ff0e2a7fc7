"""The margin scan: which accounts it checks, and what it finds.

A level changes only if a mark price or the account changes (a trade, a loan, posted interest). So the index knows which
accounts hold or owe which asset. A scan checks the accounts of the assets with changed prices, and the changed
accounts. An account without debt has no level, and is not in the index.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.margin.crossings import RiskBand, crossing, risk_band_of
from openspot.margin.figures import (
    AssetBalance,
    Balances,
    MarginFigures,
    Marks,
    UnpricedError,
    involved,
    judged_figures,
    margin_figures,
)


class IndebtedAccounts:
    """The accounts with debt, and the accounts that hold or owe each asset. Each scanning process has one index."""

    def __init__(self) -> None:
        self._balances: dict[str, dict[str, AssetBalance]] = {}
        self._by_asset: dict[str, set[str]] = {}
        self._changed: set[str] = set()
        self._risk_bands: dict[str, RiskBand] = {}

    def __len__(self) -> int:
        return len(self._balances)

    def put(self, account_id: str, balances: Balances) -> None:
        """Remember the balances of an account for the next scan. An account without debt is forgotten."""
        self._forget_assets(account_id)
        kept = {asset: balance for asset, balance in balances.items() if balance.held or balance.debt}
        if not any(balance.debt for balance in kept.values()):
            self._balances.pop(account_id, None)
            self._risk_bands.pop(account_id, None)
            self._changed.discard(account_id)
            return
        self._balances[account_id] = kept
        for asset in kept:
            self._by_asset.setdefault(asset, set()).add(account_id)
        self._changed.add(account_id)

    def due(self, changed_marks: Iterable[str]) -> set[str]:
        """The accounts that a scan has to check after these marks changed."""
        return self._changed.union(*(self._by_asset.get(asset, ()) for asset in changed_marks))

    def scan(self, changed_marks: Iterable[str], marks: Marks) -> "ScanResult":
        """Check the accounts that are due, and remember their risk bands.

        The risk band of an account does not change while prices that it needs are missing or not sure. Such an account
        stays due, and so does an account that must be liquidated or is held back.
        """
        warnings: list[Finding] = []
        liquidations: list[Finding] = []
        held_back: list[str] = []
        unpriced: dict[str, tuple[str, ...]] = {}
        due = self.due(changed_marks)
        for account_id in sorted(due):
            balances = self._balances[account_id]
            try:
                figures = judged_figures(balances, marks)
            except UnpricedError as error:
                unpriced[account_id] = error.assets
                continue
            if figures is None:
                unsure = (asset for asset in involved(balances) if not marks[asset].state.is_usable)
                unpriced[account_id] = tuple(unsure)
                continue
            risk_band = risk_band_of(figures)
            asked = crossing(self._risk_bands.get(account_id, RiskBand.SAFE), risk_band)
            self._risk_bands[account_id] = risk_band
            if not figures.must_liquidate and margin_figures(balances, marks).must_liquidate:
                held_back.append(account_id)
            if asked.warn:
                warnings.append(Finding(account_id, figures))
            if asked.liquidate:
                liquidations.append(Finding(account_id, figures))
        self._changed = {*unpriced, *held_back, *(finding.account_id for finding in liquidations)}
        return ScanResult(len(due), warnings, liquidations, unpriced, held_back)

    def restore_risk_bands(self, risk_bands: Mapping[str, RiskBand]) -> None:
        """Set the stored risk bands, so that a restart repeats no warning."""
        self._risk_bands.update(
            {account_id: risk_band for account_id, risk_band in risk_bands.items() if account_id in self._balances}
        )

    def not_warned(self, account_ids: Iterable[str]) -> None:
        """Let the next scan find these accounts anew: the users of these warnings could not be told."""
        for account_id in account_ids:
            self._risk_bands[account_id] = RiskBand.SAFE
            self._changed.add(account_id)

    def risk_bands(self) -> dict[str, RiskBand]:
        """The risk band of each account at its last scan. The caller stores them."""
        return dict(self._risk_bands)

    def _forget_assets(self, account_id: str) -> None:
        for asset in self._balances.get(account_id, ()):
            self._by_asset[asset].discard(account_id)


def changed_marks(before: Marks, now: Marks) -> set[str]:
    """The assets whose bounds or whose sureness changed. What a market can absorb changes no level, and where the day's
    median or a confirmation decides, the account is due anyway."""
    return {asset for asset in {*before, *now} if _level_of(before.get(asset)) != _level_of(now.get(asset))}


def _level_of(price: AssetPrice | None) -> tuple[int, int, bool] | None:
    return None if price is None else (price.low, price.high, price.state.is_usable)


class Finding(NamedTuple):
    """An account that a scan found, with its figures."""

    account_id: str
    figures: MarginFigures


class ScanResult(NamedTuple):
    """The outcome of a scan: how many accounts it checked, which to warn, and which to liquidate.

    `unpriced` has the accounts that it could not check, with their assets that have no sure mark price. `held_back` has
    those that only a price which nothing outside confirms, too far from its day's median, would liquidate.
    """

    looked_at: int
    warnings: list[Finding]
    liquidations: list[Finding]
    unpriced: dict[str, tuple[str, ...]]
    held_back: list[str]
