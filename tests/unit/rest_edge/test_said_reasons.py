"""The reason within a notification is said in the words that the trading screen has for it."""

import json
import tomllib
from pathlib import Path

import pytest

from openspot.contracts.engine_events import UnarmedEvent
from openspot.contracts.messages import RiskCheckFailed
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.result_code import ResultCode
from openspot.rest_edge.languages.catalogue import CATALOGUES, PAGES, Language, translated
from openspot.rest_edge.languages.reasons import IN_CHECKOUT, IN_PACKAGE, LENGTH_MAX, Reasons, reasons_in
from openspot.rest_edge.notifications import templates
from openspot.router.translation.order_lists import unarmed_notification
from openspot.subscriptions.charging import refusal_text
from tests.support.refusal_scope import RESULTS_OF_NO_ORDER

ROOT = Path(__file__).resolve().parents[3]
WORDS = {language: json.loads((IN_CHECKOUT / f"{tag}.json").read_text("utf-8")) for language, tag in PAGES.items()}
CODES = sorted({code.name for code in ResultCode} - RESULTS_OF_NO_ORDER)


def refused(reason: str, language: Language = Language.GERMAN) -> str:
    """What a user reads of an order that was refused for a reason."""
    event = RiskCheckFailed("o1", "ada", "BTC-USD", "price_band", reason, 1)
    return translated(templates.order_refused(event).text, language)


def names_in(text: str) -> list[str]:
    return [part.partition("}")[0] for part in text.split("{")[1:]]


def told(reason: str) -> str:
    return f"Auftrag o1 wurde nicht aufgegeben: {reason}."


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("price is required for a limit order", "Preis: fehlt für einen Limit-Auftrag"),
        ("price 1.23 is not a multiple of the tick 0.5", "Preis: 1.23 ist kein Vielfaches der Schrittweite 0.5"),
        (
            "insufficient USD balance: the order needs 1200.5, 3 is available",
            "Nicht genug USD: Der Auftrag braucht 1200.5, verfügbar sind 3",
        ),
        (
            "price 2 deviates from the last trade price 1 by more than 50 bps on BTC-USD",
            "Der Preis 2 weicht auf BTC-USD um mehr als 50 Basispunkte vom Preis des letzten Trades (1) ab",
        ),
        (
            "price 2 deviates from the price of its entry's trigger 1 by more than 50 bps on BTC-USD",
            "Der Preis 2 weicht auf BTC-USD um mehr als 50 Basispunkte vom Preis des Auslösers des Einstiegs (1) ab",
        ),
        ("stopPrice must be positive", "Stop-Preis: muss größer als 0 sein"),
        ("orders.1.price must be positive", "Aufträge 1 Preis: muss größer als 0 sein"),
        ("order 2 of the list was refused: RISK_NSF", "Auftrag 2 der Liste wurde abgelehnt: Nicht genug Guthaben"),
        ("side must be one of buy, sell", "Seite: muss eines von diesen sein: Kauf, Verkauf"),
        ("watchlist price not found", "Die Watchlist price gibt es nicht"),
    ],
)
def test_a_refused_order_is_told_with_its_reason_in_the_users_language(reason: str, words: str) -> None:
    assert refused(reason) == told(words)
    assert refused(reason, Language.ENGLISH) == f"Order o1 was not placed: {reason}."


@pytest.mark.parametrize(
    "reason",
    [
        "the moon is full",
        "order 2 of the list was refused: the moon is full",
        "price is full of moons",
        "moon.price must be positive",
        "price must be positive; the moon is full",
    ],
)
def test_a_reason_without_words_stays_english_as_a_whole(reason: str) -> None:
    assert refused(reason) == told(reason)


def test_a_value_that_looks_like_a_name_is_shown_as_it_is() -> None:
    assert refused(r"watchlist {name} \1 not found") == told(r"Die Watchlist {name} \1 gibt es nicht")


def test_a_reason_that_is_too_long_is_not_looked_up() -> None:
    reasons = Reasons({"{name} fails": "{name} scheitert"})
    assert reasons.said("x" * (LENGTH_MAX - 6) + " fails") == "x" * (LENGTH_MAX - 6) + " scheitert"
    assert reasons.said("x" * (LENGTH_MAX - 5) + " fails") is None


def test_the_template_with_the_most_letters_is_the_one() -> None:
    reasons = Reasons({"{a} is {b}": "wrong", "{a} is above {b}": "{b} < {a}"})
    assert reasons.said("7 is above 5") == "5 < 7"


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_reason_that_the_trading_screen_has_words_for_is_said_in_them(language: Language) -> None:
    words = WORDS[language]

    def filled(text: str, own: dict[str, str]) -> str:
        for name in names_in(text):
            text = text.replace(f"{{{name}}}", own.get(name, f"v{name}"))
        return text

    given = {"reason": "RISK_NSF", "status": "open"}
    shown = {"reason": words["RISK_NSF"], "status": words["open"]}
    said = reasons_in(PAGES[language]).said
    assert [one for one, text in words.items() if said(filled(one, given)) != filled(text, shown)] == []


@pytest.mark.parametrize("language", CATALOGUES)
def test_every_code_with_which_the_engine_refuses_has_words_in_a_notification(language: Language) -> None:
    for code in CODES:
        unarmed = unarmed_notification("e", UnarmedEvent(9, 1, "BTC-USD", 3, "BRACKET", "ada", code, "1.5"), "list1")
        charge = refusal_text("USD", AMOUNT_SCALE, code)
        for text in (unarmed.text, f"{charge[0].upper()}{charge[1:]}."):
            assert translated(text, language) != text
            assert code not in translated(text, language)


def test_a_catalogue_calls_every_reason_a_reason() -> None:
    for catalogue in CATALOGUES.values():
        assert [english for english in catalogue if "{code}" in english] == ["Your anti-phishing code: {code}"]


def test_a_wheel_has_the_words_where_the_edge_looks_for_them() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    folder = IN_CHECKOUT.relative_to(ROOT).as_posix()
    assert folder in wheel["only-include"]
    assert ROOT / "src" / wheel["sources"][folder] == IN_PACKAGE
