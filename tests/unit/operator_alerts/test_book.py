"""An alert is told once when it begins, again while it lasts, at once when it grows, and when it is over."""

import pytest

from openspot.http.operator_alerts import AlertKind
from openspot.operator_alerts.book import (
    ALONE_MAX,
    ALONE_WINDOW_S,
    GATHER_S,
    GREW,
    OVER,
    QUIET_S,
    RAISED,
    REPEATED,
    TEXT_LENGTH_MAX,
    TOLD_MAX,
    AlertBook,
    AlertMessage,
)
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
        return [message.event for message in self.messages(now, *subjects)]

    def messages(self, now: float, *subjects: str) -> list[AlertMessage]:
        """As `at`, the messages."""
        finding = Finding(", ".join(subjects), frozenset(subjects)) if subjects else None
        return self.book.take({self.kind: finding}, now)


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


def test_a_few_growths_are_told_by_themselves_and_the_others_together() -> None:
    told, names = Told(), [f"market {number:03}" for number in range(150)]
    seen = [(now, each) for now in range(100) for each in told.messages(10.0 * now, *names[: now + 1])]
    assert [(now, each.event) for now, each in seen] == [
        (0, RAISED), *((number, GREW) for number in range(1, ALONE_MAX + 1)), (63, GREW),
    ]  # fmt: skip
    last = seen[-1][1]
    assert last.at == 1000 * (10 * ALONE_MAX + GATHER_S)
    assert last.text.startswith("60 more: market 004, market 005, ") and " and 50 others. In all 64 now: " in last.text
    assert len(last.text) <= TEXT_LENGTH_MAX


def test_what_was_gone_before_it_was_told_is_told_with_the_others() -> None:
    told = Told()
    for number in range(ALONE_MAX + 1):
        assert told.at(number, *"abcd"[: number + 1]) == [GREW if number else RAISED]
    assert told.at(10, "a", "x") == told.at(20, "a", "y") == told.at(30, "a") == []
    [message] = told.messages(ALONE_MAX + GATHER_S, "a")
    assert (message.event, message.text) == (GREW, "2 more: x, y. In all 1 now: a")
    assert told.at(ALONE_MAX + GATHER_S + 1, "a", "x", "y") == [], "they are told"


def test_growth_is_told_by_itself_again_after_an_hour() -> None:
    told = Told()
    for number in range(ALONE_MAX + 1):
        told.at(number, *"abcd"[: number + 1])
    later = ALONE_WINDOW_S + ALONE_MAX
    for now in range(600, int(later), 600):
        told.at(now, "a")
    assert told.at(later + 1, "a", "x") == [GREW]


def test_so_many_come_and_go_that_only_a_bound_of_them_is_kept() -> None:
    told, names = Told(), [str(number) for number in range(ALONE_MAX)]
    for number in range(ALONE_MAX + 1):
        told.at(number, "a", *names[:number])
    for now in range(10, 500, 10):
        assert told.at(now, "a", *(f"{now} {number}" for number in range(20))) == []
    assert len(told.book.states[KIND].waiting) == TOLD_MAX
    [message] = told.messages(ALONE_MAX + GATHER_S, "a")
    assert message.text.startswith("at least 200 more: ")


def test_what_comes_and_goes_is_told_a_few_times_and_then_as_one_alert() -> None:
    told, seen = Told(), []
    for now in range(0, 3600, 10):
        # Wrong for a minute, sound for two.
        seen += told.at(now, *(["a"] if now % 180 < 60 else []))
    assert [seen.count(event) for event in (RAISED, OVER)] == [ALONE_MAX + 1, ALONE_MAX], seen
    assert told.at(3600) == []
    assert told.at(3600 + GATHER_S) == [OVER]


def test_the_end_says_of_how_many_it_is() -> None:
    told = Told()
    told.at(0, "a", "b", "c")
    told.at(10, "a")
    told.at(20)
    [message] = told.messages(20 + QUIET_S)
    assert (message.event, message.text) == (OVER, "it concerned 3 in all; at last: a")
