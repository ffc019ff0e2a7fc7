"""The subscription service on a database of its own."""

from collections.abc import AsyncIterator
from datetime import date

import asyncpg
import pytest

from tests.support.subscriptions import SubscriptionShop


@pytest.fixture
async def shop(subscriptions_database_url: str) -> AsyncIterator[SubscriptionShop]:
    """The service on 31 January 2025; ada, bob and cem have money."""
    async with asyncpg.create_pool(subscriptions_database_url, min_size=1, max_size=8) as pool:
        shop = SubscriptionShop(pool, date(2025, 1, 31))
        shop.fund("ada", "bob", "cem")
        yield shop
