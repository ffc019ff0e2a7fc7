"""The engine's HTTP interface as far as the REST edge reads it, in this process, on `settings.engine_http_port`."""

from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openspot.http.server import HttpServer, http_server
from openspot.kit.settings import Settings


def market(symbol: str) -> dict[str, Any]:
    """A specification as the engine lists it."""
    base, _, quote = symbol.partition("-")
    return {
        "symbol": symbol,
        "symbolId": 1,
        "baseCurrency": base,
        "quoteCurrency": quote,
        "baseScaleK": 100_000_000,
        "quoteScaleK": 100,
        "tickSize": "0.01",
        "lotSize": "0.00000001",
        "takerFee": 25,
        "makerFee": 15,
        "active": True,
    }


class FakeEngineHttp:
    """Returns what its attributes hold. Balances need the service headers, as with the real engine."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.markets = [market("BTC-USD"), market("ETH-USD")]
        self.books: dict[str, dict[str, Any]] = {
            symbol: {"symbol": symbol, "bids": [], "asks": [], "sequence": 1, "timestamp": 1_700_000_000_000}
            for symbol in ("BTC-USD", "ETH-USD")
        }
        self.balances: dict[str, list[dict[str, str]]] = {}
        """Rows by participant, each with currency, total, available, locked and reserved, as the engine has them."""
        self.sessions: dict[str, tuple[str, str]] = {}
        """Participant and its type, by the token of a session."""
        self.requests: list[str] = []
        self._server: HttpServer | None = None

    async def start(self) -> None:
        """Listen."""
        app = Starlette(
            routes=[
                Route("/health", self._health),
                Route("/api/v1/markets", self._markets),
                Route("/api/v1/marketdata/orderbook/{symbol}", self._book),
                Route("/api/v1/balances", self._balances),
                Route("/exchange.v1.AdminService/ValidateToken", self._validate, methods=["POST"]),
            ]
        )
        self._server = http_server(app, self._settings, self._settings.engine_http_port)
        await self._server.start()

    async def stop(self) -> None:
        """Stop listening."""
        if self._server is not None:
            await self._server.stop()
            self._server = None

    async def _health(self, _: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _markets(self, request: Request) -> Response:
        self.requests.append(request.url.path)
        return JSONResponse(self.markets)

    async def _book(self, request: Request) -> Response:
        book = self.books.get(request.path_params["symbol"])
        return JSONResponse(book, 200) if book is not None else JSONResponse({"error": "INVALID_SYMBOL"}, 404)

    async def _validate(self, request: Request) -> Response:
        found = self.sessions.get((await request.json())["token"])
        if found is None:
            return JSONResponse({"valid": False})
        return JSONResponse({"valid": True, "participantId": found[0], "type": found[1]})

    async def _balances(self, request: Request) -> Response:
        given = (request.headers.get("x-api-key"), request.headers.get("x-api-secret"))
        if given != (self._settings.engine_api_key, self._settings.engine_api_secret):
            return JSONResponse({"error": "AUTH_INVALID_USER"}, 401)
        rows = self.balances.get(request.query_params["participantId"], [])
        return JSONResponse({"balances": rows})
