"""A comparison of owner links that fails changes nothing and ends nothing."""

from typing import cast

import pytest

from openspot.engine_client.commands import EngineCommands
from openspot.engine_client.errors import EngineAmbiguousError, EngineError, EngineRefusedError, EngineUnreachableError
from openspot.market_data.fair_price_store import FairPriceStore
from openspot.market_data.owner_link_sync import OwnerLinkSync

LINKS = [("alice", "bob")]


class Store:
    """A table with one link, which may not answer."""

    error: Exception | None = None

    async def owner_links(self) -> list[tuple[str, str]]:
        if self.error is not None:
            raise self.error
        return LINKS


class Commands:
    """An engine that notes the lists that it gets, or does not answer."""

    error: EngineError | None = None

    def __init__(self) -> None:
        self.lists: list[list[tuple[str, str]]] = []

    async def set_owners(self, links: list[tuple[str, str]]) -> int:
        if self.error is not None:
            raise self.error
        self.lists.append(links)
        return len(links)


async def test_the_whole_list_is_sent_each_time() -> None:
    commands = Commands()
    sync = OwnerLinkSync(cast(FairPriceStore, Store()), cast(EngineCommands, commands))
    await sync.compare()
    await sync.compare()
    assert commands.lists == [LINKS, LINKS]


@pytest.mark.parametrize("error", [EngineUnreachableError("x"), EngineAmbiguousError("x"), EngineRefusedError("x")])
async def test_an_engine_that_does_not_answer_is_asked_again(error: EngineError) -> None:
    commands = Commands()
    sync = OwnerLinkSync(cast(FairPriceStore, Store()), cast(EngineCommands, commands))
    commands.error = error
    await sync.compare()
    commands.error = None
    await sync.compare()
    assert commands.lists == [LINKS]


async def test_without_the_table_no_link_of_the_engine_ends() -> None:
    commands, store = Commands(), Store()
    store.error = OSError("the database is away")
    await OwnerLinkSync(cast(FairPriceStore, store), cast(EngineCommands, commands)).compare()
    assert commands.lists == []
