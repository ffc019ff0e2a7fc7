"""Bodies of the engine's HTTP interface: camelCase, decimals as texts (JSON numbers are taken too)."""

from decimal import Decimal
from typing import TypeVar

import msgspec

from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.money import AMOUNT_PLACES, MoneyError, decimal_to_text, parse_decimal
from openspot.domain.symbol import CURRENCY_TEXT, SYMBOL_TEXT

CURRENCY_NAME_LENGTH_MAX = 64
BODY_BYTES_MAX = 16_384
ID_MAX = 2**31 - 1

Body = TypeVar("Body", bound=msgspec.Struct)


class BodyError(ValueError):
    """A body cannot be taken; the message names the field and the reason."""


class _Body(msgspec.Struct, rename="camel", forbid_unknown_fields=True, frozen=True, kw_only=True):
    pass


class DepositBody(_Body, frozen=True, kw_only=True):
    """POST /api/v1/accounts/deposit."""

    participant_id: str
    currency: str
    amount: Decimal
    reference: str = ""

    def __post_init__(self) -> None:
        if not PARTICIPANT_ID_TEXT.fullmatch(self.participant_id):
            raise ValueError("participantId must be 1 to 64 letters, digits or _ : -")
        decimal_field("amount", self.amount)


class CurrencyBody(_Body, frozen=True, kw_only=True):
    """POST /api/v1/admin/currencies. Without `currencyId` the next free number is taken."""

    currency: str
    currency_id: int | None = None
    name: str | None = None
    places: int = AMOUNT_PLACES

    def __post_init__(self) -> None:
        if not CURRENCY_TEXT.fullmatch(self.currency):
            raise ValueError("currency must be 2 to 10 capital letters or digits")
        _check_id("currencyId", self.currency_id)
        _check_currency(self.name, self.places)


class CurrencyChange(_Body, frozen=True, kw_only=True):
    """PUT or PATCH /api/v1/admin/currencies/{currency}."""

    name: str | None = None
    places: int | None = None

    def __post_init__(self) -> None:
        _check_currency(self.name, self.places)


class SymbolBody(_Body, frozen=True, kw_only=True):
    """POST /api/v1/admin/symbols. Scales that are not given are the finest that lot and tick need."""

    symbol: str
    symbol_id: int | None = None
    base_currency: str | None = None
    quote_currency: str | None = None
    lot_size: Decimal
    tick_size: Decimal
    base_scale_k: int | None = None
    quote_scale_k: int | None = None
    taker_fee: int
    maker_fee: int

    def __post_init__(self) -> None:
        if not SYMBOL_TEXT.fullmatch(self.symbol):
            raise ValueError("symbol must be <BASE>-<QUOTE> in capital letters or digits")
        base, quote = self.symbol.split("-")
        if self.base_currency not in (None, base) or self.quote_currency not in (None, quote):
            raise ValueError("baseCurrency and quoteCurrency must be those of the symbol's name")
        _check_id("symbolId", self.symbol_id)
        decimal_field("lotSize", self.lot_size)
        decimal_field("tickSize", self.tick_size)


class SymbolChange(_Body, frozen=True, kw_only=True):
    """PUT or PATCH /api/v1/admin/symbols/{symbol}. What is not given stays."""

    taker_fee: int | None = None
    maker_fee: int | None = None
    active: bool | None = None


def read_body(content: bytes, body_type: type[Body]) -> Body:
    """The body, with values transformed to their declared types. Raises BodyError naming field and reason."""
    try:
        return msgspec.json.decode(content, type=body_type, strict=False)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BodyError(_reason(str(error))) from error


def decimal_field(name: str, value: Decimal) -> Decimal:
    """`value` if it is a finite decimal of ordinary size. Raises ValueError naming the field."""
    try:
        return parse_decimal(decimal_to_text(value) if value.is_finite() and abs(value.adjusted()) < 60 else str(value))
    except MoneyError as error:
        raise ValueError(f"{name} {error}") from error


def _check_id(name: str, value: int | None) -> None:
    if value is not None and not 1 <= value <= ID_MAX:
        raise ValueError(f"{name} must be between 1 and {ID_MAX}")


def _check_currency(name: str | None, places: int | None) -> None:
    if name is not None and not 1 <= len(name) <= CURRENCY_NAME_LENGTH_MAX:
        raise ValueError(f"name must have 1 to {CURRENCY_NAME_LENGTH_MAX} letters")
    if places is not None and not 0 <= places <= AMOUNT_PLACES:
        raise ValueError(f"places must be between 0 and {AMOUNT_PLACES}")


def _reason(text: str) -> str:
    """msgspec's message in the platform's words: unknown fields as "property x should not exist"."""
    if text.startswith("Object contains unknown field"):
        return f"property {text.split('`')[1]} should not exist"
    if text.startswith("Object missing required field"):
        return f"{text.split('`')[1]} is required"
    message, _, path = text.partition(" - at `$")
    field = path.strip(".`")
    return f"{field}: {message}" if field else message
