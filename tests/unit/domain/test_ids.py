"""Identifiers."""

import os

import pytest

from openspot.domain.ids import ORDER_ID_TEXT, PARTICIPANT_ID_TEXT, short_id, trade_id


@pytest.mark.spec("A2.1-01")
def test_an_order_id_is_a_short_random_text() -> None:
    ids = {short_id(os.urandom(16)) for _ in range(1000)}
    assert len(ids) == 1000
    assert all(ORDER_ID_TEXT.fullmatch(order_id) for order_id in ids)


def test_too_little_randomness_is_refused() -> None:
    with pytest.raises(ValueError, match="16 random bytes"):
        short_id(b"123")


@pytest.mark.spec("A2.3-03")
def test_a_trade_id_depends_on_journal_and_sequence_alone() -> None:
    assert trade_id("k3", 17) == trade_id("k3", 17) == "k3-17"
    assert len({trade_id("k3", 17), trade_id("k3", 18), trade_id("k4", 17)}) == 3


@pytest.mark.parametrize("text", ["", "a.b", "a b", "a*", "a>", "x" * 65, "ü"])
def test_what_is_no_bus_token_is_no_participant_id(text: str) -> None:
    assert not PARTICIPANT_ID_TEXT.fullmatch(text)
