"""Writes the amounts in a notification with the signs of its language: "1.234,5 USDT" in German. Pure.

Notifications are stored with a point and without groups: the trading screen writes their amounts as its user has
chosen. Mails and devices have no such choice, so theirs are written when they are queued. Both find amounts by one rule
(`withShownAmounts` of `web/trade/src/api/notices.ts`), held by `tests/scenarios/notices/amounts.txt`.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from openspot.rest_edge.languages.catalogue import Language


class Separators(NamedTuple):
    """The signs between the digits of a figure."""

    decimal: str
    group: str


SEPARATORS: Mapping[Language, Separators] = {
    Language.ENGLISH: Separators(".", ","),
    Language.GERMAN: Separators(",", "."),
    Language.SPANISH: Separators(",", "."),
    Language.PORTUGUESE: Separators(",", "."),
}

# An amount stands before the name of its asset or a percent sign; years, ids and ports have none behind them.
_AMOUNT = re.compile(r"(?<![\w.,:/-])(\d+)(?:\.(\d+))?(?= (?:%|(?!UTC)[A-Z][A-Z0-9]{1,9}\b))", re.ASCII)

_BOUNDARY = re.compile(r"\B(?=(?:\d{3})+$)", re.ASCII)
"""A place where a sign between groups belongs."""


def with_shown_amounts(text: str, language: Language) -> str:
    """The text with its amounts as the language writes them, with every digit."""
    signs = SEPARATORS[language]

    def shown(found: re.Match[str]) -> str:
        whole, fraction = _BOUNDARY.sub(signs.group, found[1]), found[2]
        return whole if fraction is None else f"{whole}{signs.decimal}{fraction}"

    return _AMOUNT.sub(shown, text)
