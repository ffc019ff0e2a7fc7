"""Validation of the fields of AdminService requests. All functions raise FieldError."""

from decimal import Decimal

from openspot.domain.ids import PARTICIPANT_ID_TEXT
from openspot.domain.money import MoneyError, parse_decimal, to_amount
from openspot.domain.order import OrderStatus, StpMode
from openspot.domain.result_code import ResultCode
from openspot.engine.admin.errors import FieldError

PARTICIPANT_TYPES = ("MAKER", "TAKER", "BOTH", "BROKER", "SYSTEM", "SUPER_ADMIN")
"""The types of participants (facts A2.6-03 to A2.6-09)."""
ADJUSTMENT_TYPES = ("DEPOSIT", "WITHDRAW")
ORDER_STATUSES = tuple(status.name for status in OrderStatus if status is not OrderStatus.PENDING)

LIMIT_DEFAULT = 100
LIMIT_MAX = 1000
OFFSET_MAX = 2**31 - 1
NAME_LENGTH_MAX = 128
REASON_LENGTH_MAX = 200
PASSWORD_LENGTH_MIN = 8
PASSWORD_LENGTH_MAX = 256


def participant_id(value: str) -> str:
    """A well-formed participant id. The participant need not exist."""
    if not PARTICIPANT_ID_TEXT.fullmatch(value):
        raise FieldError("participantId must be 1 to 64 letters, digits or _ : -", ResultCode.AUTH_INVALID_USER)
    return value


def optional_participant_id(value: str) -> str:
    """A well-formed participant id, or an empty text, which means any."""
    return participant_id(value) if value else ""


def page(limit: int, offset: int) -> tuple[int, int]:
    """(limit, offset) of a list. A limit of 0 means the default."""
    if limit > LIMIT_MAX:
        raise FieldError(f"limit must be at most {LIMIT_MAX}")
    if offset > OFFSET_MAX:
        raise FieldError(f"offset must be at most {OFFSET_MAX}")
    return limit or LIMIT_DEFAULT, offset


def one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """One of the allowed texts."""
    if value not in allowed:
        raise FieldError(f"{name} must be one of {', '.join(allowed)}")
    return value


def stp_mode(value: str) -> StpMode:
    """A self-trade prevention mode."""
    return StpMode[one_of("stpMode", value, tuple(StpMode.__members__))]


def order_status(value: str) -> str:
    """An order status in upper case, or an empty text, which means any. Accepts any case."""
    return one_of("status", value.upper(), ORDER_STATUSES) if value else ""


def name(value: str, default: str) -> str:
    """The name of a participant, or `default` if it is empty."""
    text = value.strip()
    if len(text) > NAME_LENGTH_MAX or not text.isprintable():
        raise FieldError(f"name must have at most {NAME_LENGTH_MAX} printable characters")
    return text or default


def reason(value: str) -> str:
    """Why an operator makes a change; empty if no reason was given."""
    text = value.strip()
    if len(text) > REASON_LENGTH_MAX or not text.isprintable():
        raise FieldError(f"reason must have at most {REASON_LENGTH_MAX} printable letters")
    return text


def new_password(value: str) -> str:
    """A password to set."""
    if not PASSWORD_LENGTH_MIN <= len(value) <= PASSWORD_LENGTH_MAX:
        raise FieldError(f"password must have {PASSWORD_LENGTH_MIN} to {PASSWORD_LENGTH_MAX} characters")
    return value


def given_password(value: str) -> str:
    """A password to check."""
    if not 1 <= len(value) <= PASSWORD_LENGTH_MAX:
        raise FieldError(f"password must have 1 to {PASSWORD_LENGTH_MAX} characters")
    return value


def positive_amount(value: str) -> Decimal:
    """A positive amount of a currency."""
    try:
        amount = parse_decimal(value)
        if to_amount(amount) <= 0:
            raise FieldError("amount must be positive", ResultCode.INVALID_AMOUNT)
    except MoneyError as error:
        raise FieldError(f"amount {error}", ResultCode.INVALID_AMOUNT) from error
    return amount
