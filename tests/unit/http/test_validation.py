"""Dates, times and bodies of requests, and the message for each fault in them."""

from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal, Self

import pytest
from pydantic import ValidationError, model_validator

from openspot.http.validation import (
    Body,
    Day,
    IsoUtcDatetime,
    LowerCase,
    PrintableText,
    UtcDatetime,
    WholeNumber,
    example,
    messages_of,
    rule_broken,
)


class Born(Body):
    day: Day


class Event(Body):
    at: IsoUtcDatetime


@pytest.mark.parametrize(
    "value",
    [0, 631_152_000, 631_152_000_000, -1, 1.5, True, None, [], "0", "631152000", "", "1990", "1990-12", "19901210",
     "1990-W50-1", "1990-13-01", "1990-02-30", "1990-12-10T00:00:00Z", " 1990-12-10", "1990-12-10\n", "١٩٩٠-١٢-١٠",
     "0000-01-01", "10000-01-01"],
)  # fmt: skip
def test_a_date_is_a_year_a_month_and_a_day(value: Any) -> None:
    with pytest.raises(ValidationError, match="must be a date such as 1990-12-10"):
        Born.model_validate({"day": value})


def test_a_date_is_read() -> None:
    assert Born.model_validate({"day": "2024-02-29"}).day == date(2024, 2, 29)


@pytest.mark.parametrize(
    "value",
    [0, 1_767_323_045, 1_767_323_045_678, 1.5, True, None, "0", "1767323045678", "2026-01-02", "2026-01-02T03:04:05",
     "1969-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "soon", ""],
)  # fmt: skip
def test_an_instant_says_its_offset(value: Any) -> None:
    with pytest.raises(ValidationError, match=r"must be ISO 8601 with an offset \["):
        Event.model_validate({"at": value})


def test_an_instant_is_read_as_utc() -> None:
    read = Event.model_validate({"at": "2026-01-02T05:04:05.678+02:00"}).at
    assert (read, read.tzinfo) == (datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC), UTC)


class Moment(Body):
    at: UtcDatetime


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("2026-01-02T05:04:05.678+02:00", datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)),
        # The plus sign of a query that was not percent-encoded.
        ("2026-01-02T05:04:05.678 02:00", datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)),
        ("1970-01-01T00:00:00Z", datetime(1970, 1, 1, tzinfo=UTC)),
        ("0", datetime(1970, 1, 1, tzinfo=UTC)),
        ("1767323045678", datetime(2026, 1, 2, 3, 4, 5, 678_000, UTC)),
        ("253402300799999", datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC)),
    ],
)
def test_a_time_is_read_as_utc_from_either_form(given: str, read: datetime) -> None:
    found = Moment.model_validate({"at": given}).at
    assert (found, found.tzinfo) == (read, UTC)


def refusal_of(kind: type[Body], given: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as refused:
        kind.model_validate(given)
    return [(error["type"], error["msg"]) for error in refused.value.errors()]


def test_what_is_no_date_or_time_is_refused_with_its_kind_and_reason() -> None:
    assert refusal_of(Moment, {"at": 5}) == [("utc_datetime", "must be a text")]
    for text in ("253402300800000", "1e12", "2026-01-02", "1969-12-31T23:59:59.999Z", "٣", "soon"):
        assert refusal_of(Moment, {"at": text}) == [
            ("utc_datetime", "must be ISO 8601 with an offset, or milliseconds since 1970")
        ]
    assert refusal_of(Event, {"at": "0"}) == [("iso_utc_datetime", "must be ISO 8601 with an offset")]
    assert refusal_of(Born, {"day": "soon"}) == [("day", "must be a date such as 1990-12-10")]


def test_the_bounds_of_a_time_are_read_and_what_lies_beyond_is_not() -> None:
    assert Event.model_validate({"at": "1970-01-01T00:00:00Z"}).at == datetime(1970, 1, 1, tzinfo=UTC)
    assert refusal_of(Event, {"at": "9999-12-31T23:59:59-01:00"}) == [
        ("iso_utc_datetime", "must be ISO 8601 with an offset")
    ]


class Inner(Body):
    count: WholeNumber


class Order(Body):
    model_config = example({"side": "buy"})

    side: Annotated[Literal["buy", "sell"], LowerCase]
    name: Annotated[str, PrintableText] = "a"
    inner: Inner | None = None

    @model_validator(mode="after")
    def _has_a_short_name(self) -> Self:
        if len(self.name) > 3:
            raise rule_broken("name must be short for {side}")
        return self


def test_a_body_is_read_in_any_letter_case_where_the_field_says_so_and_shows_its_example() -> None:
    assert Order.model_validate({"side": "BuY"}).side == "buy"
    schema = Order.model_json_schema()
    assert (schema["examples"], schema["additionalProperties"]) == ([{"side": "buy"}], False)


@pytest.mark.parametrize(
    ("given", "messages"),
    [
        ({}, ["side is required"]),
        ({"side": 5}, ["side must be one of 'buy' or 'sell'"]),
        ({"side": "buy", "size": 1, "Side": 2}, ["property size should not exist", "property Side should not exist"]),
        ({"side": "buy", "inner": {"count": "x"}}, ["inner.count must be a whole number"]),
        ({"side": "buy", "inner": {"other": 1, "count": 1}}, ["property inner.other should not exist"]),
        ({"side": "buy", "name": "é"}, ["name has characters that are not allowed"]),
        # A rule between fields names them itself, and its braces stay.
        ({"side": "buy", "name": "long"}, ["name must be short for {side}"]),
    ],
)
def test_each_fault_of_a_body_is_one_message(given: dict[str, Any], messages: list[str]) -> None:
    with pytest.raises(ValidationError) as refused:
        Order.model_validate(given)
    assert messages_of(refused.value.errors()) == messages


@pytest.mark.parametrize(
    ("place", "message"),
    [
        (("body", "side"), "side is required"),
        (("query", "limit"), "limit is required"),
        (("path", "body"), "body is required"),
        # A field may itself have the name of a place.
        (("body",), "body is required"),
        (("body", "body"), "body is required"),
        (("query",), "query is required"),
        (("side", "query"), "side.query is required"),
        (("body", "legs", 0, "side"), "legs.0.side is required"),
        ((), "body is required"),
    ],
)
def test_a_message_names_the_field_without_its_place(place: tuple[str | int, ...], message: str) -> None:
    assert messages_of([{"type": "missing", "loc": place, "msg": "m"}]) == [message]


@pytest.mark.parametrize(
    ("kind", "context", "message"),
    [
        ("string_type", {}, "a must be a text"),
        ("string_too_long", {"max_length": 5}, "a must be at most 5 characters long"),
        ("string_too_short", {"min_length": 5}, "a must be at least 5 characters long"),
        ("enum", {"expected": "'x' or 'y'"}, "a must be one of 'x' or 'y'"),
        ("int_parsing_size", {}, "a is too large"),
        ("too_long", {"max_length": 5}, "a must have at most 5 entries"),
        ("too_short", {"min_length": 5}, "a must have at least 5 entries"),
        ("greater_than", {"gt": 0.5}, "a must be greater than 0.5"),
        ("greater_than_equal", {"ge": 1.0}, "a must be at least 1"),
        ("less_than", {"lt": 7}, "a must be less than 7"),
        ("less_than_equal", {"le": 7}, "a must be at most 7"),
        ("something_new", {}, "a what the library says"),
    ],
)
def test_a_message_has_the_bound_that_was_broken(kind: str, context: dict[str, Any], message: str) -> None:
    error = {"type": kind, "loc": ("body", "a"), "msg": "what the library says"} | ({"ctx": context} if context else {})
    assert messages_of([error]) == [message]
