"""The rules of what operators do for people: two persons, adjustments, files, searches, balances side by side."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from openspot.domain.fair_price.crossing import AssetPrice
from openspot.domain.fair_price.model import PriceState
from openspot.domain.ids import ADJUSTMENTS_ACCOUNT_ID
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_transfers.model import Transfer
from openspot.http.errors import HttpError
from openspot.rest_edge.operators.adjustments.rules import Category
from openspot.rest_edge.operators.adjustments.service import ADJUSTMENT
from openspot.rest_edge.operators.adjustments.store import Adjustment
from openspot.rest_edge.operators.lists.listings import WITHDRAWALS, ListFilter, ListPosition
from openspot.rest_edge.operators.moves.model import Move
from openspot.rest_edge.operators.moves.rules import counted_price, needs_second_person, value_in_cents
from openspot.rest_edge.operators.pending.rules import (
    ActionKind,
    OperatorRequest,
    RequestStatus,
    person_of,
    require_decidable,
    require_other_person,
)
from openspot.rest_edge.operators.users.accounts import merged
from openspot.rest_edge.operators.users.balances import Held, SideBySide, side_by_side
from openspot.rest_edge.operators.users.search import engine_number, prefix_bounds, spellings

NOW = datetime(2026, 1, 2, tzinfo=UTC)
NOBODY: frozenset[str] = frozenset()
REQUEST = OperatorRequest(
    "r1", ActionKind.SECOND_FACTOR_RESET, "Eve", {}, "lost phone", "user:Ada", NOW, NOW + timedelta(hours=1)
)


def refused(request: OperatorRequest, operator: str, linked: frozenset[str] = NOBODY, now: datetime = NOW) -> str:
    with pytest.raises(HttpError) as caught:
        require_decidable(request, operator, linked, now)
    return f"{caught.value.status_code} {caught.value.code}"


def test_a_user_and_the_participant_of_the_same_id_are_one_person() -> None:
    assert person_of("user:Xr7mGk2p") == person_of("engine:XR7MGK2P") == "xr7mgk2p"
    assert person_of("engine:house:x") == "house:x"


def test_another_person_decides_until_the_request_expires() -> None:
    last = REQUEST.expires_at - timedelta(microseconds=1)
    require_decidable(REQUEST, "user:Bob", NOBODY, last)
    assert refused(REQUEST, "user:Bob", now=REQUEST.expires_at) == "409 REQUEST_EXPIRED"


@pytest.mark.parametrize("operator", ["user:Ada", "engine:Ada", "engine:ADA"])
def test_whoever_asked_does_not_decide_under_any_name(operator: str) -> None:
    assert refused(REQUEST, operator) == "403 SAME_PERSON"


def test_an_account_that_is_linked_with_the_one_who_asked_does_not_decide() -> None:
    assert refused(REQUEST, "user:Bob", frozenset({"ada", "bob"})) == "403 SAME_PERSON"


def test_nobody_decides_about_an_account_of_their_own_or_of_their_owner() -> None:
    assert refused(REQUEST, "engine:eve") == "403 OWN_ACCOUNT"
    assert refused(REQUEST, "user:Bob", frozenset({"bob", "eve"})) == "403 OWN_ACCOUNT"
    require_other_person("user:Bob", "Eve")


@pytest.mark.parametrize("status", [RequestStatus.APPROVED, RequestStatus.REJECTED])
def test_what_is_decided_is_not_decided_again(status: RequestStatus) -> None:
    assert refused(replace(REQUEST, status=status), "user:Bob") == "409 REQUEST_DECIDED"


def price(dollars: int, *, median: int = 0, state: PriceState = PriceState.GOOD) -> AssetPrice:
    units = dollars * AMOUNT_SCALE
    return AssetPrice(units, units, units, median * AMOUNT_SCALE, state)


def test_an_adjustment_of_either_sign_counts_at_the_higher_of_price_and_median_rounded_up() -> None:
    assert value_in_cents(Decimal("0.00001"), price(50_001)) == 51
    assert value_in_cents(Decimal("-2"), price(3, median=5)) == 1000
    assert value_in_cents(Decimal(1), price(5, median=3)) == 500


def test_an_adjustment_without_a_usable_price_has_no_value() -> None:
    assert value_in_cents(Decimal(1), None) is None
    assert value_in_cents(Decimal(1), price(5, state=PriceState.STALE)) is None


def test_the_price_of_a_listed_coin_counts_only_if_somebody_outside_of_its_book_confirms_it() -> None:
    made_in_its_book, confirmed = price(1), replace(price(1), is_confirmed=True)
    assert counted_price({"NEW": made_in_its_book}, "NEW") is None
    assert counted_price({"NEW": confirmed}, "NEW") is confirmed
    assert counted_price({"BTC": made_in_its_book}, "BTC") is made_in_its_book
    assert counted_price({}, "BTC") is None


def test_the_bound_counts_what_the_operator_adjusted_alone_that_day() -> None:
    assert not needs_second_person(100, 900, 1000)
    assert needs_second_person(101, 900, 1000)
    assert needs_second_person(1, 0, 0)
    assert needs_second_person(None, 0, 10**9)


@pytest.mark.parametrize(
    ("amount", "source", "destination"),
    [("25", ADJUSTMENTS_ACCOUNT_ID, "eve"), ("-25", "eve", ADJUSTMENTS_ACCOUNT_ID)],
)
def test_an_adjustment_moves_between_the_house_and_the_user(amount: str, source: str, destination: str) -> None:
    adjustment = Move(
        move_id="a1", what=Adjustment("eve", Category.GOODWILL), asset="USD", amount=Decimal(amount), reason="late",
        value_cents=2500, requested_by="user:ada", approved_by=None, created_at=NOW,
    )  # fmt: skip
    moved = (Movement(source, destination, "USD", Decimal(25)),)
    assert ADJUSTMENT.transfer_of(adjustment) == Transfer("adjustment:a1", TransferKind.ADJUSTMENT, "a1", moved)


def test_what_begins_with_a_text_lies_between_its_bounds() -> None:
    low, high = prefix_bounds("ada@")
    assert low <= "ada@example.org" < high
    assert not low <= "adb" < high
    assert prefix_bounds("a\ud7ff") == ("a\ud7ff", "a\ue000")
    assert prefix_bounds("\U0010ffff") == ("\U0010ffff", "\U0010ffff")


def test_an_address_is_found_however_it_was_typed() -> None:
    assert spellings("0xAB") == sorted({"0xAB", "0xab", "0x0xab"})
    assert "0xab" in spellings("AB")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1), ("9223372036854775807", 2**63 - 1), ("9223372036854775808", None), ("0", None), ("-1", None),
        ("1.0", None), (" 1", None), ("٩", None), ("²", None), ("", None),
    ],
)  # fmt: skip
def test_a_number_of_the_engine_is_one_that_the_column_holds(text: str, number: int | None) -> None:
    assert engine_number(text) == number


def test_balances_stand_side_by_side_with_their_difference() -> None:
    engine, ledger = [Held("BTC", "1", "0.5"), Held("USD", "3", "3")], [Held("BTC", "1.25", "0.5")]
    assert side_by_side("u1", engine, ledger) == [
        SideBySide("u1", "BTC", "1", "0.5", "1.25", "0.5", "0.25"),
        SideBySide("u1", "USD", "3", "3", "0", "0", "-3"),
    ]


def test_a_side_that_did_not_respond_is_not_zero() -> None:
    held = [Held("BTC", "1", "1")]
    assert side_by_side("u1", None, held) == [SideBySide("u1", "BTC", None, None, "1", "1", None)]
    assert side_by_side("margin:u1", held, None) == [SideBySide("margin:u1", "BTC", "1", "1", None, None, None)]


def test_pages_of_accounts_are_one_page_that_goes_on_where_the_first_of_them_ends() -> None:
    def place(row: tuple[int]) -> tuple[int]:
        return row

    assert merged([([(9,), (4,)], None), ([(7,), (5,)], None)], 4, place) == ([(9,), (7,), (5,), (4,)], None)
    assert merged([([(9,), (4,)], None), ([(7,), (5,)], None)], 3, place) == ([(9,), (7,), (5,)], (5,))
    # The second account has rows behind 5 that nobody has read: 4 may not come before them.
    assert merged([([(9,), (4,)], None), ([(7,), (5,)], (5,))], 4, place) == ([(9,), (7,), (5,)], (5,))
    assert merged([([(9,), (8,)], (8,)), ([(7,), (5,)], (5,))], 2, place) == ([(9,), (8,)], (8,))
    assert merged([([], None), ([], None)], 2, place) == ([], None)
    # Sorted by the database in another way, the row behind the end of its page is not lost.
    assert merged([([(9,), (4,), (5,)], (5,)), ([], None)], 3, place) == ([(9,), (5,), (4,)], (5,))


def test_the_filters_of_a_list_are_parameters_and_a_state_is_one_of_its_own() -> None:
    text, values = WITHDRAWALS.query(
        ListFilter("u'1", "BTC", "open", NOW, NOW + timedelta(days=1)), ListPosition(NOW, "w"), 10
    )
    assert values == ["u'1", "BTC", NOW, NOW + timedelta(days=1), NOW, "w", 10]
    assert "u'1" not in text and text.endswith("ORDER BY created_at DESC, withdrawal_id DESC LIMIT $7")
    with pytest.raises(KeyError):
        WITHDRAWALS.query(ListFilter(state="nothing"), None, 10)
