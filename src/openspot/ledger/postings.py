"""What the ledger posts for a trade or a transfer, and the running balances (facts A2.4-09 to A2.4-15).

The journal entry of a trade always has the same eight postings. Six are those of the facts: debit the buyer's quote,
credit the buyer's base, debit the seller's base, credit the seller's quote, debit each fee. The other two are the
house's side of the fees; with them every asset sums to zero. A fee of zero is posted too, so that every settled trade
has all its postings. A rebate is a negative fee, so its posting is a credit. A credit is positive, a debit negative.
Amounts are integers at 18 places; nothing is rounded.

The journal entry of a transfer has two postings for each movement: a debit of the source, a credit of the destination.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from openspot.contracts.messages import ExecutedTrade, ExecutedTransfer, TradeFee
from openspot.domain.accounts import AccountKey
from openspot.domain.ids import FEE_ACCOUNT_ID, HOUSE_PREFIX, PARTICIPANT_ID_TEXT, REFERENCE_TEXT
from openspot.domain.money import AMOUNT_MAX, AMOUNT_PLACES, AMOUNT_SCALE, MoneyError, parse_decimal, to_amount
from openspot.domain.symbol import CURRENCY_TEXT
from openspot.domain.transfer import MOVEMENTS_MAX, REFERENCE_LENGTH_MAX

TRADE_REFERENCE = "trade"
TRANSFER_REFERENCE = "transfer"

POSTING_NAMES = (
    "buyer-quote",
    "buyer-base",
    "seller-base",
    "seller-quote",
    "buyer-fee",
    "seller-fee",
    "house-buyer-fee",
    "house-seller-fee",
)
"""The names of the postings of a trade. The first six are those of the facts A2.4-10 to A2.4-15, in their order."""

SEQUENCE_MAX = 2**63 - 1
"""Largest sequence of an engine event: the largest `bigint`."""

_KIND_TEXT = re.compile(r"[a-z-]{1,32}")
_POWERS = tuple(10**exponent for exponent in range(AMOUNT_PLACES + 1))


class PostingError(ValueError):
    """A trade or transfer cannot be posted; the message names the field and the reason."""


class Posting(NamedTuple):
    """One side of a double entry: the account changes by `amount`. It becomes one row of `ledger_entries`."""

    transaction_id: str
    account: AccountKey
    amount: int
    entry_type: str
    reference_type: str
    reference_id: str


class JournalEntry(NamedTuple):
    """The postings of one trade or transfer: to its participants' accounts, and to those of the house.

    `id` is the trade's id or the transfer's reference. All postings are written together or none. So the row with the
    transaction id `marker` proves that all are written.
    """

    id: str
    marker: str
    postings: tuple[Posting, ...]
    house_postings: tuple[Posting, ...]


def settlement_marker(trade_id: str) -> str:
    """The transaction id of a trade's first posting. If the ledger has its row, the trade is settled."""
    return f"{trade_id}:buyer-quote"


def is_house(user_id: str) -> bool:
    """Whether an account is the house's own. Every batch changes such accounts, so they are locked last."""
    return user_id.startswith(HOUSE_PREFIX)


def trade_entry(trade: ExecutedTrade) -> JournalEntry:
    """The journal entry of `trade`: it sums to zero in each asset. Raises PostingError for a bad figure or name."""
    trade_id, base, quote = trade.id, trade.base_asset, trade.quote_asset
    buyer, seller = trade.buyer_id, trade.seller_id
    if not REFERENCE_TEXT.fullmatch(trade_id):
        raise PostingError("id must be 1 to 200 visible ASCII characters without quote or backslash")
    if not 0 <= trade.sequence <= SEQUENCE_MAX:
        raise PostingError(f"sequence must be between 0 and {SEQUENCE_MAX}")
    _check_participant("buyerId", buyer)
    _check_participant("sellerId", seller)
    _check_asset("baseAsset", base)
    _check_asset("quoteAsset", quote)
    if base == quote:
        raise PostingError("baseAsset and quoteAsset are the same")
    price = _amount("price", trade.price)
    quantity = _amount("qty", trade.quantity)
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
    buyer_type = "rebate" if buyer_fee < 0 else "fee"
    seller_type = "rebate" if seller_fee < 0 else "fee"
    buyer_quote, seller_quote = AccountKey(buyer, quote), AccountKey(seller, quote)
    # Reuse equal accounts: eight new ones cost 4 µs a trade, these five 1.5 µs.
    buyer_fee_asset, seller_fee_asset = trade.fees.buyer.asset, trade.fees.seller.asset
    buyer_pays = buyer_quote if buyer_fee_asset == quote else AccountKey(buyer, buyer_fee_asset)
    seller_pays = seller_quote if seller_fee_asset == quote else AccountKey(seller, seller_fee_asset)
    buyer_fees = AccountKey(FEE_ACCOUNT_ID, buyer_fee_asset)
    seller_fees = buyer_fees if seller_fee_asset == buyer_fee_asset else AccountKey(FEE_ACCOUNT_ID, seller_fee_asset)
    kind = TRADE_REFERENCE
    postings: tuple[Posting, ...] = (
        Posting(f"{trade_id}:buyer-quote", buyer_quote, -notional, "trade", kind, trade_id),
        Posting(f"{trade_id}:buyer-base", AccountKey(buyer, base), quantity, "trade", kind, trade_id),
        Posting(f"{trade_id}:seller-base", AccountKey(seller, base), -quantity, "trade", kind, trade_id),
        Posting(f"{trade_id}:seller-quote", seller_quote, notional, "trade", kind, trade_id),
        Posting(f"{trade_id}:buyer-fee", buyer_pays, -buyer_fee, buyer_type, kind, trade_id),
        Posting(f"{trade_id}:seller-fee", seller_pays, -seller_fee, seller_type, kind, trade_id),
    )
    house_postings: tuple[Posting, ...] = (
        Posting(f"{trade_id}:house-buyer-fee", buyer_fees, buyer_fee, buyer_type, kind, trade_id),
        Posting(f"{trade_id}:house-seller-fee", seller_fees, seller_fee, seller_type, kind, trade_id),
    )
    if is_house(buyer) or is_house(seller):
        house_postings = tuple(each for each in (*postings, *house_postings) if is_house(each.account.user_id))
        postings = tuple(each for each in postings if not is_house(each.account.user_id))
    return JournalEntry(trade_id, settlement_marker(trade_id), postings, house_postings)


def transfer_entry(transfer: ExecutedTransfer) -> JournalEntry:
    """The journal entry of `transfer`: it sums to zero in each asset. Raises PostingError for a bad figure or name."""
    reference = transfer.id
    if len(reference) > REFERENCE_LENGTH_MAX or not REFERENCE_TEXT.fullmatch(reference):
        raise PostingError(
            f"id must be 1 to {REFERENCE_LENGTH_MAX} visible ASCII characters without quote or backslash"
        )
    if not _KIND_TEXT.fullmatch(transfer.kind):
        raise PostingError("kind must be 1 to 32 small letters or -")
    if not 0 <= transfer.sequence <= SEQUENCE_MAX:
        raise PostingError(f"sequence must be between 0 and {SEQUENCE_MAX}")
    if not 1 <= len(transfer.movements) <= MOVEMENTS_MAX:
        raise PostingError(f"movements must be 1 to {MOVEMENTS_MAX}")
    postings: list[Posting] = []
    for number, movement in enumerate(transfer.movements, start=1):
        field = f"movements[{number - 1}]"
        _check_participant(f"{field}.fromId", movement.source)
        _check_participant(f"{field}.toId", movement.destination)
        if movement.source == movement.destination:
            raise PostingError(f"{field}.toId is the payer")
        _check_asset(f"{field}.asset", movement.asset)
        amount = _amount(f"{field}.amount", movement.amount)
        if amount <= 0:
            raise PostingError(f"{field}.amount must be positive")
        source, destination = (
            AccountKey(movement.source, movement.asset),
            AccountKey(movement.destination, movement.asset),
        )
        common = (transfer.kind, TRANSFER_REFERENCE, reference)
        postings.append(Posting(f"{reference}:{number}:transfer-debit", source, -amount, *common))
        postings.append(Posting(f"{reference}:{number}:transfer-credit", destination, amount, *common))
    return JournalEntry(
        reference,
        f"{reference}:1:transfer-debit",
        tuple(posting for posting in postings if not is_house(posting.account.user_id)),
        tuple(posting for posting in postings if is_house(posting.account.user_id)),
    )


def lock_order(account: AccountKey) -> tuple[bool, AccountKey]:
    """The sort key for the order in which every transaction locks accounts: the house's last."""
    return is_house(account.user_id), account


def changes_of(postings: Iterable[Posting]) -> dict[AccountKey, int]:
    """The amount by which `postings` change each account."""
    changes: dict[AccountKey, int] = {}
    for posting in postings:
        account = posting.account
        changes[account] = changes.get(account, 0) + posting.amount
    return changes


def sums(changes: Mapping[AccountKey, int]) -> dict[str, int]:
    """The sum of `changes` by asset. It is zero if every debit has its credit."""
    totals: dict[str, int] = {}
    for account, amount in changes.items():
        totals[account.asset] = totals.get(account.asset, 0) + amount
    return totals


def running_balances(postings: Iterable[Posting], totals: Mapping[AccountKey, int]) -> list[int]:
    """The account's total after each of `postings`, which are posted in order. `totals` are the totals before.

    Raises KeyError for a posting whose account is not in `totals`.
    """
    running = dict(totals)
    balances = []
    for posting in postings:
        account = posting.account
        balance = running[account] = running[account] + posting.amount
        balances.append(balance)
    return balances


def _fee(field: str, fee: TradeFee, payer: str) -> int:
    if fee.user_id != payer:
        raise PostingError(f"{field}.userId is not that side's participant")
    _check_asset(f"{field}.currency", fee.asset)
    return _amount(f"{field}.amount", fee.amount)


def _amount(field: str, text: str) -> int:
    # Nearly every amount is plain digits. For those, this gives the same integer several times faster.
    digits = text[1:] if text[:1] == "-" else text
    whole, _, fraction = digits.partition(".")
    if (
        len(whole) <= 18
        and len(fraction) <= AMOUNT_PLACES
        and whole.isdigit()
        and fraction.isdigit()
        and text.isascii()
    ):
        amount: int = int(whole + fraction) * _POWERS[AMOUNT_PLACES - len(fraction)]
        return amount if digits is text else -amount
    try:
        return to_amount(parse_decimal(text))
    except MoneyError as error:
        raise PostingError(f"{field} {error}") from error


def _check_participant(field: str, user_id: str) -> None:
    if not PARTICIPANT_ID_TEXT.fullmatch(user_id):
        raise PostingError(f"{field} is not a participant id")


def _check_asset(field: str, asset: str) -> None:
    if not _is_asset(asset):
        raise PostingError(f"{field} is not an asset name")


@functools.lru_cache(maxsize=1024)
def _is_asset(text: str) -> bool:
    return CURRENCY_TEXT.fullmatch(text) is not None
