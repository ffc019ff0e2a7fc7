"""Lines of CSV files as RFC 4180 has them, safe to open in a spreadsheet."""

import re
from collections.abc import Sequence

LINE_END = "\r\n"
_QUOTED = re.compile(r'[",\r\n]')
_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
"""How a cell begins that a spreadsheet takes for a formula; some take the wide forms too."""
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def csv_line(cells: Sequence[str | None]) -> str:
    """A line with its end. None is empty; a text that a spreadsheet would compute is marked as text."""
    return ",".join(_cell(cell) for cell in cells) + LINE_END


def _cell(value: str | None) -> str:
    if value is None:
        return ""
    text = f"'{value}" if _FORMULA.match(value) and not _DECIMAL.fullmatch(value) else value
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
