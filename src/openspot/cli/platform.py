"""Commands of the platform as a whole: start it, show it, and stop or start one of its services."""

import asyncio
import json
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from openspot.cli.common import console, fail, platform_settings, running_settings
from openspot.kit.settings import Settings

if TYPE_CHECKING:
    from openspot.up.state import PlatformState


app = typer.Typer()


def _warn_of_slow_build() -> None:
    """Print one line if this Python is a slow build."""
    from openspot.up.interpreter import Build, slow_build

    line = slow_build(Build.of_this_python())
    if line is not None:
        console.print(f"[yellow]![/yellow] {line}", highlight=False, soft_wrap=True)


@app.command()
def up(
    ephemeral: Annotated[
        bool, typer.Option("--ephemeral", help="Start with no data, and remove the data when it stops.")
    ] = False,
    demo: Annotated[bool, typer.Option("--demo", help="Run bots that quote and trade on every market.")] = False,
) -> None:
    """Start the whole platform: embedded NATS and PostgreSQL, and every service. Ctrl-C stops it.

    A data directory has one running platform at most, ephemeral or not; the other commands connect to that one.
    """
    from openspot.up.demo import demo_settings
    from openspot.up.platform import run_platform

    settings = platform_settings()
    if demo:
        settings = demo_settings(settings)
    _warn_of_slow_build()
    raise typer.Exit(asyncio.run(run_platform(settings, console, ephemeral=ephemeral)))


ServiceName = Annotated[str, typer.Argument(help="Name of a service, as `openspot status` shows it")]


def _control(action: str, service: str) -> None:
    """Ask the running platform to do something with one of its services."""
    from openspot.kit.supervision import CONTROL_TIMEOUT_S, Action, ControlError, Request, ask
    from openspot.up.state import running_state

    state = running_state(platform_settings().data_dir.resolve())
    if state is None:
        raise fail("nothing runs; `openspot up` starts everything")
    try:
        asked = ask(state.data_dir, Request(Action(action), service), CONTROL_TIMEOUT_S)
        services = asyncio.run(asked).services
    except ControlError as error:
        raise fail(str(error)) from error
    outcome = "stopped" if action == "stop" else "ready"
    if len(services) == 1:
        console.print(f"{service} is {outcome}", highlight=False)
    else:
        console.print(f"{' and '.join(services)}, which share a process, are {outcome}", highlight=False)


@app.command()
def stop(service: ServiceName) -> None:
    """Stop one service of the running platform. The others go on, and wait for it where they need it.

    A service that shares its process stops with the other one, as `openspot status` shows.
    """
    _control("stop", service)


@app.command()
def start(service: ServiceName) -> None:
    """Start a service that was stopped, and wait until it is ready."""
    _control("start", service)


@app.command()
def restart(service: ServiceName) -> None:
    """Stop one service of the running platform and start it again, and wait until it is ready."""
    _control("restart", service)


@app.command()
def logs(
    service: Annotated[str, typer.Argument(help="Name of a service, nats, postgresql or up; all without one")] = "",
    level: Annotated[str, typer.Option(help="At least this level: debug, info, warning or error")] = "",
    lines: Annotated[int, typer.Option(help="How many of the newest lines", min=1, max=500)] = 100,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C")] = False,
) -> None:
    """Show the newest lines of the platform's log, also of one that has ended. Secrets are hidden.

    Lines that name nobody, such as the output of a crash, are shown with those of any service.
    """
    from openspot.up.log_command import LogCommandError, log_lines

    settings = running_settings(type(platform_settings()))
    try:
        for line in log_lines(settings, service, level, lines, follows=follow):
            typer.echo(line)
    except LogCommandError as error:
        raise fail(str(error)) from error
    except KeyboardInterrupt:
        return


@app.command()
def run(
    services: Annotated[
        list[str], typer.Argument(help="Name of one service, for example: ledger; or both of: rest-edge router")
    ],
) -> None:
    """Run one service alone, or REST edge and order router in one process. Addresses come from the environment."""
    from openspot.up.run import RunError
    from openspot.up.run import run as run_here

    try:
        raise typer.Exit(run_here(services))
    except RunError as error:
        raise fail(str(error)) from error


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Every address, state and process id as JSON.")] = False,
) -> None:
    """Show what runs: addresses, process ids, whether each service is ready, and a disk without space."""
    from openspot.kit.backup_outcome import backup_outcome
    from openspot.kit.disk import MEBIBYTE, Disk
    from openspot.up.state import running_state

    settings = running_settings(Settings)
    data_dir = platform_settings().data_dir.resolve()
    state = running_state(data_dir)
    if state is None:
        if as_json:
            typer.echo(json.dumps({"running": False, "dataDir": str(data_dir)}))
        else:
            console.print(f"nothing runs for {data_dir}; `openspot up` starts it")
        raise typer.Exit(1)
    ready, restarts = asyncio.run(_readiness(settings, state)), asyncio.run(_restarts(state))
    space = Disk(state.data_dir, settings.disk_reserve_mib * MEBIBYTE).space
    backup = backup_outcome(state.data_dir)
    if as_json:
        report = {
            "running": True,
            "ephemeral": state.ephemeral,
            "dataDir": str(state.data_dir),
            "supervisor": state.supervisor_pid,
            "addresses": state.addresses,
            "processes": {
                name: {"pid": pid, "ready": ready.get(name), "restarts": restarts.get(name.lower())}
                for name, pid in state.pids.items()
            },
            "stopped": [name for name in ready if name not in state.pids],
            "disk": {"state": space.state.value, "freeBytes": space.free, "totalBytes": space.total} if space else None,
            "lastBackupAgeSeconds": backup.age_s,
            "lastBackupFailure": backup.reason or None,
            "lastBackupBytes": backup.stored_bytes,
            "lastBackupNewBytes": backup.new_bytes,
        }
        typer.echo(json.dumps(report, indent=1))
    else:
        kind = "Ephemeral data" if state.ephemeral else "Data"
        for name, address in {kind: str(state.data_dir), **state.addresses}.items():
            console.print(f"{name:22} {address}", highlight=False, soft_wrap=True)
        for name, pid in state.pids.items():
            mark = {True: "ready", False: "not ready", None: "running"}[ready.get(name)]
            beside = [other for other, its in state.pids.items() if its == pid and other != name]
            shared = f" shared with {', '.join(beside)}" if beside else ""
            often = restarts.get(name.lower(), 0)
            again = f", restarted {often} times; `openspot logs {name.lower()}`" if often else ""
            console.print(f"{name:22} process {pid}{shared}, {mark}{again}", highlight=False, soft_wrap=True)
        for name in ready:
            if name not in state.pids:
                console.print(f"{name:22} stopped; `openspot start {name}` starts it", highlight=False)
        if backup.age_s is not None:
            sizes = "" if backup.new_bytes is None else f", {backup.stored_bytes:,} bytes, {backup.new_bytes:,} new"
            console.print(f"{'Last backup':22} {backup.age_s / 3600:.1f} hours ago{sizes}", highlight=False)
        if backup.reason:
            console.print(
                f"[yellow]![/yellow] the newest backup failed: {escape(backup.reason)}", highlight=False, soft_wrap=True
            )
        if space is not None and space.message:
            console.print(f"[yellow]![/yellow] {space.message}", highlight=False, soft_wrap=True)
        _warn_of_slow_build()
    raise typer.Exit(0 if all(ready.values()) else 1)


async def _restarts(state: "PlatformState") -> dict[str, int]:
    """How often each process was restarted since the platform started, by service; empty if it does not say."""
    from openspot.kit.supervision import Action, ControlError, Request, ask

    try:
        processes = (await ask(state.data_dir, Request(Action.PROCESSES))).processes
    except ControlError:
        return {}
    return {service: process.restarts for process in processes for service in process.services}


async def _readiness(settings: Settings, state: "PlatformState") -> dict[str, bool]:
    from openspot.up.services import PlatformSettings, enabled
    from openspot.up.supervisor import is_ready

    services = enabled(PlatformSettings.model_validate(state.settings))
    answers = await asyncio.gather(
        *(
            is_ready(service.listening_host(settings), service.ready_port(settings), settings.readiness_timeout_s)
            for service in services.values()
        )
    )
    return dict(zip(services, answers, strict=True))
