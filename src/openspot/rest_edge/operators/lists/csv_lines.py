"""Lines of a CSV file (RFC 4180) that a spreadsheet can open without computing anything. Pure.

A cell that begins as a formula does gets an apostrophe before it, which spreadsheets show as text (OWASP, "CSV
injection"). Plain numbers stay numbers, also negative ones.
"""

import re
from collections.abc import Iterable

_QUOTED = re.compile(r'[",\r\n]')
_FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def csv_line(cells: Iterable[object]) -> bytes:
    """One line with its end. None is empty."""
    return (",".join(_cell(cell) for cell in cells) + "\r\n").encode()


def _cell(value: object) -> str:
    if value is None:
        return ""
    text = str(value)
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        text = f"'{text}"
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
