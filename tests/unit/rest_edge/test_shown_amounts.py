"""Amounts in mails and on devices: the signs of the language, by the rule that the bell has too."""

from pathlib import Path

import pytest

from openspot.rest_edge.languages.amounts import SEPARATORS, with_shown_amounts
from openspot.rest_edge.languages.catalogue import Language

TABLE = Path(__file__).parents[2] / "scenarios/notices/amounts.txt"


def cases() -> list[tuple[Language, str, str]]:
    """The language of each case, the text as it is stored, and as it is shown."""
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    assert [line[:4] == " -> " for line in lines] == [False, True] * (len(lines) // 2)
    pairs = zip(lines[::2], lines[1::2], strict=True)
    return [(Language(stored[:2]), stored.removeprefix(f"{stored[:2]}: "), shown[4:]) for stored, shown in pairs]


@pytest.mark.parametrize(("language", "stored", "shown"), cases())
def test_an_amount_has_the_signs_of_the_language_and_nothing_else_changes(
    language: Language, stored: str, shown: str
) -> None:
    assert with_shown_amounts(stored, language) == shown


def test_every_language_has_its_signs_and_a_case() -> None:
    assert set(SEPARATORS) == set(Language) == {language for language, _, _ in cases()}
