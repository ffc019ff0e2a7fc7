"""The commands that create the currencies and markets of domain/markets.toml in an empty engine."""

from openspot.domain.market import MarketConfiguration, MarketSeed
from openspot.domain.money import to_scaled
from openspot.domain.symbol import specification_error
from openspot.engine.core.records import Command, CommandKind, CreateSymbol
from openspot.engine.state.directory import Note


def seed_commands(markets: MarketConfiguration, time_ns: int) -> tuple[bytes, list[Note]]:
    """The commands and their notes, to be committed together, so that all of them are stored or none.

    Raises ValueError if a market breaks a rule of the engine.
    """
    commands: list[Command | CreateSymbol] = []
    notes: list[Note] = []
    for asset in markets.assets.values():
        commands.append(Command(CommandKind.CREATE_CURRENCY, symbol=asset.currency_id, timestamp=time_ns))
        notes.append((asset.asset, asset.asset, str(asset.places)))
    for seed in markets.seeds:
        base, quote = markets.assets[seed.base].currency_id, markets.assets[seed.quote].currency_id
        commands.append(_create_symbol(seed, base, quote, time_ns))
        notes.append((seed.symbol,))
    return b"".join(command.encode() for command in commands), notes


def _create_symbol(seed: MarketSeed, base: int, quote: int, time_ns: int) -> CreateSymbol:
    tick, lot = to_scaled(seed.tick, seed.quote_scale_k), to_scaled(seed.lot, seed.base_scale_k)
    fault = specification_error(
        seed.base_scale_k, seed.quote_scale_k, tick, lot, seed.taker_fee_bps, seed.maker_fee_bps
    )
    if fault:
        raise ValueError(f"market {seed.symbol}: {fault}")
    return CreateSymbol(
        symbol=seed.symbol_id,
        timestamp=time_ns,
        base=base,
        quote=quote,
        base_scale_k=seed.base_scale_k,
        quote_scale_k=seed.quote_scale_k,
        tick=tick,
        lot=lot,
        taker_fee_bps=seed.taker_fee_bps,
        maker_fee_bps=seed.maker_fee_bps,
    )
