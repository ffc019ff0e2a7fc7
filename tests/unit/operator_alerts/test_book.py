"""An alert is told once when it begins, again while it lasts, at once when it grows, and when it is over."""

import pytest

from openspot.http.operator_alerts import AlertKind
from openspot.operator_alerts.book import GREW, OVER, QUIET_S, RAISED, REPEATED, TOLD_MAX, AlertBook
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


@pytest.mark.parametrize("count", [200, 201, 5000])
def test_what_was_told_is_bounded_and_not_new_at_the_next_look(count: int) -> None:
    told, subjects = Told(), [str(number) for number in range(count)]
    assert told.at(0, *subjects) == [RAISED]
    assert len(told.book.states[KIND].told) <= TOLD_MAX
    assert told.at(10, *subjects) == told.at(590, *subjects) == []
    assert told.at(600, *subjects) == [REPEATED]
    assert told.at(610, *subjects) == []


def test_of_very_many_subjects_only_their_doubling_is_told_at_once() -> None:
    told, subjects = Told(), [str(number) for number in range(1000)]
    assert told.at(0, *subjects[:250]) == [RAISED]
    assert told.at(10, *subjects[:499]) == []
    assert told.at(20, *subjects[:500]) == [GREW]
    assert told.at(30, *subjects[-500:]) == []


def test_a_number_about_the_bound_is_told_no_oftener_than_the_interval_asks() -> None:
    told, subjects = Told(), [str(number) for number in range(TOLD_MAX + 1)]
    seen = [event for now in range(0, 6000, 20) for event in told.at(now, *subjects) + told.at(now + 10, *subjects[2:])]
    assert seen[0] == RAISED
    assert len(seen) <= 1 + 2 * 6000 / REPEAT_S


def test_few_subjects_are_told_by_name_again_once_many_were_repeated_as_few() -> None:
    told, subjects = Told(), [str(number) for number in range(5000)]
    assert told.at(0, *subjects) == [RAISED]
    assert told.at(10, "a") == []
    assert told.at(600, "a") == [REPEATED]
    assert told.at(610, "a", "b") == [GREW]
    assert told.at(620, "a", "b") == []
