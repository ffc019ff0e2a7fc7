"""The trading screen has words in its other languages for every reason with which a service refuses a trader.

The reasons are read from the sources of the services, and compared with the templates beside the catalogues of the
trading screen. That the languages have the same ones is proved by `web/trade/languages/catalogues.test.ts`.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from openspot.domain.result_code import ResultCode
from openspot.engine_transfers.runner import UNSENT
from openspot.rest_edge.products.conversions.service import FUNDS, INVENTORY
from tests.support.refusal_scope import (
    NO_REASONS,
    NOT_FOR_PEOPLE,
    OF_THE_PAGE,
    PACKAGES,
    PUT_TOGETHER,
    RESULTS_OF_NO_ORDER,
    SAID_TO_OTHERS,
    SPELT_OUT,
)
from tests.support.refusal_texts import HOLE, Text, pattern_of, texts_of

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src/openspot"
TEMPLATES = json.loads((ROOT / "web/trade/languages/reasons/de.json").read_text("utf-8"))
PATTERNS = {pattern_of(template) for template in TEMPLATES}
OF_FIELD = re.compile(r"([A-Za-z][\w.]*|\{\}[\w.]*):? (.+)")
FIGURE = re.compile(r"(?<![\w.])[0-9]+(\.[0-9]+)?(?![\w.])")


def sources() -> list[tuple[Path, str]]:
    """The files whose texts a trader may get to read, with their names."""
    files = sorted(path for package in PACKAGES for path in (SOURCES / package).rglob("*.py"))
    named = [(path, path.relative_to(SOURCES).as_posix()) for path in files]
    return [(path, name) for path, name in named if not any(re.match(other, name) for other in SAID_TO_OTHERS)]


@cache
def texts() -> list[Text]:
    """Every text of these files that may be a reason."""
    return [text for path, name in sources() for text in texts_of(path, name)]


def with_end(text: str) -> str:
    """A text with a hole for what is put together with it behind a colon or a sentence."""
    return text + HOLE if text.endswith(" ") else text


def forms_of(pattern: str) -> set[str]:
    """The forms in which the templates may have a text: also without the field that it is about, and its figures."""
    text = pattern.removeprefix("; ")
    whole = with_end(text)
    forms = {text, whole}
    if found := OF_FIELD.fullmatch(whole):
        field, rest = found.groups()
        if field.startswith(HOLE) or set(field.split(".")) <= set(TEMPLATES):
            forms |= {rest, f"{HOLE} {rest}"}
    return forms | {FIGURE.sub(HOLE, form) for form in forms}


def spelt_out(pattern: str) -> list[str]:
    """The templates that spell out the values of a text."""
    able = re.compile(".+".join(re.escape(part) for part in with_end(pattern).split(HOLE)))
    return [template for template in PATTERNS if able.fullmatch(template)]


def test_every_reason_of_the_services_has_words_or_is_not_for_people() -> None:
    known = PATTERNS | NOT_FOR_PEOPLE | NO_REASONS | {pattern for pattern in SPELT_OUT if spelt_out(pattern)}
    missing = [text for text in texts() if known.isdisjoint(forms_of(text.pattern))]
    assert [f"{text.path}:{text.line}: {text.pattern}" for text in missing] == []


def test_every_template_is_a_reason_that_some_service_gives() -> None:
    given = {form for text in texts() for form in forms_of(text.pattern)}
    given |= {template for pattern in SPELT_OUT for template in spelt_out(pattern)}
    templates = {template for template in TEMPLATES if " " in template} - OF_THE_PAGE - PUT_TOGETHER
    assert sorted(template for template in templates if pattern_of(template) not in given) == []


def test_every_result_of_an_order_has_words() -> None:
    results = {code.name for code in ResultCode}
    assert results - set(TEMPLATES) == RESULTS_OF_NO_ORDER


def test_every_code_of_a_transfer_that_failed_has_words() -> None:
    assert {UNSENT, FUNDS, INVENTORY} <= set(TEMPLATES)


@pytest.mark.parametrize("listed", [NOT_FOR_PEOPLE, NO_REASONS, SPELT_OUT])
def test_what_is_listed_as_no_reason_for_people_is_still_in_the_sources(listed: frozenset[str]) -> None:
    assert sorted(listed - {text.pattern for text in texts()}) == []


def test_a_text_is_found_in_every_form_that_sources_give_it(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text(
        '"""No text of this documentation."""\n'
        "def why(price: int) -> str:\n"
        '    """Nor of this."""\n'
        '    log.warning("a line of a log")\n'
        '    rows = fetch("SELECT price FROM orders")\n'
        '    if price < 0: return "price must be positive"\n'
        '    raise HttpError(400, f"price {price} is above {limit:,}")\n'
        '    return {400: "the documentation of a response", "missing": "must be at most {max_length} long"}\n'
    )
    assert [text.pattern for text in texts_of(source, "source.py")] == [
        "price must be positive",
        "price {} is above {}",
        "must be at most {} long",
    ]
