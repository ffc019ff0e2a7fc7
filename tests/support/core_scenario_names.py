"""The names and numbers of the scenarios: accounts, currencies, symbols, figures, members of enums."""

import re
from decimal import Decimal
from enum import IntEnum
from typing import TypeVar

from openspot.domain.money import to_amount

ACCOUNTS = {"admin": 0, "house": 1, "alice": 2, "bob": 3, "carol": 4, "dave": 5, "erin": 6, "nobody": 99} | {
    "bob-margin": 3 << 32 | 7,
    "bob-margin-2": 3 << 32 | 8,
    "carol-margin": 4 << 32 | 9,
}
CURRENCIES = {"BTC": 1, "USD": 2, "ETH": 3, "DOGE": 9}
SYMBOLS = {"BTC-USD": 1, "ETH-USD": 2, "ETH-BTC": 3, "DOGE-USD": 9}
_POWER = re.compile(r"(-?)(\d+)\^(\d+)([+-]\d+)?")
_Member = TypeVar("_Member", bound=IntEnum)


def named(**figures: str) -> list[str]:
    """The figures with their names, without those that are 0."""
    return [f"{name} {figure}" for name, figure in figures.items() if figure != "0"]


def number_of(names: dict[str, int], text: str) -> int:
    """The number that a name stands for, or a figure says."""
    if text in names:
        return names[text]
    if power := _POWER.fullmatch(text):
        sign, base, exponent, rest = power.groups()
        figure: int = int(base) ** int(exponent)
        return (-figure if sign else figure) + int(rest or 0)
    return int(text)


def name_of(names: dict[str, int], number: int) -> str:
    """The name of a number."""
    return next(name for name, known in names.items() if known == number)


def amount_of(text: str) -> int:
    """An amount in units of the 18th place: a decimal, or with a trailing `u` the units themselves."""
    return number_of({}, text.removesuffix("u")) if text.endswith("u") else to_amount(Decimal(text))


def member_of(members: type[_Member], text: str) -> int:
    """The number of an enum's member by name. A number is returned as it is, even if no member has it."""
    return int(text) if text.lstrip("-").isdigit() else members[text.upper()]
