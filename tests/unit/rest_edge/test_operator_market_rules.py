"""Which changes of a market need the permission of fees, or that of limits, beside the route's own."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock

import pytest

from openspot.engine_client.listing_schemas import TermsChange
from openspot.http.errors import HttpError
from openspot.http.operators import Operator
from openspot.http.policy import Permission
from openspot.rest_edge.operators.markets import routes
from openspot.rest_edge.operators.markets.rules import needed_beside

PAYMENTS = {"minimum": "5", "maximum": "1000", "feeBps": 0, "feeFixed": "0"}
STAKING = {"apr": "0", "minimum": "1", "maximum": "100", "capacity": "1000"}
PATH = "/operator/markets/{symbol}"
FEES, LIMITS = Permission.FEES_CONFIGURE, Permission.RISK_SET_LIMITS


def change(**fields: Any) -> TermsChange:
    return TermsChange.model_validate(fields | {"reason": "as decided"})


@pytest.mark.parametrize("fields", [{"takerFee": 0}, {"makerFee": 0}, {"payments": PAYMENTS}, {"staking": STAKING}])
def test_whoever_changes_what_users_pay_or_are_paid_needs_the_permission_of_fees(fields: dict[str, Any]) -> None:
    assert needed_beside(change(**fields)) == [FEES]


@pytest.mark.parametrize(
    "fields",
    [
        {"quantityMin": "1"}, {"quantityMax": "9"}, {"notionalMin": "1"}, {"notionalMax": "9"},
        {"deviationBpsMax": 0}, {"slippageBpsMax": 0},
    ],
)  # fmt: skip
def test_whoever_changes_limits_of_orders_needs_the_permission_of_limits(fields: dict[str, Any]) -> None:
    assert needed_beside(change(**fields)) == [LIMITS]
    assert needed_beside(change(takerFee=1, **fields)) == [FEES, LIMITS]


def test_other_changes_and_taking_offers_back_need_neither() -> None:
    assert needed_beside(change(offers=[], name="Dogecoin", announcement="soon", schedule=[])) == []


@pytest.mark.parametrize(("missing", "fields"), [(FEES, {"takerFee": 1}), (LIMITS, {"notionalMax": "9"})])
async def test_a_change_without_the_permission_is_refused_and_reaches_no_engine(
    monkeypatch: pytest.MonkeyPatch, missing: Permission, fields: dict[str, Any]
) -> None:
    markets: Any = SimpleNamespace(change=AsyncMock(return_value={}))
    router = routes.operator_market_routes("", markets)
    changing = next(route for route in router.routes if (route.method, route.path) == ("PATCH", PATH))
    assert changing.documented is not None
    endpoint: Any = changing.documented.endpoint
    permissions = {Permission.SYMBOLS_UPDATE, FEES, LIMITS}

    async def asked(held: set[Permission]) -> None:
        monkeypatch.setattr(routes, "operator", lambda _: Operator("user:ada", frozenset(), frozenset(held)))
        await endpoint(None, "BTC-USD", change(**fields))

    with pytest.raises(HttpError, match=str(missing)) as refused:
        await asked(permissions - {missing})
    assert (refused.value.status_code, refused.value.code) == (403, "PERMISSION_MISSING")
    markets.change.assert_not_awaited()
    await asked(permissions)
    markets.change.assert_awaited_once()
