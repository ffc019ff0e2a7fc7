"""What the commands for listings read from their options."""

import pytest

from openspot.engine_client.listing_operator import ListingOperatorError, terms_of


def test_terms_are_fields_with_values() -> None:
    assert terms_of("staking", "apr=0.04, lockDays=30,earlyRedemption=not_allowed") == {
        "apr": "0.04", "lockDays": "30", "earlyRedemption": "not_allowed",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["apr", "apr=", "=0.04", "apr=0.04,", "apr=0.04,apr=0.05", ","])
def test_terms_that_are_none_are_refused_with_the_option_and_the_form(text: str) -> None:
    with pytest.raises(ListingOperatorError, match="--staking must be FIELD=VALUE,FIELD=VALUE with each field once"):
        terms_of("staking", text)
