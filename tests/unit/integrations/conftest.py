"""ccxt's classes with recorded answers instead of a platform."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "integrations/ccxt/src"))

MARKETS = [
    {
        "symbol": f"{base}-USD", "baseAsset": base, "quoteAsset": "USD", "active": True, "tickSize": "0.01",
        "lotSize": "0.0001", "takerFee": 20, "makerFee": 10, "quantityMin": "0.0001", "quantityMax": "100",
        "notionalMin": "1", "notionalMax": "1000000",
    }
    for base in ("BTC", "ETH")
]  # fmt: skip
NETWORKS = [
    {"asset": "BTC", "network": "bitcoin", "fee": "0.0001", "minimum": "0.001", "places": 8, "fiat": False},
    {"asset": "ETH", "network": "ethereum", "fee": "0.002", "minimum": "0.01", "places": 18, "fiat": False},
    {"asset": "USD", "network": "bank", "fee": "5", "minimum": "20", "places": 2, "fiat": True},
]


SPECIFICATION = {
    "rules": "specification", "orderTypes": ["limit", "market"], "timesInForce": ["gtc"], "triggerSources": [],
    "postOnly": False, "postOnlyModes": [], "quoteQuantitySides": ["buy"], "selfTradePreventionModes": [],
    "clientOrderIdsUnique": False, "clientOrderIdLengthMax": 64, "ordersPerBatchMax": 20, "fillsMax": 0,
}  # fmt: skip
COMPLETE = SPECIFICATION | {
    "rules": "complete", "timesInForce": ["gtc", "ioc", "fok", "gtd"], "triggerSources": ["last", "mark"],
    "orderTypes": [
        "limit", "market", "stop_limit", "stop_market", "take_profit_limit", "take_profit_market",
        "trailing_stop_limit", "trailing_stop_market",
    ],
    "postOnly": True, "postOnlyModes": ["refuse", "slide"], "quoteQuantitySides": ["buy", "sell"],
    "selfTradePreventionModes": [
        "none", "cancel_resting", "cancel_incoming", "cancel_both", "decrement_and_cancel",
    ],
    "clientOrderIdsUnique": True, "fillsMax": 100,
}  # fmt: skip
"""What `GET /settings/trading` says under either rules."""
READ_WITH_THE_MARKETS = ("/markets", "/fees/network/all", "/settings/trading")


class Recorded:
    """The platform's answers by request, and the requests that came: method, path below the prefix, body."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], tuple[int, Any]] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.answer("GET", "/markets", MARKETS)
        self.answer("GET", "/fees/network/all", NETWORKS)
        self.answer("GET", "/settings/trading", SPECIFICATION)

    def answer(self, method: str, target: str, body: Any, status: int = 200) -> None:
        """Answer this request with `body`."""
        self.answers[method, target] = (status, body)

    def refuse(self, method: str, target: str, status: int, code: str, message: str = "no") -> None:
        """Refuse this request as the platform does."""
        self.answer(method, target, {"statusCode": status, "code": code, "message": message}, status)

    def sent(self) -> list[tuple[str, str, Any]]:
        """What was asked beside markets, currencies and rules."""
        return [each for each in self.requests if each[1] not in READ_WITH_THE_MARKETS]


@pytest.fixture
def platform() -> Recorded:
    return Recorded()


@pytest.fixture
def complete(platform: Recorded) -> Recorded:
    """The platform with the complete rules of orders."""
    platform.answer("GET", "/settings/trading", COMPLETE)
    return platform


@pytest.fixture
def exchange(platform: Recorded) -> Iterator[Any]:
    """The synchronous class. What is sent gets its recorded answer; everything else is as in ccxt."""
    from openspot_ccxt.rest_sync import OpenSpot

    class WithRecords(OpenSpot):
        def fetch(self, url: str, method: str = "GET", headers: Any = None, body: Any = None) -> Any:
            target = url.partition("/api/v1")[2]
            platform.requests.append((method, target, None if body is None else json.loads(body)))
            status, answer = platform.answers[method, target]
            text = json.dumps(answer)
            self.handle_errors(status, "", url, method, {}, text, answer, headers, body)
            assert status < 400, f"{answer} raised no error of ccxt"
            # As ccxt does: what is no object and no list stays a text.
            return answer if isinstance(answer, dict | list) else text

    yield WithRecords({"apiKey": "key", "secret": "secret", "enableRateLimit": False})
