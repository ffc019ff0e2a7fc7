"""Finds the translation of a text by its English template. Pure.

Whoever tells the user something writes it in English: services send notifications over the bus without knowing the
user's language. The catalogues have the same texts as templates, with names in braces where values stand. A text that
no template fits stays English, so a new text is readable before it is translated. A value named `reason` is a reason
that a service gave, which has words of its own (`reasons.py`); one without words stays English as a whole.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from openspot.rest_edge.languages.german import GERMAN
from openspot.rest_edge.languages.portuguese import PORTUGUESE
from openspot.rest_edge.languages.reasons import reasons_in
from openspot.rest_edge.languages.spanish import SPANISH


class Language(StrEnum):
    """The languages of mails and notifications."""

    ENGLISH = "en"
    GERMAN = "de"
    SPANISH = "es"
    PORTUGUESE = "pt"


CATALOGUES: Mapping[Language, Mapping[str, str]] = {
    Language.GERMAN: GERMAN,
    Language.SPANISH: SPANISH,
    Language.PORTUGUESE: PORTUGUESE,
}
"""Translations by English template. Of two templates that fit a text, the first one counts."""

PAGES: Mapping[Language, str] = {Language.GERMAN: "de", Language.SPANISH: "es", Language.PORTUGUESE: "pt-BR"}
"""The tags by which the trading screen calls the languages of the catalogues."""

_NAME = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class _Template:
    pattern: re.Pattern[str]
    translation: str


def language_of(tag: str | None) -> Language:
    """The language that a tag (BCP 47) asks for: "pt-PT" is Portuguese. English for one that is not here, and None."""
    wanted = (tag or "").lower().partition("-")[0]
    return Language(wanted) if wanted in set(Language) else Language.ENGLISH


def translated(text: str, language: Language) -> str:
    """The text in another language, line by line. A line that no template fits stays as it is."""
    if language is Language.ENGLISH:
        return text
    return "\n".join(_translated_line(line, language) for line in text.split("\n"))


def _translated_line(line: str, language: Language) -> str:
    for template in _templates(language):
        found = template.pattern.fullmatch(line)
        if found is not None:
            return _filled(template.translation, found, language)
    return line


def _filled(translation: str, found: re.Match[str], language: Language) -> str:
    values = found.groupdict()
    if "reason" in values:
        values["reason"] = reasons_in(PAGES[language]).said(values["reason"]) or values["reason"]
    return _NAME.sub(lambda name: values[name[1]], translation)


@cache
def _templates(language: Language) -> tuple[_Template, ...]:
    return tuple(_Template(_pattern(english), translation) for english, translation in CATALOGUES[language].items())


def _pattern(template: str) -> re.Pattern[str]:
    """A pattern in which each name of a template stands for at least one letter."""
    parts = _NAME.split(template)
    return re.compile("".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts)))
