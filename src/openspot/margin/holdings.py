"""The present state of an account: the engine's balances and the loans. It is exact while the account is locked.

An asset that is not offered on margin counts nothing: it secures no debt, and no decision waits for its price.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from openspot.domain.money import parse_decimal, to_amount
from openspot.engine_client.queries import EngineQueries
from openspot.margin.figures import AssetBalance
from openspot.margin.lifecycle import LoanStatus
from openspot.margin.records import MarginLoanRow


class Held(NamedTuple):
    """An account's balance of an asset, at 18 places: the total, the free part, and whether orders hold the rest."""

    total: int
    free: int
    is_locked: bool


@dataclass(slots=True)
class Holdings:
    """Balances by asset, and the loans that have not ended. `offered` are the assets that margin offers."""

    held: dict[str, Held]
    loans: list[MarginLoanRow]
    offered: Collection[str]

    def balances(self, now_ms: int | None = None) -> dict[str, AssetBalance]:
        """What counts of each asset, held and owed.

        The interest is the posted one, or with `now_ms` that of a repayment then.
        """
        balances = {asset: AssetBalance(each.total) for asset, each in self.held.items() if asset in self.offered}
        for loan in self.loans:
            if loan.status is not LoanStatus.ACTIVE:
                continue
            accrual = loan.accrual
            interest = loan.interest if now_ms is None else accrual.owed(now_ms) - accrual.principal
            before = balances.get(loan.asset, AssetBalance())
            balances[loan.asset] = AssetBalance(
                before.held, before.owed + accrual.principal, before.interest + interest
            )
        return balances

    def free(self, asset: str) -> int:
        """The free amount of an asset."""
        held = self.held.get(asset)
        return 0 if held is None else held.free

    def uncounted(self) -> dict[str, int]:
        """What the account holds of assets that margin does not offer."""
        return {asset: each.total for asset, each in self.held.items() if each.total and asset not in self.offered}

    @property
    def has_locked(self) -> bool:
        """Whether open orders hold funds."""
        return any(each.is_locked for each in self.held.values())


async def holdings_of(
    queries: EngineQueries, account_id: str, loans: Iterable[MarginLoanRow], offered: Collection[str]
) -> Holdings:
    """The account's balances in the engine, with its loans. Raises EngineError."""
    held = {}
    for balance in await queries.balances(account_id):
        total, available = (to_amount(parse_decimal(text)) for text in (balance.total, balance.available))
        reserved = to_amount(parse_decimal(balance.reserved))
        held[balance.asset] = Held(total, available - reserved, available - reserved != total)
    return Holdings(held, list(loans), offered)
