"""The commands `openspot price …` and `openspot owners …`: they write an operator's decisions to the database.

Running market data reads them every few seconds. No row is deleted, so the tables say who decided what, and why.
"""

import re
from collections.abc import AsyncIterator, Container
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal

import aiohttp
import asyncpg

from openspot.domain.accounts import user_of_account
from openspot.domain.fair_price.rules import PRICE_MAX
from openspot.domain.market import load_markets
from openspot.domain.money import AMOUNT_SCALE, MoneyError, decimal_to_text, parse_decimal, to_amount
from openspot.domain.owners import LINKS_MAX
from openspot.engine_client.errors import EngineError
from openspot.engine_client.live_markets import LiveMarkets
from openspot.engine_client.settings import EngineAddressSettings
from openspot.kit.clock import iso_of
from openspot.kit.database import Pool, pool_of_command, text_of

DURATION_MAX = timedelta(days=30)
LIST_MAX = 1000
TEXT_LENGTH_MAX = 500
FAR_FACTOR = 2
"""A price more than this many times from the present one is set only if the operator says that it is meant."""
_COST_PLACE = Decimal("0.01")
_DURATION = re.compile(r"([1-9][0-9]{0,6})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


class PriceOperatorError(Exception):
    """A command could not be carried out; nothing was changed. The message says why."""


def duration_of(text: str) -> timedelta:
    """A time from `90s`, `30m`, `2h` or `1d`. Raises PriceOperatorError."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise PriceOperatorError("--for must be a number and s, m, h or d, for example 2h")
    duration = timedelta(**{_UNITS[found[2]]: int(found[1])})
    if duration > DURATION_MAX:
        raise PriceOperatorError(f"--for must be at most {DURATION_MAX.days}d: set the price again before it ends")
    return duration


@dataclass(frozen=True, slots=True)
class PriceOperator:
    """Carries out the commands. Every method returns lines to print, or raises PriceOperatorError."""

    pool: Pool
    symbols: Container[str] = field(default_factory=lambda: load_markets().limits)
    """The markets that may get a price before they have one."""

    # Prices

    async def set_price(
        self, symbol: str, price: str, duration: timedelta, *, reason: str, who: str, is_far_meant: bool
    ) -> str:
        """Set the fair price of a market until `duration` from now."""
        amount = _price(price)
        _check_texts(reason=reason, who=who)
        present = await self.pool.fetchrow("SELECT price, state FROM fair_prices WHERE symbol = $1", symbol)
        if present is None and symbol not in self.symbols:
            raise PriceOperatorError(f"SYMBOL: there is no market {symbol}")
        if present is not None and not is_far_meant:
            lower, higher = sorted((amount, present["price"]))
            if higher > lower * FAR_FACTOR:
                raise PriceOperatorError(
                    f"PRICE is more than {FAR_FACTOR} times from the present {text_of(present['price'])}: "
                    "give --far if it is meant"
                )
        ends_at = await self.pool.fetchval(
            "INSERT INTO operator_prices (symbol, price, ends_at, reason, set_by)"
            " VALUES ($1, $2, now() + $3, $4, $5) RETURNING ends_at",
            symbol,
            amount,
            duration,
            reason,
            who,
        )
        return f"{symbol} is {decimal_to_text(amount)} until {iso_of(ends_at)}"

    async def clear_price(self, symbol: str, *, who: str) -> str:
        """End the operator's price of a market. From then on its sources count again."""
        _check_texts(who=who)
        cleared = await self.pool.execute(
            "UPDATE operator_prices SET cleared_by = $2, cleared_at = now()"
            " WHERE symbol = $1 AND cleared_at IS NULL AND ends_at > now()",
            symbol,
            who,
        )
        if cleared == "UPDATE 0":
            raise PriceOperatorError(f"no operator's price counts for {symbol}")
        return f"{symbol}: the market's own sources count again"

    async def listed_prices(self) -> list[str]:
        """Each market's fair price, what it costs to move it, why it is not sure, and the operator's price."""
        rows = await self.pool.fetch(
            """
            SELECT symbol, fair.state, fair.price, fair.low, fair.high, fair.day_median, fair.move_cost, fair.reason,
                fair.computed_at, set.price AS set_price, set.ends_at, set.set_by, set.reason AS set_reason
            FROM fair_prices AS fair FULL JOIN (
                SELECT * FROM (
                    SELECT DISTINCT ON (symbol) * FROM operator_prices ORDER BY symbol, number DESC
                ) AS newest WHERE cleared_at IS NULL AND ends_at > now()
            ) AS set USING (symbol) ORDER BY symbol LIMIT $1
            """,
            LIST_MAX,
        )
        return [line for row in rows for line in _price_lines(row)]

    # Owners

    async def link(self, one: str, other: str, *, reason: str, who: str) -> str:
        """Let two users be one owner (`openspot.domain.owners`). The engine knows it some seconds later."""
        _check_texts(reason=reason, who=who)
        first, second = sorted([await self._user_id(one, "USER_A"), await self._user_id(other, "USER_B")])
        if first == second:
            raise PriceOperatorError("USER_A and USER_B are the same user")
        async with self.pool.acquire() as connection, connection.transaction():
            # Two commands at once could pass the limit together. Then the engine would take no list any more.
            await connection.execute("LOCK TABLE owner_links IN SHARE ROW EXCLUSIVE MODE")
            present = await connection.fetchval("SELECT count(*) FROM owner_links WHERE ended_at IS NULL")
            if present >= LINKS_MAX:
                raise PriceOperatorError(
                    f"{present} links count, and more than {LINKS_MAX} cannot: unlink some users first"
                )
            try:
                await connection.execute(
                    "INSERT INTO owner_links (first_user_id, second_user_id, reason, linked_by)"
                    " VALUES ($1, $2, $3, $4)",
                    first,
                    second,
                    reason,
                    who,
                )
            except asyncpg.UniqueViolationError as error:
                raise PriceOperatorError(f"{first} and {second} are linked already") from error
        return f"{first} and {second} are one owner"

    async def unlink(self, one: str, other: str, *, reason: str, who: str) -> str:
        """End the link of two users, who may be gone. Other links may still join them."""
        _check_texts(reason=reason, who=who)
        first, second = sorted([await self._user_id(one, "USER_A"), await self._user_id(other, "USER_B")])
        ended = await self.pool.execute(
            "UPDATE owner_links SET end_reason = $3, ended_by = $4, ended_at = now()"
            " WHERE first_user_id = $1 AND second_user_id = $2 AND ended_at IS NULL",
            first,
            second,
            reason,
            who,
        )
        if ended == "UPDATE 0":
            raise PriceOperatorError(f"{first} and {second} are not linked")
        return f"{first} and {second} are not linked any more"

    async def listed_links(self) -> list[str]:
        """One line for each link that counts."""
        rows = await self.pool.fetch(
            "SELECT * FROM owner_links WHERE ended_at IS NULL ORDER BY number DESC LIMIT $1", LIST_MAX
        )
        return [
            f"{row['first_user_id']} and {row['second_user_id']}, linked by {row['linked_by']} "
            f"{iso_of(row['linked_at'])}: {row['reason']}"
            for row in rows
        ]

    async def _user_id(self, user: str, field: str) -> str:
        if "@" in user:
            found = await self.pool.fetchval("SELECT user_id FROM users WHERE email = $1", user.lower())
        else:
            # A margin account is its user's.
            found = await self.pool.fetchval("SELECT user_id FROM users WHERE user_id = $1", user_of_account(user))
            # A deleted user has no row, but may still join others.
            found = found or await self.pool.fetchval(
                "SELECT $1::text FROM owner_links WHERE ended_at IS NULL AND $1 IN (first_user_id, second_user_id)"
                " LIMIT 1",
                user_of_account(user),
            )
        if found is None:
            raise PriceOperatorError(f"{field}: nobody is registered as {user}")
        return str(found)


@asynccontextmanager
async def price_operator(settings: EngineAddressSettings) -> AsyncIterator[PriceOperator]:
    """The operator's commands on the database of `settings`. Raises PriceOperatorError if it does not answer."""
    symbols = await _listed_symbols(settings)
    async with pool_of_command(settings, PriceOperatorError) as pool:
        yield PriceOperator(pool, symbols)


async def _listed_symbols(settings: EngineAddressSettings) -> Container[str]:
    """The markets of the platform; those of the engine's list if services follow it and it responds."""
    live = LiveMarkets(settings.engine_url, load_markets())
    if settings.follows_listings:
        with suppress(EngineError):
            async with aiohttp.ClientSession() as session:
                await live.load(session)
    return live.configuration.limits


def _price(text: str) -> Decimal:
    try:
        price = parse_decimal(text)
        amount = to_amount(price)
    except MoneyError as error:
        raise PriceOperatorError(f"PRICE {error}") from error
    if not 0 < amount <= PRICE_MAX:
        raise PriceOperatorError(f"PRICE must be above 0 and at most {PRICE_MAX // AMOUNT_SCALE}")
    return price


def _check_texts(**texts: str) -> None:
    for name, text in texts.items():
        option = {"who": "--as"}.get(name, f"--{name}")
        if not text.strip() or len(text) > TEXT_LENGTH_MAX or not text.isprintable():
            raise PriceOperatorError(f"{option} must have 1 to {TEXT_LENGTH_MAX} printable characters")


def _price_lines(row: asyncpg.Record) -> list[str]:
    symbol = row["symbol"]
    lines = []
    if row["price"] is None:
        lines.append(f"{symbol}: no fair price yet")
    else:
        quote = symbol.partition("-")[2]
        cost = row["move_cost"]
        moved = (
            "no trade here moves it"
            if cost is None
            else f"10 % for a minute cost at least {text_of(cost.quantize(_COST_PLACE))} {quote}"
        )
        lines.append(
            f"{symbol}: {text_of(row['price'])} {row['state']}, from {text_of(row['low'])} to {text_of(row['high'])}, "
            f"day's median {text_of(row['day_median'])}; {moved}; {iso_of(row['computed_at'])}"
        )
        if row["reason"]:
            lines.append(f"  {row['reason']}")
    if row["set_price"] is not None:
        lines.append(
            f"  operator's price {text_of(row['set_price'])} until {iso_of(row['ends_at'])}, "
            f"set by {row['set_by']}: {row['set_reason']}"
        )
    return lines
