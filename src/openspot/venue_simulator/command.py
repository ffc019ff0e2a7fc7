"""The command of the simulated venue: `openspot venue-simulator`, or `python -m openspot.venue_simulator`."""

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from openspot.venue_simulator.events import EventSource
    from openspot.venue_simulator.server import Simulator

DEFAULT_PORT = 3013

app = typer.Typer(add_completion=False, help="A simulated venue that speaks the spot protocol of Binance.")


@app.callback(invoke_without_command=True)
def venue_simulator(
    recording: Annotated[Path | None, typer.Option(help="Recorded messages, plain or .gz, for their markets")] = None,
    only_recording: Annotated[bool, typer.Option(help="Leave out the markets that are not recorded")] = False,
    loop: Annotated[bool, typer.Option(help="Start the recording again at its end")] = False,
    speed: Annotated[float, typer.Option(min=0, help="1: real time; 0: as fast as clients read")] = 1.0,
    seed: Annotated[int, typer.Option(help="Seed of the invented messages and of the faults")] = 1,
    quotes_per_s: Annotated[float, typer.Option(min=0.1, max=1000, help="Invented quotes a second and market")] = 2.0,
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port to listen on; 0: any")] = DEFAULT_PORT,
    gaps: Annotated[float, typer.Option(min=0, max=1, help="Share of messages that are not sent")] = 0.0,
    duplicates: Annotated[float, typer.Option(min=0, max=1, help="Share that is sent twice")] = 0.0,
    garbage: Annotated[float, typer.Option(min=0, max=1, help="Share that follows a frame of garbage")] = 0.0,
    unknown_markets: Annotated[float, typer.Option(min=0, max=1, help="Share that follows one of another market")] = 0,
    disconnect_after: Annotated[int, typer.Option(min=0, help="Messages before a connection is cut; 0: never")] = 0,
    pause_ms: Annotated[float, typer.Option(min=0, help="Pause before each message of a connection")] = 0.0,
    silent: Annotated[bool, typer.Option(help="Accept connections and send nothing")] = False,
) -> None:
    """Serve until Ctrl-C."""
    from openspot.venue_simulator.faults import Faults
    from openspot.venue_simulator.recording import RecordingError
    from openspot.venue_simulator.server import Simulator

    if only_recording and recording is None:
        raise typer.BadParameter("--only-recording needs --recording")
    try:
        source = make_source(recording, loop=loop, invents=not only_recording, seed=seed, quotes_per_s=quotes_per_s)
    except RecordingError as error:
        raise typer.BadParameter(str(error), param_hint="--recording") from error
    faults = Faults(
        gap_rate=gaps,
        duplicate_rate=duplicates,
        garbage_rate=garbage,
        unknown_market_rate=unknown_markets,
        disconnect_after=disconnect_after,
        pause_s=pause_ms / 1000,
        is_silent=silent,
    )
    simulator = Simulator(source, host=host, port=port, speed=speed, seed=seed, faults=faults)
    try:
        asyncio.run(_serve(simulator))
    except OSError as error:
        typer.echo(f"openspot: port {port} cannot be used: {error}", err=True)
        raise typer.Exit(1) from error


def make_source(path: Path | None, *, loop: bool, invents: bool, seed: int, quotes_per_s: float) -> "EventSource":
    """Recorded events for the markets in `path`, invented ones for the others. Raises RecordingError."""
    from openspot.domain.market import load_markets
    from openspot.venue_simulator.generator import Generator
    from openspot.venue_simulator.merged import MergedSource
    from openspot.venue_simulator.recording import Recording

    if path is None:
        return Generator(seed, quotes_per_s=quotes_per_s)
    recording = Recording(path, loop=loop)
    if not invents:
        return recording
    others = [market for market in load_markets().seeds if market not in recording.markets]
    return MergedSource([recording, Generator(seed, others, quotes_per_s)])


async def _serve(simulator: "Simulator") -> None:
    from openspot.kit.tasks import run_until

    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await simulator.start()
    typer.echo(f"simulated venue: REST {simulator.rest_url}, WebSocket {simulator.ws_url}")
    typer.echo(f"OPENSPOT_VENUE=binance OPENSPOT_VENUE_CONFIG='{simulator.adapter_config}'")

    async def play() -> None:
        events = await simulator.play()
        typer.echo(f"the recording has ended after {events} events; connections stay open")
        await stop.wait()

    try:
        await run_until(stop, play())
    finally:
        await simulator.stop()
