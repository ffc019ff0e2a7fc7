"""The house's own accounts in a report, each with its purpose. Pure."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal

from openspot.domain.ids import HOUSE_ACCOUNT_PURPOSES
from openspot.domain.money import decimal_to_text
from openspot.reconcile.records import HouseAccount, HouseHolding
from openspot.reconcile.tables import HouseBalance

UNKNOWN_PURPOSE = "no known purpose"


def house_accounts(balances: Iterable[HouseBalance]) -> list[HouseAccount]:
    """Every account of the house, even if it holds nothing. Accounts without a known purpose come last."""
    held: defaultdict[str, list[HouseHolding]] = defaultdict(list)
    for user_id, asset, engine, ledger in balances:
        held[user_id].append(HouseHolding(asset, _text(engine), _text(ledger)))
    named = [HouseAccount(each, purpose, held.pop(each, [])) for each, purpose in HOUSE_ACCOUNT_PURPOSES.items()]
    return named + [HouseAccount(each, UNKNOWN_PURPOSE, holdings) for each, holdings in sorted(held.items())]


def _text(total: Decimal | None) -> str | None:
    return None if total is None else decimal_to_text(total)
