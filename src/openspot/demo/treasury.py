"""The funds of bots and house: confirmed deposits, as the custody service publishes them, each made once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import NamedTuple

from openspot.contracts import subjects
from openspot.contracts.messages import DepositConfirmed
from openspot.demo.inventory import ZERO, InventoryTarget
from openspot.demo.metrics import DEPOSITS
from openspot.demo.valuation import worth
from openspot.domain.market import AssetScale
from openspot.domain.money import decimal_to_text
from openspot.kit.bus import Bus
from openspot.kit.clock import NANOSECONDS_PER_MS, Clock
from openspot.kit.log import get_logger

log = get_logger("treasury")


@dataclass(frozen=True, slots=True)
class Funding:
    """A deposit. The platform credits a `reference` once, however often it is sent."""

    reference: str
    asset: str
    amount: Decimal


def fundings(
    user_id: str, totals: Mapping[str, Decimal], targets: Mapping[str, InventoryTarget], day: str
) -> Iterator[Funding]:
    """The deposits for a bot with these balances: its first funds, or once a day a replacement of what fees used up.

    Reference and amount follow from user, asset and day alone, so that a repeated deposit is the same deposit. A loss
    of up to half the band is not replaced.
    """
    for asset, target in targets.items():
        total = totals.get(asset, ZERO)
        if total < target.amount / 2:
            yield Funding(f"{user_id}-{asset}-first", asset, target.amount)
        elif total < target.amount - target.band / 2:
            yield Funding(f"{user_id}-{asset}-{day}", asset, target.band / 2)


class HouseFunding(NamedTuple):
    """The deposit of an account of the house."""

    account_id: str
    funding: Funding


def house_fundings(
    dollars: Mapping[str, Decimal], prices: Mapping[str, Decimal], assets: Mapping[str, AssetScale]
) -> list[HouseFunding]:
    """For each account of `dollars`, that value of each priced asset; an account with 0 dollars gets nothing.

    The reference follows from account, asset and value, so that a restart is the same deposit and another value a new
    one.
    """
    return [
        HouseFunding(account_id, Funding(f"{account_id}-{asset}-{decimal_to_text(value)}", asset, amount))
        for account_id, value in dollars.items()
        for asset, price in prices.items()
        if (amount := worth(value, price, assets[asset])) > 0
    ]


class Treasury:
    """Sends the deposits that bots need, each once in the life of the process."""

    def __init__(self, bus: Bus, targets: Mapping[str, InventoryTarget], clock: Clock) -> None:
        self._bus = bus
        self._targets = targets
        self._clock = clock
        self._sent: set[str] = set()

    def is_funded(self, totals: Mapping[str, Decimal]) -> bool:
        """Whether a bot with these balances has had its first funds in every asset."""
        return all(totals.get(asset, ZERO) >= target.amount / 2 for asset, target in self._targets.items())

    async def fund(self, user_id: str, totals: Mapping[str, Decimal]) -> None:
        """Send what the bot with these balances needs. After a BusError, call it again."""
        now_ns = self._clock()
        day = datetime.fromtimestamp(now_ns / 1e9, UTC).date().isoformat()
        for funding in fundings(user_id, totals, self._targets, day):
            if funding.reference in self._sent:
                continue
            await self._deposit(user_id, funding, now_ns)

    async def fund_house(self, fundings: Iterable[HouseFunding]) -> None:
        """Send the deposits of the house. After a BusError, call it again."""
        for account_id, funding in fundings:
            if funding.reference not in self._sent:
                await self._deposit(account_id, funding, self._clock())

    async def _deposit(self, account_id: str, funding: Funding, now_ns: int) -> None:
        amount = decimal_to_text(funding.amount)
        deposit = DepositConfirmed(
            funding.reference, account_id, funding.asset, amount, timestamp=now_ns // NANOSECONDS_PER_MS
        )
        await self._bus.publish(subjects.CUSTODY_DEPOSIT_CONFIRMED, deposit, f"deposit-{funding.reference}")
        self._sent.add(funding.reference)
        DEPOSITS.labels(account_id).inc()
        log.info("deposit sent", user_id=account_id, asset=funding.asset, amount=amount)
