"""An alert is told once when it begins, again while it lasts, at once when it grows, and when it is over."""

import pytest

from openspot.http.operator_alerts import AlertKind
from openspot.operator_alerts.book import GREW, OVER, QUIET_S, RAISED, REPEATED, AlertBook
from openspot.operator_alerts.kinds import ABOUT
from openspot.operator_alerts.rules import Finding

KIND = AlertKind.BOOKS_DIFFER
REPEAT_S = 600.0


class Told:
    """An alert over time: what is told of it."""

    def __init__(self, kind: AlertKind = KIND) -> None:
        self.kind = kind
        self.book = AlertBook({}, REPEAT_S)

    def at(self, now: float, *subjects: str) -> list[str]:
        """The events that are told when these subjects are wrong; none if none are."""
        finding = Finding(", ".join(subjects), frozenset(subjects)) if subjects else None
        return [message.event for message in self.book.take({self.kind: finding}, now)]


def test_it_is_told_once_and_repeated_after_the_interval() -> None:
    told = Told()
    assert told.at(0) == []
    assert told.at(10, "a") == [RAISED]
    assert told.at(20, "a") == told.at(609.9, "a") == []
    assert told.at(610, "a") == [REPEATED]
    assert told.at(1209, "a") == []


def test_something_more_is_told_at_once_and_only_once() -> None:
    told = Told()
    assert told.at(0, "a") == [RAISED]
    assert told.at(10, "a", "b") == [GREW]
    assert told.at(20, "a") == told.at(30, "a", "b") == []


def test_it_is_over_when_the_condition_was_gone_for_a_minute() -> None:
    told = Told()
    told.at(0, "a")
    assert told.at(10) == []
    assert told.at(20, "a") == [], "it flaps: one alert"
    assert told.at(30) == told.at(30 + QUIET_S - 1) == []
    assert told.at(30 + QUIET_S) == [OVER]
    assert told.at(31 + QUIET_S) == []
    assert told.at(32 + QUIET_S, "a") == [RAISED]


def test_a_condition_must_last_before_it_is_an_alert() -> None:
    told = Told(AlertKind.SERVICE_DOWN)
    lasts_s = ABOUT[AlertKind.SERVICE_DOWN].lasts_s
    assert told.at(0, "x") == told.at(lasts_s - 1, "x") == []
    assert told.at(lasts_s, "x") == [RAISED]
    told = Told(AlertKind.SERVICE_DOWN)
    assert told.at(0, "x") == told.at(30) == told.at(lasts_s, "x") == [], "it began anew"


def test_what_is_not_judged_stays_as_it_is() -> None:
    told = Told()
    told.at(0, "a")
    assert told.book.take({}, 10_000) == []
    assert told.book.states[KIND].raised_at == 0


def test_a_message_says_everything_and_has_an_id_of_its_own() -> None:
    book = AlertBook({}, REPEAT_S)
    [message] = book.take({KIND: Finding("two differences", frozenset({"2"}))}, 100)
    about = ABOUT[KIND]
    assert (message.id, message.event, message.text) == ("books_differ-raised-100000-100000", RAISED, "two differences")
    assert (message.severity, message.title, message.action) == (about.severity, about.title, about.action)
    assert (message.at, message.since) == (100_000, 100_000)


@pytest.mark.parametrize("count", [200, 5000])
def test_what_was_told_is_bounded(count: int) -> None:
    told = Told()
    assert told.at(0, *(str(number) for number in range(count))) == [RAISED]
    assert len(told.book.states[KIND].told) == 200
