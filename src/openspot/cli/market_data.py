"""Commands of market data."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from openspot.cli.common import database_settings, error_console, fail
from openspot.kit.settings import Settings

market_data_app = typer.Typer(no_args_is_help=True, help="Check market data, and import candles.")


@market_data_app.command("verify")
def verify_candles(
    wait: Annotated[float, typer.Option(help="Seconds that the trade rows get to catch up", min=0)] = 30,
) -> None:
    """Make every candle again from the trade rows, and name each one that differs.

    Exit code 0: no difference. 1: differences. 2: could not be compared.
    """
    from openspot.market_data.verify import CandlesNotComparableError
    from openspot.market_data.verify import verify as compare

    try:
        found = asyncio.run(compare(database_settings(Settings, 2), wait))
    except CandlesNotComparableError as error:
        error_console.print(f"openspot: could not be compared: {error}", highlight=False, markup=False, soft_wrap=True)
        raise typer.Exit(2) from error
    typer.echo(
        f"{found.candles} candles of {found.trades} trades up to event {found.position.sequence}: "
        f"{found.count} differences"
    )
    for difference in found.differences:
        typer.echo(str(difference))
    raise typer.Exit(1 if found.count else 0)


@market_data_app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="CSV: symbol, interval (else 1m), time, open, high, low, close, volume")],
) -> None:
    """Give the chart a past: import candles of another venue, before each market's first trade.

    Larger intervals are made of smaller ones. A repetition changes nothing. Exit code 1: nothing was imported.
    """
    from openspot.domain.market import load_markets
    from openspot.kit.clock import utc_now
    from openspot.market_data.candle_import import CandleImportError, import_candles
    from openspot.market_data.imported_candles import CandleFileError, read_candles

    settings = database_settings(Settings)
    symbols = {seed.symbol for seed in load_markets().seeds}
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            candles = read_candles(lines, symbols, utc_now())
        done = asyncio.run(import_candles(settings.database_url, candles))
    except UnicodeDecodeError as error:
        raise fail(f"{file} is not UTF-8 text") from error
    except OSError as error:
        raise fail(f"{file} cannot be read: {error.strerror or error}") from error
    except (CandleFileError, CandleImportError) as error:
        raise fail(f"nothing was imported: {error}") from error
    typer.echo(
        f"{len(candles)} candles read: with larger intervals {done.written} written, {done.same} were there, "
        f"{done.left_out} left out because the market has traded since"
    )
