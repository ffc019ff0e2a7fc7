"""The products that believe prices, from the rules of their services: margin, custody, conversions.

What the services do beside their rules (locks, tables, messages) is proved elsewhere.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from openspot.custody.prices import PriceUnknownError, withdrawal_price
from openspot.custody.valuation import value_in_cents as withdrawal_cents
from openspot.custody.wallet_policy import (
    Wallet,
    approvals_needed,
    fits_daily_limit,
    wallet_for,
    wallet_of_user,
)
from openspot.domain.accounts import margin_account_id, user_of_account
from openspot.domain.fair_price.crossing import asset_prices
from openspot.domain.fair_price.model import FairPrice
from openspot.domain.fair_price.reference import DOLLAR
from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS, amount_to_text
from openspot.domain.order import Side
from openspot.margin.figures import AssetBalance, Balances, MarginError, Marks
from openspot.margin.lifecycle import AccountStatus
from openspot.margin.limits import borrowable, borrowing_error, outflow_error, shared
from openspot.margin.liquidation import in_order, liquidation_orders, settle
from openspot.margin.opening import OpeningRequest, borrowing, check_margin, price_of
from openspot.margin.slices import Slices, absorbed, bound_price, forced_price
from openspot.rest_edge.products.conversions.exposure import ExposureError, check_exposure
from openspot.rest_edge.products.conversions.pricing import (
    AmountTooSmallError,
    BookTooThinError,
    Pair,
    price_of_source,
    steps_of,
    value_in_cents,
    without_own,
)
from openspot.rest_edge.products.conversions.standing import SAMPLE_EVERY_S, StandingBooks
from openspot.rest_edge.products.conversions.standing import Side as BookSide
from openspot.rest_edge.products.conversions.store import Exposure, Quote
from tests.simulation.economics.guards import SLIPPAGE_BPS, Closing

if TYPE_CHECKING:
    from tests.simulation.economics.world import EconomicWorld

POOL, INSURANCE, INVENTORY, OUTSIDE = "pool", "insurance", "inventory", "outside"
SPREAD_BPS = 50
QUOTE_S = 10
HOUR_S, DAY_S = 3600, 86_400
USER_LIMIT_CENTS = 50_000 * 100
HOT_SHARE_PERCENT = 20
PAUSE_MS = 10_000
TAKER_FEE_BPS = 25
SCAN_S = 4


class RefusedError(Exception):
    """A product says no. The message is its reason."""


class Margin:
    """Loans, collateral and liquidations."""

    def __init__(self, world: "EconomicWorld") -> None:
        self._world = world
        self.debts: dict[str, dict[str, int]] = {}
        self._slices = Slices(PAUSE_MS)
        self._required: dict[str, list[int]] = {}
        self.liquidating: dict[str, int] = {}
        """When each account's next round begins, in milliseconds."""
        self.liquidated: set[str] = set()

    def balances(self, account: str) -> dict[str, AssetBalance]:
        """What an account holds and owes."""
        debts = self.debts.get(account, {})
        held = self._world.exchange.held(account)
        return {asset: AssetBalance(held.get(asset, 0), debts.get(asset, 0)) for asset in {*held, *debts}}

    def move_in(self, user: str, asset: str, amount: int) -> None:
        """Move collateral in."""
        account = margin_account_id(user, 1)
        self.debts.setdefault(account, {})
        self._world.exchange.pay(user, account, asset, amount)

    def lend(self, user: str, asset: str, amount: int) -> None:
        """Lend without a question: how an account of the past came to its debt."""
        account = margin_account_id(user, 1)
        self._world.exchange.pay(POOL, account, asset, amount)
        self.debts[account][asset] = self.debts[account].get(asset, 0) + amount

    def borrow(self, user: str, asset: str, amount: int) -> None:
        """Borrow. Raises RefusedError."""
        account = margin_account_id(user, 1)
        price = self._marks().get(asset)
        if price is None:
            raise RefusedError("no price")
        left = borrowable(price, sum(debts.get(asset, 0) for debts in self.debts.values()), Decimal(1))
        self._check(account, lambda balances, marks: borrowing_error(balances, marks, (), asset, amount, left))
        self.lend(user, asset, amount)

    def move_out(self, user: str, asset: str, amount: int) -> None:
        """Move an amount to the spot account. Raises RefusedError."""
        account = margin_account_id(user, 1)
        self._check(account, lambda balances, marks: outflow_error(balances, marks, (), asset, amount))
        if not self._world.exchange.pay(account, user, asset, amount):
            raise RefusedError("not free")

    def open(self, user: str, symbol: str, side: Side, quantity: int, leverage: int) -> None:
        """Open a position with borrowed money. Raises RefusedError."""
        world, account = self._world, margin_account_id(user, 1)
        spec = world.exchange.specs[symbol]
        quantity = quantity // spec.base_unit * spec.base_unit
        request = OpeningRequest(spec.base, spec.quote, side, quantity, Decimal(leverage))
        balances, marks, required = self.balances(account), self._shared(account), self._required.get(account, [])
        lent = spec.base if side is Side.SELL else spec.quote
        left = borrowable(marks[lent], sum(debts.get(lent, 0) for debts in self.debts.values()), Decimal(1))
        decision = check_margin(request, AccountStatus.ACTIVE, balances, marks, required, left)
        if decision.reason is not None:
            raise RefusedError(f"{decision.reason}: {decision.detail}")
        sign = 1 if side is Side.BUY else -1
        worst = price_of(marks, spec.base, spec.quote) * (BASIS_POINTS + sign * SLIPPAGE_BPS) // BASIS_POINTS
        cost = worst * (BASIS_POINTS + TAKER_FEE_BPS) // BASIS_POINTS
        loan = borrowing(request, cost, balances.get(spec.quote, AssetBalance()).held)
        self.lend(user, loan.asset, loan.amount)
        self._required.setdefault(account, []).append(decision.required_margin or 0)
        world.place(account, symbol, side, quantity, worst, is_immediate=True)

    def close(self, user: str, symbol: str) -> None:
        """Trade a long of a market back as far as its order goes, and repay with what it brought."""
        world, account = self._world, margin_account_id(user, 1)
        spec, balances = world.exchange.specs[symbol], self.balances(account)
        quantity = balances[spec.base].held // spec.base_unit * spec.base_unit
        last = world.exchange.last_trades[symbol]
        worst = world.guards.closing_price(Closing(spec, Side.SELL, quantity, balances, self._marks(), last))
        world.place(account, symbol, Side.SELL, quantity, worst, is_immediate=True)
        self._repay(account, spec.quote, min(world.exchange.free(account, spec.quote), self.debts[account][spec.quote]))

    def borrow_and_leave(self, user: str, asset: str, whole: int) -> int:
        """Borrow and move out, part by part, as much of `whole` as is allowed. Returns what left."""
        left, part = 0, whole
        while part > whole // 256:
            try:
                if left + part > whole:
                    raise RefusedError("enough")
                self.borrow(user, asset, part)
                try:
                    self.move_out(user, asset, part)
                except RefusedError:
                    self._repay(margin_account_id(user, 1), asset, part)
                    raise
                left += part
            except RefusedError:
                part //= 2
        return left

    def scan(self) -> None:
        """Look at all levels, and carry liquidations on."""
        world, marks = self._world, self._marks()
        for account in sorted(self.debts):
            if account in self.liquidating or not any(self.debts[account].values()):
                continue
            balances = self.balances(account)
            if any(asset not in marks for asset in balances):
                continue
            figures = world.guards.judged(balances, marks)
            if figures is not None and figures.must_liquidate:
                world.exchange.cancel_all(account)
                self.liquidating[account] = world.now_ms
                self.liquidated.add(account)
        for account, due_ms in list(self.liquidating.items()):
            if world.now_ms >= due_ms:
                self._round(account, marks)

    def _check(self, account: str, rule: Callable[[Balances, Marks], str | None]) -> None:
        """Raise RefusedError with the reason of a rule for an account."""
        if account in self.liquidating:
            raise RefusedError("the account is liquidated")
        try:
            reason = rule(self.balances(account), self._shared(account))
        except MarginError as error:
            raise RefusedError(str(error)) from error
        if reason is not None:
            raise RefusedError(reason)

    def _marks(self) -> Marks:
        return self._world.guards.marks(self._world.marks)

    def _shared(self, account: str) -> Marks:
        user = user_of_account(account)
        others = [self.balances(each) for each in self.debts if each != account and user_of_account(each) == user]
        return shared(self._world.guards.risk_marks(self._marks()), others)

    def _round(self, account: str, marks: Marks) -> None:
        world, exchange = self._world, self._world.exchange
        balances = self.balances(account)
        self._settle(account, balances, is_loss=False)
        balances = self.balances(account)
        debts = {asset for asset, each in balances.items() if each.debt}
        markets = {
            name: spec
            for name, spec in exchange.specs.items()
            if spec.quote == DOLLAR and (spec.base in balances) and debts
        }
        sure = {
            name: spec
            for name, spec in markets.items()
            if all(asset in marks and marks[asset].state.is_usable for asset in (spec.base, spec.quote))
        }
        for order in in_order(
            liquidation_orders({name: spec.lot * spec.base_unit for name, spec in sure.items()}, balances)
        ):
            spec = sure[order.symbol]
            near = forced_price(world.guards.forced_marks(marks), spec.base, spec.quote, order.side)
            bound = bound_price(near, order.side, world.guards.slice_bps, spec)
            most = absorbed(marks, spec.base, spec.quote, order.side)
            left = self._slices.left(order.symbol, order.side, most, world.now_ms)
            quantity = order.quantity if left is None or not world.guards.slices_count else min(order.quantity, left)
            if quantity > 0:
                self._slices.take(order.symbol, order.side, quantity, world.now_ms)
                exchange.place(account, order.symbol, order.side, quantity, bound, is_immediate=True)
        balances = self.balances(account)
        smallest = {spec.base: spec.lot * spec.base_unit for spec in markets.values()} | {DOLLAR: AMOUNT_SCALE}
        is_loss = not settle(balances, smallest).needs_another_round
        self._settle(account, balances, is_loss=is_loss)
        if any(self.debts[account].values()):
            self.liquidating[account] = world.now_ms + PAUSE_MS
        else:
            del self.liquidating[account]

    def _repay(self, account: str, asset: str, amount: int) -> None:
        if self._world.exchange.pay(account, POOL, asset, amount):
            self.debts[account][asset] -= amount

    def _settle(self, account: str, balances: dict[str, AssetBalance], *, is_loss: bool) -> None:
        for loan in settle(balances, {}).loans:
            if loan.paid:
                self._repay(account, loan.asset, loan.paid)
            if is_loss and loan.loss:
                self._world.exchange.pay(INSURANCE, POOL, loan.asset, loan.loss)
                self.debts[account][loan.asset] -= loan.loss


class Left(NamedTuple):
    """A withdrawal that no person looked at."""

    at_ms: int
    user: str
    asset: str
    amount: int
    wallet: Wallet
    cents: int


class Custody:
    """Withdrawals. What needs a person waits for one, who never comes."""

    def __init__(self, world: "EconomicWorld") -> None:
        self._world = world
        self.left: list[Left] = []

    def withdraw(self, user: str, asset: str, amount: int) -> None:
        """Withdraw. Raises RefusedError, also where a person would have to approve."""
        world = self._world
        fair = {name: world.guards.custody_price(price) for name, price in world.marks.items()}
        try:
            price = withdrawal_price(asset, fair, world.references)
        except PriceUnknownError as error:
            raise RefusedError(str(error)) from error
        cents = withdrawal_cents(Decimal(amount_to_text(amount)), price.dollars)
        wallet = wallet_for(cents)
        recent = [each for each in self.left if each.at_ms > world.now_ms - DAY_S * 1000]
        if wallet is None:
            raise RefusedError("too large")
        of_wallet = sum(each.cents for each in recent if each.wallet is wallet)
        of_user = sum(each.cents for each in recent if each.user == user)
        wallet = wallet_of_user(wallet, of_user, cents, HOT_SHARE_PERCENT)
        if of_user + cents > USER_LIMIT_CENTS or not fits_daily_limit(wallet, of_wallet, cents):
            raise RefusedError("a limit of 24 hours")
        if price.unsure_because or approvals_needed(wallet, cents):
            raise RefusedError("waits for a person")
        if not world.exchange.pay(user, OUTSIDE, asset, amount):
            raise RefusedError("not free")
        self.left.append(Left(world.now_ms, user, asset, amount, wallet, cents))


class _Dealt(NamedTuple):
    at_ms: int
    quote: Quote


class Conversions:
    """Quotes and conversions."""

    def __init__(self, world: "EconomicWorld") -> None:
        self._world = world
        self._books = StandingBooks(world.guards.standing_s)
        self._sampled_at = -SAMPLE_EVERY_S
        self._dealt: list[_Dealt] = []

    def sample(self) -> None:
        """Look at the books."""
        now = self._world.now_s
        if now - self._sampled_at >= SAMPLE_EVERY_S:
            self._sampled_at = now
            for symbol in self._world.exchange.specs:
                book = self._world.books[symbol]
                self._books.add(symbol, now, book.bids, book.asks)

    def quote(self, user: str, symbol: str, *, sells_base: bool, amount: int) -> Quote:
        """Price a conversion of `amount`. Raises RefusedError."""
        world = self._world
        spec, fair = world.exchange.specs[symbol], world.prices.get(symbol)
        if fair is None or not fair.state.is_usable:
            raise RefusedError("the price is not certain")
        source, destination = (spec.base, spec.quote) if sells_base else (spec.quote, spec.base)
        pair = Pair(source, destination, symbol, sells_base, 1, 1, 1, 10**40)
        book = world.exchange.book(symbol)
        levels = book.bids if sells_base else book.asks
        if not world.guards.own_orders_count:
            own = world.exchange.own_levels(user, symbol, Side.BUY if sells_base else Side.SELL)
            by_price = {Decimal(amount_to_text(price)): Decimal(amount_to_text(own[price])) for price in own}
            levels = without_own(levels, by_price)
        standing = self._books.standing(symbol, world.now_s, BookSide(list(levels), sells_base))
        steps = world.guards.bounded(pair, steps_of(pair, standing, standing), fair)
        try:
            amounts = price_of_source(pair, steps, SPREAD_BPS, amount)
        except (BookTooThinError, AmountTooSmallError) as error:
            raise RefusedError("too little stands") from error
        both = (source, amounts.source), (destination, amounts.destination)
        cents = max(value_in_cents(each, world.marks[asset].high) for asset, each in both)
        now = datetime.fromtimestamp(world.now_s, UTC)
        quote = Quote(
            quote_id="",
            user_id=user,
            symbol=symbol,
            source_asset=source,
            destination_asset=destination,
            source_amount=amounts.source,
            destination_amount=amounts.destination,
            spread_amount=amounts.spread,
            spread_bps=SPREAD_BPS,
            value_cents=cents,
            is_funded=world.exchange.free(user, source) >= amounts.source,
            created_at=now,
            expires_at=now,
        )
        try:
            check_exposure(world.guards.exposure, self._exposure(quote), quote)
        except ExposureError as error:
            raise RefusedError(str(error)) from error
        return quote

    def accept(self, quote: Quote) -> None:
        """Convert at a quote. Raises RefusedError if it has ended."""
        world = self._world
        if world.now_s - quote.created_at.timestamp() > QUOTE_S:
            raise RefusedError("the quote has ended")
        if not world.exchange.pay(quote.user_id, INVENTORY, quote.source_asset, quote.source_amount):
            raise RefusedError("not free")
        world.exchange.pay(INVENTORY, quote.user_id, quote.destination_asset, quote.destination_amount)
        self._dealt.append(_Dealt(world.now_ms, quote))

    def _exposure(self, quote: Quote) -> Exposure:
        recent = [each.quote for each in self._dealt if each.at_ms > self._world.now_ms - HOUR_S * 1000]

        def of_asset(asset: str) -> int:
            return sum(each.value_cents for each in recent if asset in (each.source_asset, each.destination_asset))

        return Exposure(
            sum(each.value_cents for each in recent if each.user_id == quote.user_id),
            of_asset(quote.source_asset),
            of_asset(quote.destination_asset),
        )


def marks_of(prices: Mapping[str, FairPrice]) -> Marks:
    """The price of each asset in dollars."""
    return asset_prices(DOLLAR, prices)
