"""Which changes of a market need the permission of fees."""

from typing import Any

import pytest

from openspot.engine_client.listing_schemas import TermsChange
from openspot.rest_edge.operators.markets.rules import changes_money

PAYMENTS = {"minimum": "5", "maximum": "1000", "feeBps": 0, "feeFixed": "0"}
STAKING = {"apr": "0", "minimum": "1", "maximum": "100", "capacity": "1000"}


def changes(**fields: Any) -> bool:
    return changes_money(TermsChange.model_validate(fields | {"reason": "as decided"}))


@pytest.mark.parametrize("fields", [{"takerFee": 0}, {"makerFee": 0}, {"payments": PAYMENTS}, {"staking": STAKING}])
def test_whoever_changes_what_users_pay_or_are_paid_needs_the_permission_of_fees(fields: dict[str, Any]) -> None:
    assert changes(**fields)


def test_other_changes_and_taking_offers_back_do_not_need_it() -> None:
    assert not changes(offers=[], name="Dogecoin", quantityMin="1")
