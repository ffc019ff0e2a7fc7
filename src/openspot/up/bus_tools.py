"""What `openspot bus credentials` and `openspot bus prepare` do. Both return what to print."""

import asyncio

from openspot.kit.bus import BusError
from openspot.kit.settings import Settings
from openspot.up.bus_keeper import BusKeeper, needs_of
from openspot.up.bus_users import ACCESSES, OPERATOR
from openspot.up.state import running_state


class BusCommandError(Exception):
    """The command cannot do what it should; the message says what to do."""


def credentials_of(service: str, settings: Settings) -> str:
    """The environment of a service that runs elsewhere and uses the embedded bus of the platform that runs here.

    Raises BusCommandError.
    """
    if service not in ACCESSES or service == OPERATOR:
        names = ", ".join(sorted(name for name in ACCESSES if name != OPERATOR))
        raise BusCommandError(f"{service!r} does not use the bus; one of: {names}")
    state = running_state(settings.data_dir)
    if state is None:
        raise BusCommandError(f"nothing runs for {settings.data_dir.resolve()}: start `openspot up` first")
    if service not in state.bus_urls:
        raise BusCommandError("the bus is the one of NATS_URL: its own configuration says who may connect")
    prefix = state.settings.get("nats_api_prefix", "")
    return f"NATS_URL={state.bus_urls[service]}\nOPENSPOT_NATS_API_PREFIX={prefix}\nOPENSPOT_NATS_SYNCED=true"


def prepare(settings: Settings) -> str:
    """Make streams, consumers and buckets on the bus of NATS_URL. Returns what to tell the operator.

    Raises BusCommandError.
    """
    if not settings.nats_url:
        raise BusCommandError(
            "set NATS_URL to the address of your NATS, with a user that may make streams; "
            "`openspot up` prepares the embedded one itself"
        )
    given = settings.model_copy(update={"nats_api_prefix": ""})
    try:
        asyncio.run(_prepared(given))
    except (BusError, TimeoutError) as error:
        raise BusCommandError(f"the bus could not be prepared: {str(error) or repr(error)}") from error
    needs = needs_of(settings)
    return (
        f"{len(needs.streams)} streams, {len(needs.consumers)} consumers and {len(needs.buckets)} buckets are there. "
        "Services whose user may make none need OPENSPOT_NATS_API_PREFIX=$JS.API"
    )


async def _prepared(settings: Settings) -> None:
    keeper = BusKeeper(settings)
    try:
        await keeper.open()
    finally:
        await keeper.close()
