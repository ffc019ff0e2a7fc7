"""Price alerts on the real database: who is told what, and how often, whatever dies meanwhile."""

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import create_autospec

import asyncpg
import pytest

from openspot.domain.fair_price.model import FairPrice, PriceState
from openspot.kit.settings import Settings
from openspot.rest_edge.alerts.judge import ALERTS_MAX, MAIL_GAP_S, TRADES_MAX, AlertJudge
from openspot.rest_edge.alerts.schemas import PriceAlertBody, PriceAlertChangeBody
from openspot.rest_edge.alerts.service import AlertService
from openspot.rest_edge.alerts.store import AlertStore, Bounds
from openspot.rest_edge.common.plan_limits import PlanLimits
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.notifications.store import NotificationStore
from openspot.rest_edge.push.queue import PushQueue
from tests.support.fair_prices import fair_price
from tests.support.fake_engine_http import FakeEngineHttp
from tests.support.filled_tables import insert
from tests.support.rest_client import RestClient, running_edge
from tests.support.waiting import eventually
from tests.support.websocket_edge import open_as, receive
from tests.support.websocket_edge import running_edge as running_websocket_edge

ABOVE = {"symbol": "BTC-USD", "direction": "above", "price": "100"}
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def any_market(symbol: str) -> None:
    """Every market exists."""


class Exchange:
    """Alerts, trades and fair prices of a test, with a clock that it moves."""

    def __init__(self, pool: asyncpg.Pool, outbox_max: int = 1_000) -> None:
        self.pool = pool
        self.now = NOON
        self.fair: dict[str, FairPrice] = {}
        self._sequence = 0
        self._notifications = NotificationStore(
            pool, Outbox(pool, outbox_max, self._now), PushQueue(pool, 100, self._now), self._now
        )
        plans = create_autospec(PlanLimits, instance=True)
        plans.of_user.side_effect = lambda _user_id, _name, default: default
        self.alerts = AlertService(AlertStore(pool), Bounds(1_000, 10_000), plans, any_market, self._now)
        self.judge = self.another_judge()

    def _now(self) -> datetime:
        return self.now

    def another_judge(self) -> AlertJudge:
        """The judge of another edge, or of one that starts anew."""
        return AlertJudge(
            self.pool,
            AlertStore(self.pool),
            self._notifications,
            lambda: self.fair,
            self._now,
            lambda: self.now.timestamp(),
        )

    async def add(self, user_id: str = "ada", **fields: Any) -> str:
        """A new alert's id."""
        return (await self.alerts.add(user_id, PriceAlertBody.model_validate(ABOVE | fields))).id

    async def trade(self, *prices: str, symbol: str = "BTC-USD") -> None:
        """Trades that market data has recorded, a second apart."""
        for price in prices:
            self._sequence += 1
            self.now += timedelta(seconds=1)
            await self.pool.execute(
                "INSERT INTO market_trades (trade_id, symbol, sequence, price, quantity, taker_side, executed_at)"
                " VALUES ($1, $2, $3, $4, 1, 'buy', $5)",
                f"t-{self._sequence}", symbol, self._sequence, Decimal(price), self.now,
            )  # fmt: skip

    async def told(self, user_id: str = "ada") -> list[str]:
        """The texts of the user's notifications, oldest first."""
        rows = await self.pool.fetch("SELECT text FROM notifications WHERE user_id = $1 ORDER BY number", user_id)
        return [row["text"] for row in rows]

    async def mails(self) -> int:
        """The number of mails of notifications."""
        return int(await self.pool.fetchval("SELECT count(*) FROM mail_outbox WHERE kind = 'notification'"))

    async def state(self, alert_id: str, user_id: str = "ada") -> tuple[str, int]:
        """State and firings of an alert."""
        (alert,) = [one for one in await self.alerts.all_of(user_id) if one.id == alert_id]
        return alert.state, alert.times_fired


@pytest.fixture
async def exchange(pool: asyncpg.Pool) -> Exchange:
    """An exchange with Ada and Bob, without an edge that would judge the alerts, too."""
    for user in ("ada", "bob"):
        row = {"user_id": user, "email": f"{user}@example.org"}
        await insert(pool, "users", row, role="user", email=row["email"])
    return Exchange(pool)


async def test_an_alert_fires_once_for_a_trade_at_its_price_and_not_for_one_before_it_was_made(
    exchange: Exchange,
) -> None:
    await exchange.trade("150")
    alert_id = await exchange.add(note="sell")
    await exchange.judge.judge()
    assert await exchange.state(alert_id) == ("armed", 0)
    await exchange.trade("99.99", "100", "101")
    for judge in (exchange.judge, exchange.judge, exchange.another_judge()):
        await judge.judge()
    assert await exchange.told() == ["The last trade was at 100 USD: at or above 100 USD. Your note: sell"]
    assert await exchange.state(alert_id) == ("fired", 1)
    (alert,) = await exchange.alerts.all_of("ada")
    assert (alert.fired_price, alert.fired_at) == ("100", "2026-03-01T12:00:03.000Z")


async def test_several_edges_tell_each_firing_once(exchange: Exchange) -> None:
    for number in range(40):
        await exchange.add("ada" if number % 2 else "bob", price=str(100 + number))
    judges = [exchange.another_judge() for _ in range(4)]
    for price in ("90", "119", "95", "200"):
        await exchange.trade(price)
        await asyncio.gather(*(judge.judge() for judge in judges))
    # An edge that found the lock taken leaves the rest to the next second.
    await judges[0].judge()
    assert len(await exchange.told("ada")) == len(await exchange.told("bob")) == 20


async def test_an_edge_that_dies_before_its_commit_leaves_all_of_it_to_the_next(
    exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    alert_id = await exchange.add()
    await exchange.trade("100")

    class KilledError(BaseException):
        """The process ends here."""

    async def killed(*_: object) -> None:
        raise KilledError

    dying = exchange.another_judge()
    with monkeypatch.context() as patch:
        patch.setattr(AlertStore, "note_market", killed)
        with pytest.raises(KilledError):
            await dying.judge()
    assert (await exchange.told(), await exchange.mails()) == ([], 0)
    assert await exchange.state(alert_id) == ("armed", 0)
    await exchange.another_judge().judge()
    assert (len(await exchange.told()), await exchange.mails()) == (1, 1)


@pytest.mark.proof
async def test_trades_of_a_pause_are_judged_in_bounded_steps(exchange: Exchange) -> None:
    alerts = [await exchange.add(price=str(1_000 + number)) for number in range(ALERTS_MAX + 5)]
    repeating = await exchange.add(price="500", repeat=True, minimumIntervalSeconds=3600)
    await exchange.pool.execute(
        "INSERT INTO market_trades (trade_id, symbol, sequence, price, quantity, taker_side, executed_at)"
        " SELECT 'p-' || number, 'BTC-USD', number, 100 + number, 1, 'buy',"
        " $1::timestamptz + number * interval '1 second'"
        " FROM generate_series(1, $2) AS number",
        NOON,
        TRADES_MAX + 300,
    )
    exchange.now += timedelta(hours=1)
    await exchange.judge.judge()
    assert {await exchange.state(alert_id) for alert_id in alerts} == {("fired", 1)}
    assert await exchange.state(repeating) == ("waiting", 1)
    assert len(await exchange.told()) == ALERTS_MAX + 6
    # Many alerts at once are one mail.
    assert await exchange.mails() == 1


async def test_a_price_that_hovers_sends_one_mail_in_an_interval(exchange: Exchange) -> None:
    alert_id = await exchange.add(repeat=True, minimumIntervalSeconds=60)
    for _ in range(20):
        await exchange.trade("99.99", "100")
        await exchange.judge.judge()
    assert await exchange.state(alert_id) == ("waiting", 1)
    exchange.now += timedelta(seconds=MAIL_GAP_S)
    await exchange.trade("100")
    await exchange.judge.judge()
    assert (len(await exchange.told()), await exchange.mails()) == (2, 2)


async def test_a_distance_arms_an_alert_again_and_no_trade_counts_twice(exchange: Exchange) -> None:
    alert_id = await exchange.add(repeat=True, rearmDistance="2")
    await exchange.trade("100", "98")
    exchange.now += timedelta(seconds=60)
    await exchange.judge.judge()
    assert await exchange.state(alert_id) == ("armed", 1)
    await exchange.another_judge().judge()
    assert await exchange.state(alert_id) == ("armed", 1)
    await exchange.trade("101")
    await exchange.judge.judge()
    assert await exchange.state(alert_id) == ("waiting", 2)


@pytest.mark.parametrize("state", [PriceState.STALE, PriceState.DISPUTED])
async def test_a_fair_price_in_dispute_or_stale_fires_nothing_and_a_good_one_does(
    exchange: Exchange, state: PriceState
) -> None:
    alert_id = await exchange.add(source="fair_price")
    # A trade moves nothing: anybody can make one.
    await exchange.trade("200")
    exchange.fair["BTC-USD"] = fair_price("BTC-USD", "100", state=state)
    await exchange.judge.judge()
    assert await exchange.state(alert_id) == ("armed", 0)
    exchange.fair["BTC-USD"] = fair_price("BTC-USD", "99.9")
    await exchange.judge.judge()
    assert await exchange.state(alert_id) == ("armed", 0)
    exchange.fair["BTC-USD"] = fair_price("BTC-USD", "100", state=PriceState.THIN)
    await asyncio.gather(*(judge.judge() for judge in (exchange.judge, exchange.another_judge())))
    await exchange.judge.judge()
    assert await exchange.told() == ["The fair price is 100 USD: at or above 100 USD."]
    assert await exchange.state(alert_id) == ("fired", 1)


async def test_a_full_outbox_keeps_alerts_waiting_and_loses_none(pool: asyncpg.Pool, exchange: Exchange) -> None:
    full = Exchange(pool, outbox_max=0)
    full.now = exchange.now
    alert_id = await full.add()
    await full.trade("100")
    await full.judge.judge()
    assert (await full.state(alert_id), await full.told()) == (("armed", 0), [])
    await exchange.judge.judge()
    assert (await exchange.state(alert_id), len(await exchange.told())) == (("fired", 1), 1)


async def test_a_change_of_the_condition_arms_an_alert_for_trades_from_then_on(exchange: Exchange) -> None:
    alert_id = await exchange.add()
    await exchange.trade("100")
    await exchange.judge.judge()

    async def change(**fields: Any) -> str:
        changed = await exchange.alerts.change("ada", alert_id, PriceAlertChangeBody.model_validate(fields))
        return changed.state

    assert await change(note="later") == "fired"
    assert await change(price="90") == "armed"
    await exchange.judge.judge()
    assert await exchange.state(alert_id) == ("armed", 1)
    await exchange.trade("90")
    await exchange.judge.judge()
    assert await exchange.state(alert_id) == ("fired", 2)
    assert await change(armed=True) == "armed"


async def test_after_a_time_without_alerts_old_trades_are_not_judged(exchange: Exchange) -> None:
    await exchange.alerts.delete("ada", await exchange.add())
    await exchange.trade(*["500"] * 5)
    alert_id = await exchange.add("bob")
    store = AlertStore(exchange.pool)
    assert await store.markets_with_news() == []
    await exchange.trade("100")
    assert await store.markets_with_news() == ["BTC-USD"]
    await exchange.judge.judge()
    assert await exchange.state(alert_id, "bob") == ("fired", 1)


async def test_the_routes_list_change_and_delete_and_name_what_is_wrong(
    edge: RestClient, engine: FakeEngineHttp
) -> None:
    made = await edge("POST", "/alerts", ABOVE | {"note": " take profit "})
    assert made.status == 201
    assert made.body == {
        "id": made.body["id"], "symbol": "BTC-USD", "source": "last_trade", "direction": "above", "price": "100",
        "note": "take profit", "repeat": False, "rearmDistance": None, "minimumIntervalSeconds": None,
        "state": "armed", "timesFired": 0, "firedAt": None, "firedPrice": None, "createdAt": made.body["createdAt"],
    }  # fmt: skip
    path = f"/alerts/{made.body['id']}"
    changed = await edge("PATCH", path, {"repeat": True, "minimumIntervalSeconds": 60, "note": None})
    assert changed.body == made.body | {"repeat": True, "minimumIntervalSeconds": 60, "note": None}
    assert (await edge("GET", "/alerts")).body == [changed.body]
    for method, target, body, expected in (
        ("POST", "/alerts", ABOVE | {"symbol": "NO-USD"}, (404, "MARKET_NOT_FOUND", "Market NO-USD not found")),
        ("POST", "/alerts", ABOVE | {"price": "0"}, (400, "VALIDATION_FAILED", ["price must be greater than 0"])),
        ("POST", "/alerts", ABOVE | {"minimumIntervalSeconds": 59, "repeat": True},
            (400, "VALIDATION_FAILED", ["minimumIntervalSeconds must be at least 60"])),
        ("POST", "/alerts", ABOVE | {"note": "a\nb"},
            (400, "VALIDATION_FAILED", ["note has characters that are not allowed"])),
        ("PATCH", path, {}, (400, "VALIDATION_FAILED", ["body must name something to change"])),
        ("PATCH", path, {"price": None}, (400, "VALIDATION_FAILED", ["price must not be null"])),
        ("PATCH", path, {"repeat": False},
            (400, "VALIDATION_FAILED", ["minimumIntervalSeconds is for alerts with repeat"])),
    ):  # fmt: skip
        refused = await edge(method, target, body)
        assert (refused.status, refused.code, refused.message) == expected
    assert (await edge("DELETE", path)).body == {"success": True}
    assert (await edge("DELETE", path)).code == "ALERT_NOT_FOUND"
    assert (await edge("PATCH", path, {"price": "1"})).code == "ALERT_NOT_FOUND"
    assert (await edge("GET", "/alerts")).body == []


async def test_alerts_are_bounded_for_a_user_and_for_all(settings: Settings, engine: FakeEngineHttp) -> None:
    bounded = settings.model_copy(update={"price_alerts_user_max": 2, "price_alerts_max": 3})
    async with running_edge(bounded) as edge:
        edge.as_user("u1")
        replies = await asyncio.gather(*(edge("POST", "/alerts", ABOVE) for _ in range(4)))
        assert sorted(reply.status for reply in replies) == [201, 201, 409, 409]
        assert {reply.code for reply in replies if reply.status == 409} == {"TOO_MANY_ALERTS"}
        edge.as_user("u2")
        assert [(await edge("POST", "/alerts", ABOVE)).status for _ in range(2)] == [201, 503]
        assert (await edge("POST", "/alerts", ABOVE)).code == "ALERTS_FULL"


async def test_a_running_edge_tells_the_user_on_the_websocket(
    settings: Settings, pool: asyncpg.Pool, engine: FakeEngineHttp
) -> None:
    await insert(pool, "users", {"user_id": "ada", "email": "ada@example.org"}, role="user", email="ada@example.org")
    async with running_edge(settings) as edge, running_websocket_edge(settings), open_as(settings, "ada") as client:
        edge.as_user("ada")
        alert_id = (await edge("POST", "/alerts", ABOVE)).body["id"]
        await Exchange(pool).trade("100")
        pushed = await receive(client)
        assert pushed["data"]["id"] == f"price.alert:{alert_id}:1"
        assert (pushed["channel"], pushed["data"]["kind"]) == ("notifications", "price.alert")

        async def is_listed_as_fired() -> bool:
            return bool((await edge("GET", "/alerts")).body[0]["state"] == "fired")

        await eventually(is_listed_as_fired)
