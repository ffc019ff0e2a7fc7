"""Who is one owner."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import MonkeyPatch

from openspot.domain.owners import Owners


def test_a_user_without_a_link_is_an_owner() -> None:
    assert Owners().of_user("u") == "u"


def test_links_join_transitively_also_when_they_meet_late() -> None:
    owners = Owners([("a", "b"), ("d", "c"), ("e", "e"), ("d", "b")])
    assert [owners.of_user(user) for user in "abcdef"] == ["a", "a", "a", "a", "e", "f"]


def test_the_same_links_in_any_order_are_equal() -> None:
    assert Owners([("a", "b"), ("b", "c")]) == Owners([("c", "b"), ("b", "a")])
    assert Owners([("a", "b")]) != Owners()
    assert Owners([("a", "a")]) != Owners([("a", "b")])


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("abcdefgh"))))
def test_owners_are_the_groups_that_links_connect(links: list[tuple[str, str]]) -> None:
    groups = {user: {user} for user in "abcdefgh"}
    for one, other in links:
        joined = groups[one] | groups[other]
        for user in joined:
            groups[user] = joined
    owners = Owners(links)
    assert {user: owners.of_user(user) for user in "abcdefgh"} == {user: min(groups[user]) for user in "abcdefgh"}


def test_groups_are_the_users_of_each_owner_who_has_several() -> None:
    assert Owners([("b", "a"), ("d", "c"), ("c", "e")]).groups() == [["a", "b"], ["c", "d", "e"]]
    assert Owners([("e", "e")]).groups() == Owners().groups() == []


class CountedUser(str):
    """A user, of whom each look in a table is counted."""

    __slots__ = ()
    looks = 0

    def __hash__(self) -> int:
        CountedUser.looks += 1
        return super().__hash__()


@pytest.mark.parametrize("reverse", [False, True])
def test_a_long_chain_of_links_costs_about_as_much_as_other_links(reverse: bool, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(CountedUser, "looks", 0)
    users = [CountedUser(f"u{number:04}") for number in range(1_000)]
    owners = Owners(sorted(pairwise(users), reverse=reverse))
    # If each walked the whole chain, these would be 500,000.
    assert CountedUser.looks < 50_000
    assert {owners.of_user(user) for user in users} == {"u0000"}
