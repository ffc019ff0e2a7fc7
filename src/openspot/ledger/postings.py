"""What a trade posts: its legs, and their running balances (Document A 2.4, design section 10).

Every trade has the same eight legs. Six are those of Document A: debit buyer quote, credit buyer base, debit
seller base, credit seller quote, debit each fee. Two are the house's side of the fees. A fee of zero is posted
too, so that a settled trade is always complete to the eye; a rebate is a fee below zero: its leg credits. Signs:
a credit is positive, a debit negative. Amounts are integers at 18 places; nothing is rounded.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from openspot.contracts.messages import ExecutedTrade, TradeFee
from openspot.domain.ids import FEE_ACCOUNT_ID, PARTICIPANT_ID_TEXT
from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE, MoneyError, parse_decimal, to_amount
from openspot.domain.symbol import CURRENCY_TEXT

Account = tuple[str, str]
"""(user id, asset)."""

REFERENCE_TEXT = re.compile(r"[!-\[\]-~]{1,200}")
"""What identifies something: visible ASCII without a backslash, so that it needs no escape anywhere."""

HOUSE_PREFIX = "house:"
"""Begins the ids of the house's own accounts, which every batch touches and which are locked last."""
EXTERNAL_ACCOUNT_ID = "house:external"
"""The outside world: the other side of every credit and debit."""

TRADE_REFERENCE = "trade"
LEG_NAMES = (
    "buyer-quote",
    "buyer-base",
    "seller-base",
    "seller-quote",
    "buyer-fee",
    "seller-fee",
    "house-buyer-fee",
    "house-seller-fee",
)
USER_LEGS = 6
"""The first six of LEG_NAMES are the users', in the order of Document A 2.4."""


class PostingError(ValueError):
    """A trade cannot be posted; the message names the field and the reason."""


class Leg(NamedTuple):
    """One side of a double entry: `amount` is what the account changes by, at 18 places."""

    transaction_id: str
    user_id: str
    asset: str
    amount: int
    entry_type: str
    reference_type: str
    reference_id: str

    @property
    def account(self) -> Account:
        """The account that it changes."""
        return self.user_id, self.asset


class Entry(NamedTuple):
    """A leg, and its account's total (available and locked) after it."""

    leg: Leg
    balance: int


class TradePostings(NamedTuple):
    """The legs of one trade, in the order of LEG_NAMES."""

    trade_id: str
    legs: tuple[Leg, ...]


def leg_id(trade_id: str, name: str) -> str:
    """The transaction id of a trade's leg."""
    return f"{trade_id}:{name}"


def mark_of(trade_id: str) -> str:
    """The transaction id whose entry says that a trade is settled: legs are written all or none."""
    return f"{trade_id}:buyer-quote"


def is_house(user_id: str) -> bool:
    """Whether an account is the house's own."""
    return user_id.startswith(HOUSE_PREFIX)


def trade_postings(trade: ExecutedTrade) -> TradePostings:
    """The legs of `trade`, summing to zero in each asset. Raises PostingError if any figure or name is not sound."""
    trade_id, base, quote = trade.id, trade.base_asset, trade.quote_asset
    buyer, seller = trade.buyer_id, trade.seller_id
    if not REFERENCE_TEXT.fullmatch(trade_id):
        raise PostingError("id must be 1 to 200 visible ASCII characters without a backslash")
    _check_participant("buyerId", buyer)
    _check_participant("sellerId", seller)
    _check_asset("baseAsset", base)
    _check_asset("quoteAsset", quote)
    if base == quote:
        raise PostingError("baseAsset and quoteAsset are the same")
    price = _amount("price", trade.price)
    quantity = _amount("qty", trade.qty)
    if price <= 0:
        raise PostingError("price must be positive")
    if quantity <= 0:
        raise PostingError("qty must be positive")
    notional, rest = divmod(price * quantity, AMOUNT_SCALE)
    if rest:
        raise PostingError("price × qty has more than 18 decimal places")
    if notional > AMOUNT_MAX:
        raise PostingError("price × qty is too large")
    buyer_fee = _fee("fees.buyer", trade.fees.buyer, buyer)
    seller_fee = _fee("fees.seller", trade.fees.seller, seller)
    buyer_fee_asset, seller_fee_asset = trade.fees.buyer.currency, trade.fees.seller.currency
    buyer_fee_type = "rebate" if buyer_fee < 0 else "fee"
    seller_fee_type = "rebate" if seller_fee < 0 else "fee"
    kind, house = TRADE_REFERENCE, FEE_ACCOUNT_ID
    legs = (
        Leg(f"{trade_id}:buyer-quote", buyer, quote, -notional, "trade", kind, trade_id),
        Leg(f"{trade_id}:buyer-base", buyer, base, quantity, "trade", kind, trade_id),
        Leg(f"{trade_id}:seller-base", seller, base, -quantity, "trade", kind, trade_id),
        Leg(f"{trade_id}:seller-quote", seller, quote, notional, "trade", kind, trade_id),
        Leg(f"{trade_id}:buyer-fee", buyer, buyer_fee_asset, -buyer_fee, buyer_fee_type, kind, trade_id),
        Leg(f"{trade_id}:seller-fee", seller, seller_fee_asset, -seller_fee, seller_fee_type, kind, trade_id),
        Leg(f"{trade_id}:house-buyer-fee", house, buyer_fee_asset, buyer_fee, buyer_fee_type, kind, trade_id),
        Leg(f"{trade_id}:house-seller-fee", house, seller_fee_asset, seller_fee, seller_fee_type, kind, trade_id),
    )
    return TradePostings(trade_id, legs)


def sums(legs: Iterable[Leg]) -> dict[str, int]:
    """The sum of `legs` by asset: zero in each where every debit has its credit."""
    totals: dict[str, int] = {}
    for leg in legs:
        totals[leg.asset] = totals.get(leg.asset, 0) + leg.amount
    return totals


def run_balances(legs: Iterable[Leg], totals: Mapping[Account, int]) -> tuple[list[Entry], dict[Account, int]]:
    """The entries of `legs` with running balances that start from `totals`, and the totals after them.

    Raises KeyError for a leg whose account is not in `totals`.
    """
    running = dict(totals)
    entries = []
    for leg in legs:
        account = (leg.user_id, leg.asset)
        balance = running[account] = running[account] + leg.amount
        entries.append(Entry(leg, balance))
    return entries, running


def _fee(field: str, fee: TradeFee, payer: str) -> int:
    if fee.user_id != payer:
        raise PostingError(f"{field}.userId is not that side's participant")
    _check_asset(f"{field}.currency", fee.currency)
    return _amount(f"{field}.amount", fee.amount)


def _amount(field: str, text: str) -> int:
    try:
        return to_amount(parse_decimal(text))
    except MoneyError as error:
        raise PostingError(f"{field} {error}") from error


def _check_participant(field: str, user_id: str) -> None:
    if not PARTICIPANT_ID_TEXT.fullmatch(user_id):
        raise PostingError(f"{field} is not a participant id")


def _check_asset(field: str, asset: str) -> None:
    if not CURRENCY_TEXT.fullmatch(asset):
        raise PostingError(f"{field} is not an asset name")
