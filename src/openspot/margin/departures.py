"""Markets that leave margin: nothing new is taken that needs one, and whoever delists one is told who still does.

Theory of operation (docs/adr/0135-margin-is-asked-before-a-delisting.md). A market leaves from the moment on at which
its delisting is scheduled. Whatever takes new risk holds a shared lock until its transaction ends, and reads the
engine's list of markets under it. A question reads the list first, and then waits for everything that holds the lock.
So what is written afterwards knows that the market leaves, and what was written before is in the answer. Accounts that
need the market only become fewer from then on.
"""

from collections import Counter
from collections.abc import Collection, Iterable

from openspot.contracts.messages import MarketNeedsReply
from openspot.contracts.refusals import InvalidRequestError
from openspot.margin import departure_store, store
from openspot.margin.accounts import LockedAccount, MarginRefusedError
from openspot.margin.dependencies import Dependencies
from openspot.margin.market_needs import assets_of, needs_market, valued_only_with


async def refuse_new_risk(dependencies: Dependencies, account: LockedAccount, field: str, *assets: str) -> None:
    """Raise MarginRefusedError if the account, with these assets in addition, needs a market that leaves.

    `field` is the field of the request. Raises EngineError if the engine does not say which markets leave.
    """
    if not dependencies.settings.follows_listings:
        return
    leaving, others = await _markets(dependencies, account)
    involved = {*assets, *await _involved(account)}
    for symbol in leaving:
        if needs_market(symbol, involved, others, dependencies.settings.margin_valuation_asset):
            raise MarginRefusedError(
                f"{field} is not taken: the account would need {symbol}, which is delisted soon; close, repay or move"
                " out what needs it first"
            )


async def refuse_new_collateral(dependencies: Dependencies, account: LockedAccount, asset: str) -> None:
    """Raise MarginRefusedError if the account does not need a market that leaves, and would with this collateral.

    Who needs it already may still bring something in, so that nobody is kept from saving an account.
    """
    if not dependencies.settings.follows_listings:
        return
    leaving, others = await _markets(dependencies, account)
    before = await _involved(account)
    valuation = dependencies.settings.margin_valuation_asset
    for symbol in leaving:
        is_needed = needs_market(symbol, before, others, valuation)
        if not is_needed and needs_market(symbol, {*before, asset}, others, valuation):
            raise MarginRefusedError(
                f"asset is not taken: the account would need {symbol}, which is delisted soon; bring in another asset"
            )


async def market_needs(dependencies: Dependencies, symbol: str) -> MarketNeedsReply:
    """Which accounts need a market that is to be delisted.

    Raises InvalidRequestError for a market that margin does not offer, EngineError, and asyncpg.LockNotAvailableError.
    """
    if symbol not in dependencies.offer.markets:
        raise InvalidRequestError("symbol is not offered on margin")
    departures = await dependencies.departures()
    others = dependencies.offer.markets - departures.leaving - departures.ended - {symbol}
    valuation = dependencies.settings.margin_valuation_asset
    await departure_store.wait_for_new_risk(dependencies.pool)
    # The tables first: what is moving there is moved in the engine a moment later.
    risk = await departure_store.open_risk(dependencies.pool)
    owed, held = _by_account(risk.owed), _by_account(risk.moving)
    traded = _by_account((account, asset) for account, market in risk.positions for asset in assets_of(market))
    for total in await dependencies.queries.account_totals():
        if total.total and total.asset in dependencies.offer.assets:
            held.setdefault(total.participant_id, set()).add(total.asset)
    reasons = {*assets_of(symbol), *valued_only_with(symbol, others, valuation)}
    nothing: set[str] = set()
    accounts = [
        account
        for account in owed.keys() | traded.keys()
        if needs_market(
            symbol,
            owed.get(account, nothing) | held.get(account, nothing) | traded.get(account, nothing),
            others,
            valuation,
        )
    ]
    return MarketNeedsReply(
        symbol in departures.leaving,
        len(accounts),
        sum(market == symbol for _, market in risk.positions),
        _counts(accounts, held, reasons),
        _counts(accounts, owed, reasons),
    )


async def _markets(dependencies: Dependencies, account: LockedAccount) -> tuple[list[str], frozenset[str]]:
    """The markets that leave or have left, by name, and those that stay. A question waits for the account from now."""
    await departure_store.begin_new_risk(account.connection)
    departures = await dependencies.departures()
    gone = departures.leaving | departures.ended
    return sorted(gone), dependencies.offer.markets - gone


async def _involved(account: LockedAccount) -> set[str]:
    holdings = account.holdings
    positions = await store.positions_of(account.connection, account.account_id)
    return {
        *(asset for asset, held in holdings.held.items() if held.total and asset in holdings.offered),
        *(loan.asset for loan in holdings.loans),
        *(asset for position in positions for asset in assets_of(position.symbol)),
    }


def _by_account(rows: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for account, asset in rows:
        found.setdefault(account, set()).add(asset)
    return found


def _counts(accounts: Iterable[str], assets: dict[str, set[str]], reasons: Collection[str]) -> dict[str, int]:
    counted = Counter(asset for account in accounts for asset in assets.get(account, ()) if asset in reasons)
    return dict(sorted(counted.items()))
