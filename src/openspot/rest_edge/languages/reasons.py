"""Says a reason that a service gave in English in the words of the trading screen.

The words are the trading screen's own, templates by the English ones; `web/trade/src/api/reasons.ts` finds them in the
same way. Figures and times stay as the service wrote them; an amount before its asset is written later (`amounts.py`).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

IN_PACKAGE = Path(__file__).with_name("reason_words")
IN_CHECKOUT = Path(__file__).resolve().parents[4] / "web/trade/languages/reasons"
"""A wheel has a copy of the files, which its build makes; a checkout has them where the pages are."""

LENGTH_MAX = 500
"""A longer reason stays English: no service gives one, and the search would take long."""

_NAME = re.compile(r"\{(\w+)\}")
_OF_FIELD = re.compile(r"([A-Za-z][\w.]*):? (.+)", re.ASCII)
_LISTED = re.compile(r", | and ")
_GIVEN = frozenset({"address", "id", "name", "note", "time"})
"""Values that are shown as they are, also if they look like a name of ours."""


@dataclass(frozen=True, slots=True)
class _Template:
    parts: tuple[str, ...]
    """What stands between the values."""
    pattern: str
    words: str

    def values_in(self, reason: str) -> dict[str, str] | None:
        """The values by name, None if the reason is another one."""
        # Most templates are ruled out here, so that few patterns are ever compiled.
        if not all(part in reason for part in self.parts):
            return None
        found = _compiled(self.pattern).fullmatch(reason)
        return None if found is None else found.groupdict()


class Reasons:
    """The words of one language for reasons."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words
        # The most letters first: "price {price} is below {least}" before "{field} is below {least}".
        self._templates = sorted(
            (_template(english, text) for english, text in words.items() if _NAME.search(english)),
            key=lambda template: -sum(map(len, template.parts)),
        )

    def said(self, reason: str) -> str | None:
        """The reason in this language, None if there are no words for all of it."""
        return self._said(reason) if len(reason) <= LENGTH_MAX else None

    def _said(self, reason: str) -> str | None:
        whole = self._words.get(reason)
        if whole is not None:
            return whole
        for template in self._templates:
            values = template.values_in(reason)
            words = None if values is None else self._filled(template.words, values)
            if words is not None:
                return words
        return self._of_field(reason)

    def _filled(self, words: str, values: Mapping[str, str]) -> str | None:
        shown = {name: self._shown(name, value) for name, value in values.items()}
        if None in shown.values():
            return None
        return _NAME.sub(lambda name: shown[name[1]] or "", words)

    def _shown(self, name: str, value: str) -> str | None:
        if name == "reason":
            return self._said(value)
        if name in _GIVEN:
            return value
        return ", ".join(self._words.get(one, one) for one in _LISTED.split(value))

    def _of_field(self, reason: str) -> str | None:
        """A reason that begins with its field, such as "orders.0.price must be positive"."""
        found = _OF_FIELD.fullmatch(reason)
        if found is None:
            return None
        field = [part if part.isdigit() else self._words.get(part) for part in found[1].split(".")]
        rest = self._said(found[2])
        return None if rest is None or None in field else f"{' '.join(filter(None, field))}: {rest}"


@cache
def reasons_in(tag: str) -> Reasons:
    """The words of the language with this tag (BCP 47), as its file is named."""
    folder = IN_PACKAGE if IN_PACKAGE.is_dir() else IN_CHECKOUT
    return Reasons(json.loads((folder / f"{tag}.json").read_text("utf-8")))


def _template(english: str, words: str) -> _Template:
    parts = _NAME.split(english)
    pattern = "".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
    return _Template(tuple(parts[::2]), pattern, words)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
