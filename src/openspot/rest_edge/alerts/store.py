"""The tables `price_alerts` and `price_alert_markets`.

A row of `price_alert_markets` is the lock of a market's alerts, and says up to which trade they are judged. Whoever
arms alerts or judges them holds it, so each trade is judged once, and an alert is armed at a definite trade.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from openspot.domain.fair_price.band import PriceReference
from openspot.kit.database import Connection, Pool
from openspot.rest_edge.alerts.rules import Definition, Observation, PriceSide, Progress, armed

_LOCK_OF_NEW_ALERTS = "SELECT pg_advisory_xact_lock(hashtextextended('openspot-price-alerts', 0))"
_COLUMNS = """
    alert_id, user_id, symbol, source, direction, price, note, repeats, rearm_distance, interval_s, waits_for, level,
    rests_until, seen_at, seen_sequence, times_fired, fired_at, fired_price, created_at
"""
_NEWEST_TRADE = """
    SELECT executed_at, sequence FROM market_trades WHERE symbol = $1 ORDER BY executed_at DESC, sequence DESC LIMIT 1
"""


BEFORE_ALL_TRADES = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class TradePosition:
    """A place among the trades of a market: engine time, and sequence among those of one time."""

    at: datetime
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """A stored alert. It counts trades after `seen`."""

    alert_id: str
    user_id: str
    definition: Definition
    progress: Progress
    seen: TradePosition
    times_fired: int
    fired_at: datetime | None
    fired_price: Decimal | None
    created_at: datetime


Change = Callable[[Alert], tuple[Definition, bool]]
"""What an alert of the same market shall be, and whether it is armed again."""


class TooManyAlertsError(Exception):
    """There are as many alerts as there may be: of the user, or of all users."""

    def __init__(self, *, of_user: bool) -> None:
        super().__init__("too many alerts")
        self.of_user = of_user


class AlertStore:
    """Alerts of users, and how far each market's are judged."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    # What users do

    async def all_of(self, user_id: str) -> list[Alert]:
        """The user's alerts, newest first."""
        query = f"SELECT {_COLUMNS} FROM price_alerts WHERE user_id = $1 ORDER BY created_at DESC, alert_id"  # noqa: S608
        return [_alert_of(row) for row in await self._pool.fetch(query, user_id)]

    async def add(self, alert_id: str, user_id: str, definition: Definition, now: datetime, bounds: "Bounds") -> Alert:
        """Add an alert, which counts trades from now on. Raises TooManyAlertsError."""
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(_LOCK_OF_NEW_ALERTS)
            own = await connection.fetchval("SELECT count(*) FROM price_alerts WHERE user_id = $1", user_id)
            if own >= bounds.of_user:
                raise TooManyAlertsError(of_user=True)
            if await connection.fetchval("SELECT count(*) FROM price_alerts") >= bounds.of_all:
                raise TooManyAlertsError(of_user=False)
            seen = await _lock_to_arm(connection, definition.symbol)
            progress = armed(definition)
            alert = Alert(
                alert_id=alert_id, user_id=user_id, definition=definition, progress=progress, seen=seen, times_fired=0,
                fired_at=None, fired_price=None, created_at=now,
            )  # fmt: skip
            await connection.execute(
                f"INSERT INTO price_alerts ({_COLUMNS}) VALUES "  # noqa: S608
                "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
                alert_id, user_id, *_values_of(definition), *_progress_values(progress), seen.at, seen.sequence, 0,
                None, None, now,
            )  # fmt: skip
        return alert

    async def change(self, user_id: str, alert_id: str, change: Change) -> Alert | None:
        """Change an alert, and return it as it is then. None if the user has none with this id.

        Raises what `change` raises, and changes nothing then.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            known = await _find(connection, user_id, alert_id)
            if known is None:
                return None
            seen = await _lock_to_arm(connection, known.definition.symbol)
            # Read again: the lock keeps other changes and the judge away from here on.
            alert = await _find(connection, user_id, alert_id)
            if alert is None:
                return None
            definition, is_armed = change(alert)
            await connection.execute(
                "UPDATE price_alerts SET symbol = $2, source = $3, direction = $4, price = $5, note = $6, repeats = $7,"
                " rearm_distance = $8, interval_s = $9 WHERE alert_id = $1",
                alert_id,
                *_values_of(definition),
            )
            if is_armed:
                await connection.execute(
                    "UPDATE price_alerts SET waits_for = $2, level = $3, rests_until = $4, seen_at = $5,"
                    " seen_sequence = $6 WHERE alert_id = $1",
                    alert_id,
                    *_progress_values(armed(definition)),
                    seen.at,
                    seen.sequence,
                )
            return await _find(connection, user_id, alert_id)

    async def delete(self, user_id: str, alert_id: str) -> bool:
        """Delete an alert. False if the user has none with this id."""
        query = "DELETE FROM price_alerts WHERE user_id = $1 AND alert_id = $2 RETURNING true"
        return bool(await self._pool.fetchval(query, user_id, alert_id))

    # What judging needs

    async def markets_with_news(self) -> list[str]:
        """The markets with alerts that wait for a trade, and with trades that are not judged yet."""
        rows = await self._pool.fetch(
            """
            SELECT market.symbol FROM price_alert_markets AS market CROSS JOIN LATERAL (
                SELECT executed_at, sequence FROM market_trades WHERE symbol = market.symbol
                ORDER BY executed_at DESC, sequence DESC LIMIT 1
            ) AS newest
            WHERE (newest.executed_at, newest.sequence) > (market.judged_at, market.judged_sequence) AND EXISTS (
                SELECT FROM price_alerts
                WHERE symbol = market.symbol AND source = $1 AND waits_for IS NOT NULL
            )
            """,
            PriceReference.LAST_TRADE.value,
        )
        return [row["symbol"] for row in rows]

    async def markets_reached(self, prices: Mapping[str, Decimal], now: datetime) -> list[str]:
        """The markets with an alert that the fair price of `prices` reaches."""
        rows = await self._pool.fetch(
            """
            SELECT symbol FROM unnest($1::text[], $2::numeric[]) AS given (symbol, price) WHERE EXISTS (
                SELECT FROM price_alerts AS alert
                WHERE alert.source = $3 AND alert.symbol = given.symbol
                    AND (alert.waits_for <> alert.direction OR alert.rests_until IS NULL OR alert.rests_until <= $4)
                    AND ((alert.waits_for = 'above' AND alert.level <= given.price)
                        OR (alert.waits_for = 'below' AND alert.level >= given.price))
            )
            """,
            list(prices),
            list(prices.values()),
            PriceReference.FAIR_PRICE.value,
            now,
        )
        return [row["symbol"] for row in rows]

    async def lock(self, symbol: str, connection: Connection) -> TradePosition | None:
        """Lock a market's alerts, and return up to where they are judged. None if another process judges them."""
        row = await connection.fetchrow(
            "SELECT judged_at, judged_sequence FROM price_alert_markets WHERE symbol = $1 FOR UPDATE SKIP LOCKED",
            symbol,
        )
        return None if row is None else TradePosition(at=row["judged_at"], sequence=row["judged_sequence"])

    async def trades_after(
        self, symbol: str, position: TradePosition, limit: int, connection: Connection
    ) -> list[Observation]:
        """At most `limit` trades of a market after `position`, oldest first."""
        rows = await connection.fetch(
            """
            SELECT price, executed_at, sequence FROM market_trades
            WHERE symbol = $1 AND (executed_at, sequence) > ($2, $3) ORDER BY executed_at, sequence LIMIT $4
            """,
            symbol,
            position.at,
            position.sequence,
            limit,
        )
        return [Observation(row["price"], row["executed_at"], row["sequence"]) for row in rows]

    async def reached(
        self, symbol: str, source: PriceReference, observations: Sequence[Observation], limit: int,
        connection: Connection,
    ) -> list[Alert]:  # fmt: skip
        """At most `limit` alerts that one of the observations may fire or arm, and that have not counted the last one.

        The index finds them by the highest and the lowest price, so alerts that no price reaches cost nothing.
        """
        last = observations[-1]
        rows = await connection.fetch(
            f"""
            SELECT {_COLUMNS} FROM price_alerts
            WHERE source = $1 AND symbol = $2
                AND ((waits_for = 'above' AND level <= $3) OR (waits_for = 'below' AND level >= $4))
                AND (waits_for <> direction OR rests_until IS NULL OR rests_until <= $5)
                AND (seen_at, seen_sequence) < ($5, $6)
            LIMIT $7
            """,  # noqa: S608
            source.value,
            symbol,
            max(observation.price for observation in observations),
            min(observation.price for observation in observations),
            last.at,
            last.sequence,
            limit,
        )
        return [_alert_of(row) for row in rows]

    async def note_judged(
        self,
        alert: Alert,
        progress: Progress,
        firings: Sequence[Observation],
        seen: TradePosition,
        connection: Connection,
    ) -> None:
        """Keep what became of an alert."""
        last = firings[-1] if firings else None
        await connection.execute(
            """
            UPDATE price_alerts SET waits_for = $2, level = $3, rests_until = $4, seen_at = $5, seen_sequence = $6,
                times_fired = times_fired + $7, fired_at = coalesce($8, fired_at),
                fired_price = coalesce($9, fired_price)
            WHERE alert_id = $1
            """,
            alert.alert_id,
            *_progress_values(progress),
            seen.at,
            seen.sequence,
            len(firings),
            None if last is None else last.at,
            None if last is None else last.price,
        )

    async def note_market(self, symbol: str, position: TradePosition, connection: Connection) -> None:
        """Keep up to where a market's alerts are judged."""
        await connection.execute(
            "UPDATE price_alert_markets SET judged_at = $2, judged_sequence = $3 WHERE symbol = $1",
            symbol,
            position.at,
            position.sequence,
        )


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many alerts a user may have, and how many all users together."""

    of_user: int
    of_all: int


async def _lock_to_arm(connection: Connection, symbol: str) -> TradePosition:
    """Lock a market's alerts, and return its newest trade, after which an armed alert counts.

    If no alert waits for trades, those before are nobody's, and the market begins with that trade.
    """
    newest = await connection.fetchrow(_NEWEST_TRADE, symbol)
    at, sequence = (BEFORE_ALL_TRADES, 0) if newest is None else newest
    await connection.execute(
        "INSERT INTO price_alert_markets (symbol, judged_at, judged_sequence) VALUES ($1, $2, $3)"
        " ON CONFLICT (symbol) DO NOTHING",
        symbol,
        at,
        sequence,
    )
    await connection.fetchrow("SELECT FROM price_alert_markets WHERE symbol = $1 FOR UPDATE", symbol)
    await connection.execute(
        """
        UPDATE price_alert_markets SET judged_at = $2, judged_sequence = $3
        WHERE symbol = $1 AND (judged_at, judged_sequence) < ($2, $3) AND NOT EXISTS (
            SELECT FROM price_alerts WHERE symbol = $1 AND source = $4 AND waits_for IS NOT NULL
        )
        """,
        symbol,
        at,
        sequence,
        PriceReference.LAST_TRADE.value,
    )
    return TradePosition(at=at, sequence=sequence)


async def _find(connection: Connection | Pool, user_id: str, alert_id: str) -> Alert | None:
    query = f"SELECT {_COLUMNS} FROM price_alerts WHERE user_id = $1 AND alert_id = $2"  # noqa: S608
    row = await connection.fetchrow(query, user_id, alert_id)
    return None if row is None else _alert_of(row)


def _values_of(definition: Definition) -> tuple[Any, ...]:
    return (
        definition.symbol,
        definition.source.value,
        definition.direction.value,
        definition.price,
        definition.note,
        definition.repeat,
        definition.rearm_distance,
        definition.interval_s,
    )


def _progress_values(progress: Progress) -> tuple[Any, ...]:
    return None if progress.waits_for is None else progress.waits_for.value, progress.level, progress.rests_until


def _alert_of(row: Any) -> Alert:
    waits_for = row["waits_for"]
    return Alert(
        alert_id=row["alert_id"],
        user_id=row["user_id"],
        definition=Definition(
            symbol=row["symbol"],
            source=PriceReference(row["source"]),
            direction=PriceSide(row["direction"]),
            price=row["price"],
            note=row["note"],
            repeat=row["repeats"],
            rearm_distance=row["rearm_distance"],
            interval_s=row["interval_s"],
        ),
        progress=Progress(
            waits_for=None if waits_for is None else PriceSide(waits_for),
            level=row["level"],
            rests_until=row["rests_until"],
        ),
        seen=TradePosition(at=row["seen_at"], sequence=row["seen_sequence"]),
        times_fired=row["times_fired"],
        fired_at=row["fired_at"],
        fired_price=row["fired_price"],
        created_at=row["created_at"],
    )
