"""The matching engine as a service: the engine with its HTTP, event stream, gRPC and frame servers."""

import asyncio
import gc
import sys
from typing import Any

from openspot.engine.admin.action_routes import action_router
from openspot.engine.admin.listing_routes import admin_routers
from openspot.engine.admin.listing_schedule import ListingSchedule
from openspot.engine.admin.market_listing_routes import market_listing_routers, market_listings_of
from openspot.engine.admin.service import AdminService, for_console
from openspot.engine.engine import Engine
from openspot.engine.intake.sequencer import EngineStoppedError
from openspot.engine.settings import EngineSettings
from openspot.engine.transport.frame_service import EngineFrames
from openspot.engine.transport.grpc_server import GrpcServer
from openspot.engine.transport.http_app import make_engine_app
from openspot.http.server import http_server
from openspot.kit.health import Health
from openspot.kit.log import get_logger
from openspot.kit.secrets_file import with_secrets
from openspot.kit.service_frame import ServiceFrame

log = get_logger("engine")

THREAD_SWITCH_S = 0.0005
"""The longest time that the committing thread waits for the interpreter while the event loop is busy."""
SPACE_POLL_INTERVAL_S = 1.0
_STREAM_MESSAGE_BYTES_MAX = 4096


class EngineHealth(Health):
    """Health checks of the engine; the report also names the running core."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self._core = engine.machine.core.name
        self._engine = engine
        self.add("journal", self._check_journal, vital=True)
        self.add("events", self._check_events)

    async def _check_journal(self) -> None:
        self._engine.sequencer.check()

    async def _check_events(self) -> None:
        if self._engine.events.fault:
            raise RuntimeError(self._engine.events.fault)

    async def report(self, *, vital_only: bool) -> tuple[int, dict[str, Any]]:
        """(status code, body). The details include the core."""
        status, body = await super().report(vital_only=vital_only)
        core = {"status": "up", "name": self._core}
        return status, body | {
            "info": body["info"] | {"core": core},
            "details": body["details"] | {"core": core},
        }


async def run(settings: EngineSettings, stop: asyncio.Event) -> None:
    """Run the engine until `stop` is set.

    Raises JournalLockedError, JournalDamagedError, EventStoreError, CoreUnavailableError, PortTakenError, and
    EngineStoppedError if the engine must start anew from its journal.
    """
    settings = with_secrets(settings)
    sys.setswitchinterval(THREAD_SWITCH_S)
    engine = await Engine.open(settings)
    # The recovered state lives as long as the process, so the garbage collector need not scan it.
    gc.collect()
    gc.freeze()
    admin = AdminService(engine)
    grpc_server, frames = GrpcServer(engine, admin), EngineFrames(engine)
    routers = [*admin_routers(engine), *market_listing_routers(engine), action_router(engine), *admin.routers()]
    async with ServiceFrame("engine", settings, stop, EngineHealth(engine)) as frame:
        frame.at_end(engine.close)
        frame.at_end(admin.close)
        application = make_engine_app(engine, frame.health, routers, admin.authenticators)
        server = http_server(
            for_console(application, settings.console_origins),
            settings,
            settings.engine_http_port,
            settings.engine_host,
            websocket=True,
            ws_per_message_deflate=False,
            ws_max_size=_STREAM_MESSAGE_BYTES_MAX,
        )
        frame.at_end(server.stop)
        # A request that waits would outlive the time that a server has to stop.
        frame.at_end(engine.board.end)
        frame.at_end(grpc_server.stop)
        frame.at_end(frames.stop)
        await admin.start()
        await grpc_server.start()
        await frames.start()
        await server.start()
        log.info(
            "the engine is ready",
            core=engine.machine.core.name,
            journal=str(engine.journal_path),
            epoch=engine.epoch,
            http=settings.engine_url,
            grpc=settings.engine_grpc_address,
            frames=":".join(map(str, settings.engine_frames_address)),
        )
        frame.start("journal", _raise_fault(engine))
        frame.start("listings", ListingSchedule(engine, market_listings_of(engine)).run())
        await frame.until_stopped()


async def _raise_fault(engine: Engine) -> None:
    """Wait until the engine must start anew from its journal. Raises EngineStoppedError then.

    That is at once if only a replay can tell what the journal holds. After the journal found no space, reads go on, and
    it is when the disk, having been full, has space again. If the disk never looked full (a quota, for example), a
    restart would not help: the engine waits for the operator.
    """
    await engine.sequencer.stopped.wait()
    was_full = False
    while engine.sequencer.is_short_of_space:
        space = engine.disk.look()
        is_full = space is not None and not space.is_writable
        if was_full and not is_full:
            raise EngineStoppedError("the disk has space again: the engine starts anew from its journal")
        was_full = is_full
        await asyncio.sleep(SPACE_POLL_INTERVAL_S)
    await engine.sequencer.fault
