"""How a router asks the engine for its symbols at start (facts A8-09 to A8-11)."""

import asyncio

import pytest

from openspot.domain.market import load_markets
from openspot.domain.symbol import SymbolSpec
from openspot.engine_client.errors import EngineUnreachableError
from openspot.router.orders.symbols import Symbols, SymbolsUnavailableError
from openspot.router.settings import RouterSettings


@pytest.mark.spec("A8-09", "A8-10", "A8-11")
async def test_the_symbols_are_asked_for_ten_times_two_seconds_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    async def load() -> dict[str, SymbolSpec]:
        steps.append("load")
        raise EngineUnreachableError("nobody is there")

    async def pause(seconds: float) -> None:
        steps.append(f"{seconds:g} s")

    monkeypatch.setattr(asyncio, "sleep", pause)
    settings = RouterSettings()
    with pytest.raises(SymbolsUnavailableError, match="no symbols after 10 attempts: nobody is there"):
        await Symbols(load_markets(), load).load(settings.symbol_load_attempts, settings.symbol_load_pause_s)
    assert steps == ["load", *["2 s", "load"] * 9]


async def test_the_list_of_markets_is_read_before_the_symbols_and_again_after_a_failure() -> None:
    steps: list[str] = []

    async def load() -> dict[str, SymbolSpec]:
        steps.append("symbols")
        return {}

    async def read_list() -> None:
        steps.append("list")
        if len(steps) == 1:
            raise EngineUnreachableError("nobody is there")

    symbols = Symbols(load_markets(), load, read_list)
    await symbols.load(2, 0)
    assert steps == ["list", "list", "symbols"]
    await symbols.refresh()
    assert steps[3:] == ["symbols"], "a change of the list reloads the symbols alone"
