"""What an exchange has that people run: a row of each kind, made through the services as they are, and found again."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from openspot.domain.ids import ADJUSTMENTS_ACCOUNT_ID, PAYMENTS_ACCOUNT_ID
from openspot.http.operators import OperatorRole
from openspot.kit.bus import Bus
from openspot.kit.settings import Settings
from tests.support.authenticator import register
from tests.support.edge_operators import make_operator
from tests.support.engine_client import EngineClient
from tests.support.fair_prices import FakeFairPrices
from tests.support.in_process_platform import running
from tests.support.margin import MarginMarket
from tests.support.mirrored_market import MIRRORS
from tests.support.rest_client import RestClient
from tests.support.waiting import eventually

TREASURER, SECOND, LISTER, SUPPORT = "ada@example.org", "bob@example.org", "cas@example.org", "dan@example.org"
EVE, ZOE = "eve@example.org", "zoe@example.org"
WHY = {"reason": "ticket 4711"}
DOGE_USD: dict[str, Any] = {
    "symbol": "DOGE-USD",
    "asset": {"currency": "DOGE", "name": "Dogecoin", "places": 8, "logo": ""},
    "tickSize": "0.0001", "lotSize": "0.1", "takerFee": 25, "makerFee": 15, "quantityMin": "1", "quantityMax": "1000",
    "notionalMin": "1", "notionalMax": "5000", "deviationBpsMax": 2000, "slippageBpsMax": 500, "status": "open",
    "announcement": "Trading begins.", "reason": "asked for by many",
}  # fmt: skip

ROWS: dict[str, tuple[str, Any]] = {
    "operators": ("SELECT string_agg(role, ', ' ORDER BY role) FROM operator_roles",
                  "MARKET_OPERATIONS, SUPPORT, TREASURY, TREASURY"),
    "a request that a second person approved": (
        "SELECT count(*) FROM operator_requests WHERE kind = 'adjustment' AND status = 'approved'"
        " AND decided_by <> requested_by", 1),
    "an adjustment": (
        "SELECT concat_ws(' ', category, amount::float8, asset, status) FROM adjustments", "goodwill 200 USD done"),
    "a transfer of the house": (
        "SELECT concat_ws(' ', source, destination, amount::float8, status) FROM house_transfers",
        "house:payments house:insurance 30 done"),
    "a lock": ("SELECT kind FROM user_locks", "withdrawals"),
    "a note": ("SELECT text FROM user_notes", "lost the phone"),
    "a stake": ("SELECT concat_ws(' ', product_id, staked::float8, status) FROM staking_balances",
                "usdt-flexible 60 active"),
    "a payment": ("SELECT concat_ws(' ', amount::float8, currency) FROM payments", "100 USD"),
    "a margin account": ("SELECT status FROM margin_accounts", "active"),
    "a position": ("SELECT concat_ws(' ', symbol, side, status) FROM margin_positions", "BTC-USD buy open"),
    "a loan": ("SELECT concat_ws(' ', asset, status) FROM margin_loans", "USD active"),
    "an alert": ("SELECT concat_ws(' ', symbol, direction, price::float8) FROM price_alerts", "BTC-USD above 150"),
    "the trail of a listing": (
        "SELECT concat_ws(' ', subject_id, reason) FROM operator_actions WHERE action = 'markets.list'",
        "DOGE-USD asked for by many"),
}  # fmt: skip
"""Queries of one value, and the values that they have after `do_business`, by what they are."""


def run_by_people(settings: Settings) -> Settings:
    """Settings under which all of it can be done."""
    return settings.model_copy(
        update={
            "rules": "complete",
            "markets": "live",
            "adjustment_alone_limit": 100,
            "margin_liquidation_pause_s": 0.3,
        }
    )


@asynccontextmanager
async def business(settings: Settings, bus: Bus, pool: asyncpg.Pool) -> AsyncIterator[MarginMarket]:
    """A market on which all of `ROWS` was done; the services that only helped have ended, and no price is made."""
    async with running(settings, *MIRRORS):
        engine, prices = EngineClient(settings), FakeFairPrices(settings)
        await prices.start()
        market = MarginMarket(settings, bus, pool, engine, prices)
        try:
            await market.fund()
            await market.fund_house()
            await market.trade_at("100")
            async with running(settings, "margin", "rest-edge"):
                await _do_business(settings, market, pool)
            yield market
        finally:
            await prices.stop()
            await engine.close()


async def _do_business(settings: Settings, market: MarginMarket, pool: asyncpg.Pool) -> None:
    clients = {email: RestClient(settings) for email in (TREASURER, SECOND, LISTER, SUPPORT, EVE, ZOE)}
    try:
        roles = (OperatorRole.TREASURY, OperatorRole.TREASURY, OperatorRole.MARKET_OPERATIONS, OperatorRole.SUPPORT)
        for email, role in zip((TREASURER, SECOND, LISTER, SUPPORT), roles, strict=True):
            await make_operator(clients[email], pool, email, role)
        eve, zoe = await register(clients[EVE], EVE), await register(clients[ZOE], ZOE)
        for account, asset, amount in (
            (ADJUSTMENTS_ACCOUNT_ID, "USD", "1000"), (PAYMENTS_ACCOUNT_ID, "USD", "500"), (eve, "USD", "500"),
            (eve, "USDT", "100"),
        ):  # fmt: skip
            await market.deposit(account, asset, amount)

        async def are_funded() -> bool:
            found = [await market.engine.balances(name) for name in (ADJUSTMENTS_ACCOUNT_ID, PAYMENTS_ACCOUNT_ID, eve)]
            return [len(balances) for balances in found] == [1, 1, 2]

        await eventually(are_funded)
        await _by_operators(clients, eve, zoe)
        await _by_users(clients[EVE], market, eve)
    finally:
        for client in clients.values():
            await client.close()


async def _sent(client: RestClient, method: str, path: str, body: Any) -> Any:
    reply = await client(method, path, body)
    assert reply.status in (200, 201), (path, reply.body)
    return reply.body


async def _by_operators(clients: dict[str, RestClient], eve: str, zoe: str) -> None:
    gift = {"asset": "USD", "amount": "200", "category": "goodwill"} | WHY
    asked = await _sent(clients[TREASURER], "POST", f"/operator/users/{eve}/adjustments", gift)
    assert asked["status"] == "waiting", asked
    await _sent(clients[SECOND], "POST", f"/operator/requests/{asked['id']}/approval", WHY)
    move = {"from": PAYMENTS_ACCOUNT_ID, "to": "house:insurance", "asset": "USD", "amount": "30"} | WHY
    assert (await _sent(clients[TREASURER], "POST", "/operator/treasury/transfers", move))["status"] == "done"
    await _sent(clients[SUPPORT], "PUT", f"/operator/users/{zoe}/locks/withdrawals", WHY)
    await _sent(clients[SUPPORT], "POST", f"/operator/users/{zoe}/notes", {"text": "lost the phone"})
    await _sent(clients[LISTER], "POST", "/operator/markets", DOGE_USD)


async def _by_users(eve: RestClient, market: MarginMarket, user_id: str) -> None:
    stake = await _sent(eve, "POST", "/staking/stake", {"productId": "usdt-flexible", "amount": "60"})
    assert stake["status"] == "active", stake
    await _sent(eve, "POST", "/payments/session", {"routeId": "development-usd", "amount": "100", "currency": "USD"})
    await _sent(eve, "POST", "/alerts", {"symbol": "BTC-USD", "direction": "above", "price": "150"})
    moved = await market.move(user_id, "200")
    assert moved.success, moved
    await market.place("sell", "100", "4", "bob")
    opened = await market.open(user_id, "buy", "4", "4")
    assert opened.success, opened
