"""The HTTP routes of the engine are these, and no others."""

import pytest

from tests.support.http_routes import all_routes


@pytest.mark.spec("B4.4-17")
def test_the_engine_has_exactly_these_routes_and_none_for_the_history_of_trades() -> None:
    assert sorted((route.method, route.path) for service, route in all_routes() if service == "engine") == [
        ("DELETE", "/api/v1/admin/currencies/{currency}"),
        ("DELETE", "/api/v1/admin/participants/{participantId}/freeze"),
        ("DELETE", "/api/v1/admin/symbols/{symbol}"),
        ("GET", "/api/v1/admin/actions"),
        ("GET", "/api/v1/admin/balances"),
        ("GET", "/api/v1/admin/balances/pages"),
        ("GET", "/api/v1/admin/currencies"),
        ("GET", "/api/v1/admin/currencies/{currency}"),
        ("GET", "/api/v1/admin/listings"),
        ("GET", "/api/v1/admin/listings/{symbol}"),
        ("GET", "/api/v1/admin/listings/{symbol}/changes"),
        ("GET", "/api/v1/admin/participants"),
        ("GET", "/api/v1/admin/participants/{participantId}"),
        ("GET", "/api/v1/admin/risk-metrics"),
        ("GET", "/api/v1/admin/risk-metrics/pages"),
        ("GET", "/api/v1/admin/symbols"),
        ("GET", "/api/v1/admin/symbols/{symbol}"),
        ("GET", "/api/v1/admin/symbols/{symbol}/open-orders"),
        ("GET", "/api/v1/balances"),
        ("GET", "/api/v1/listings"),
        ("GET", "/api/v1/marketdata/orderbook/{symbol}"),
        ("GET", "/api/v1/markets"),
        ("PATCH", "/api/v1/admin/currencies/{currency}"),
        ("PATCH", "/api/v1/admin/listings/{symbol}"),
        ("PATCH", "/api/v1/admin/symbols/{symbol}"),
        ("POST", "/api/v1/accounts/deposit"),
        ("POST", "/api/v1/admin/currencies"),
        ("POST", "/api/v1/admin/listings"),
        ("POST", "/api/v1/admin/listings/checks"),
        ("POST", "/api/v1/admin/symbols"),
        ("POST", "/api/v1/admin/symbols/{symbol}/cancellations"),
        ("POST", "/exchange.v1.AdminService/{method}"),
        ("PUT", "/api/v1/admin/currencies/{currency}"),
        ("PUT", "/api/v1/admin/listings/{symbol}/status"),
        ("PUT", "/api/v1/admin/participants/{participantId}/freeze"),
        ("PUT", "/api/v1/admin/symbols/{symbol}"),
        ("PUT", "/api/v1/admin/symbols/{symbol}/phase"),
    ]
