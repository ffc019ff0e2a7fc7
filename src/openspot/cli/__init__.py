"""The command `openspot`. Each command imports only what it needs, so that all start quickly."""

import os

import typer

from openspot.cli import (
    archive,
    audit,
    backup,
    coins,
    custody,
    doctor,
    engine,
    market_data,
    markets,
    monitoring,
    operation,
    operators,
    order_groups,
    platform,
    providers,
    repairs,
    reports,
    reserves,
    secrets,
    trace,
    trader_commands,
    upgrade,
    users,
)
from openspot.cli.common import fail, running_settings
from openspot.market_data.command import commands as price_commands
from openspot.up.bus_command import app as bus_app
from openspot.venue_simulator.command import app as venue_simulator_app

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def main() -> None:
    """OpenSpot: a self-hosted spot exchange."""
    # Files of every command and its children are for this account alone: journal, log, snapshots, secrets, exports.
    os.umask(0o077)


app.add_typer(platform.app)
app.add_typer(operation.app)
app.add_typer(archive.archive_app, name="archive")
app.add_typer(backup.backup_app, name="backup")
app.command()(backup.restore)
app.command()(doctor.doctor)
app.command()(upgrade.upgrade)
app.command("monitoring")(monitoring.monitoring)
app.command()(trace.trace)
app.add_typer(repairs.ledger_app, name="ledger")
app.add_typer(repairs.positions_app, name="positions")
app.add_typer(engine.engine_app, name="engine")
app.add_typer(custody.custody_app, name="custody")
app.add_typer(providers.kyc_app, name="kyc")
app.add_typer(providers.payments_app, name="payments")
app.add_typer(users.users_app, name="users")
app.add_typer(operators.operators_app, name="operators")
app.add_typer(audit.audit_app, name="audit")
app.add_typer(reports.reports_app, name="reports")
app.add_typer(reserves.reserves_app, name="reserves")
app.add_typer(secrets.secrets_app, name="secrets")
app.add_typer(venue_simulator_app, name="venue-simulator")
price_app, owners_app = price_commands(running_settings, fail)
app.add_typer(price_app, name="price")
app.add_typer(owners_app, name="owners")
app.add_typer(bus_app, name="bus")
app.add_typer(market_data.market_data_app, name="market-data")
app.add_typer(markets.market_app, name="market")
app.add_typer(coins.coins_app, name="coins")
trader_commands.orders_app.add_typer(order_groups.groups_app)
app.add_typer(trader_commands.orders_app, name="orders")
