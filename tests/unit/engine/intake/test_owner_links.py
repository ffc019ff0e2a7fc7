"""Links of users become changes of owners, one step each."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openspot.domain.owners import LINKS_MAX, Owners
from openspot.domain.result_code import ResultCode
from openspot.engine.core.protocol import OwnerLink
from openspot.engine.intake.owner_links import OwnerChange, checked_owners, owner_changes
from openspot.engine.intake.refusal import IntakeRefusal


class Link(NamedTuple):
    """A link as a caller sends it."""

    first_participant_id: str
    second_participant_id: str


NUMBERS = {
    "house:fees": 1,
    "zoe": 2,
    "adam": 3,
    "bea": 4,
    "margin:bea": 4 << 32 | 5,
    "old": 6,
    "margin:old": 7,
    "margin:old:2": 8,
}


STRAYS = {"old": ["margin:old", "margin:old:2"], "new": ["margin:new"]}
"""The directory names new's margin account, but the core has not heard of it."""
OWN = (OwnerLink(7, 6), OwnerLink(8, 6))
"""The links that stray margin accounts have to their own user."""


def changes(links: list[tuple[str, str]], *present: OwnerLink) -> set[OwnerChange]:
    found = owner_changes(Owners(links), lambda name: NUMBERS.get(name, 0), STRAYS, present)
    assert len(found) == len(set(found))
    return set(found)


def test_a_chain_becomes_links_to_the_account_that_was_created_first() -> None:
    # By name adam would come first.
    assert changes([("adam", "bea"), ("bea", "zoe")], *OWN) == {OwnerChange(3, 2), OwnerChange(4, 2)}


def test_a_cycle_of_links_is_one_owner() -> None:
    links = [("adam", "bea"), ("bea", "zoe"), ("zoe", "adam")]
    assert changes(links, *OWN) == {OwnerChange(3, 2), OwnerChange(4, 2)}


def test_nothing_changes_if_the_core_has_the_links() -> None:
    assert changes([("adam", "zoe")], OwnerLink(3, 2), *OWN) == set()


def test_a_link_that_is_missing_ends_and_another_owner_replaces_the_present_one() -> None:
    present = (OwnerLink(3, 2), OwnerLink(4, 2), OwnerLink(6, 2), *OWN)
    assert changes([("adam", "bea")], *present) == {OwnerChange(3, 0), OwnerChange(6, 0), OwnerChange(4, 3)}


def test_a_user_whom_the_core_does_not_know_joins_the_others_and_has_no_account_to_change() -> None:
    assert changes([("adam", "new"), ("new", "bea")], *OWN) == {OwnerChange(4, 3)}
    assert changes([("new", "newer")], *OWN) == changes([("adam", "new")], *OWN) == set()


def test_a_stray_margin_account_belongs_to_its_user_and_to_whom_that_one_is_linked() -> None:
    assert changes([]) == {OwnerChange(7, 6), OwnerChange(8, 6)}
    assert changes([("old", "zoe")], *OWN) == {OwnerChange(6, 2), OwnerChange(7, 2), OwnerChange(8, 2)}
    # The number of another one names its spot account, whose link it follows.
    assert changes([("bea", "zoe")], *OWN) == {OwnerChange(4, 2)}


def test_a_margin_account_that_was_there_before_its_user_has_the_same_owner() -> None:
    numbers = {"margin:carl": 3, "carl": 4, "dora": 2}

    def found(*links: tuple[str, str]) -> list[OwnerChange]:
        return owner_changes(Owners(links), lambda name: numbers.get(name, 0), {"carl": ["margin:carl"]}, ())

    assert found() == [OwnerChange(4, 3)]
    assert found(("carl", "dora")) == [OwnerChange(3, 2), OwnerChange(4, 2)]


_USERS = st.sampled_from(["zoe", "adam", "bea", "old", "new"])


@given(st.lists(st.tuples(_USERS, _USERS)), st.lists(st.tuples(_USERS, _USERS)))
def test_from_any_links_to_any_others_in_one_comparison(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    state: dict[int, int] = {}
    for links in (before, after):
        for account, owner in changes(links, *(OwnerLink(*pair) for pair in state.items())):
            if owner:
                state[account] = owner
            else:
                del state[account]
        assert changes(links, *(OwnerLink(*pair) for pair in state.items())) == set()
        assert {state.get(NUMBERS[name]) for name in STRAYS["old"]} == {state.get(NUMBERS["old"], NUMBERS["old"])}
        owners = Owners(links)
        for one in NUMBERS:
            for other in NUMBERS:
                if ":" not in one + other:
                    same = state.get(NUMBERS[one], NUMBERS[one]) == state.get(NUMBERS[other], NUMBERS[other])
                    assert same == (owners.of_user(one) == owners.of_user(other))


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (Link("", "adam"), r"links\[0\].first_participant_id: must be the id of a user"),
        (Link("adam", "a b"), r"links\[0\].second_participant_id: must be the id of a user"),
        (Link("adam", "b" * 65), r"links\[0\].second_participant_id: must be the id of a user"),
        (Link("house:fees", "adam"), r"links\[0\].first_participant_id: must be the id of a user"),
        (Link("adam", "margin:bea"), r"links\[0\].second_participant_id: must be the id of a user"),
        (Link("adam", "adam"), r"links\[0\].second_participant_id: must be another user than first_participant_id"),
    ],
)
def test_a_link_that_is_refused_says_where_and_why(link: Link, message: str) -> None:
    with pytest.raises(IntakeRefusal, match=message) as refused:
        checked_owners([link])
    assert refused.value.code is ResultCode.AUTH_INVALID_USER
    with pytest.raises(IntakeRefusal, match=message.replace("0", "1")):
        checked_owners([Link("adam", "bea"), link])


def test_a_list_of_links_is_bounded() -> None:
    links = [Link("adam", f"u{number}") for number in range(LINKS_MAX)]
    assert checked_owners(links) == Owners(links)
    with pytest.raises(IntakeRefusal, match=f"links: must be at most {LINKS_MAX}"):
        checked_owners([*links, Link("adam", "bea")])
