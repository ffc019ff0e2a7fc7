"""An edge of this process before an engine and a router in processes of their own, each of which can be killed."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp

from openspot.kit.settings import Settings
from tests.support.engine_client import EngineClient, EngineProcess, engine_process
from tests.support.in_process_platform import running
from tests.support.rest_client import RestClient
from tests.support.router_client import RouterProcess, router_process
from tests.support.service_process import ServiceProcess
from tests.support.waiting import START_S_MAX, eventually


class Platform:
    """The processes, and how to bring them back."""

    def __init__(self, rest: RestClient, engine: EngineClient, child: EngineProcess, router: RouterProcess) -> None:
        self.rest, self.engine, self.child, self.router = rest, engine, child, router

    async def restart_engine(self) -> None:
        """Wait until the engine is dead, and start it again."""
        assert self.child.process is not None
        await asyncio.to_thread(self.child.process.wait)
        self.child.start()
        await self.child.ready(self.engine)

    async def events(self) -> Counter[str]:
        """How many events of each type the engine has."""
        return Counter(event["type"] for event in await self.engine.events(1, await self.engine.last_sequence()))

    async def has_gone_on(self, sequence: int) -> bool:
        """Whether the engine has events after this one."""
        return await self.engine.last_sequence() > sequence


class EdgeProcess(ServiceProcess):
    """A REST edge as a child process."""

    def __init__(self, settings: Settings, preparation: str = "") -> None:
        """`preparation` is Python that the child runs before the edge."""
        code = (
            f"{preparation}\n"
            "from openspot.rest_edge.service import run\n"
            "from openspot.rest_edge.settings import RestEdgeSettings\n"
            'sys.exit(run_service("rest-edge", run, RestEdgeSettings()))'
        )
        super().__init__(settings, code, f"rest-edge-{settings.rest_port}.log")

    async def ready(self, rest: RestClient) -> None:
        """Wait until it answers. Fails with its log if it has ended."""

        async def is_alive() -> bool:
            assert self.exit_code is None, self.log()
            try:
                return (await rest("GET", "/health/live")).status == 200
            except aiohttp.ClientError:
                return False

        await eventually(is_alive, START_S_MAX)


@asynccontextmanager
async def backend(settings: Settings, preparation: str = "") -> AsyncIterator[Platform]:
    """Engine and router under the complete rules, with funds of alice and bob; no edge."""
    async with engine_process(settings, preparation) as (child, engine):
        await engine.fund("alice")
        await engine.fund("bob")
        async with router_process(settings) as router:
            rest = RestClient(settings)
            try:
                yield Platform(rest, engine, child, router)
            finally:
                await rest.close()


@asynccontextmanager
async def platform(settings: Settings, preparation: str = "") -> AsyncIterator[Platform]:
    """The whole, with the edge in this process."""
    complete = settings.model_copy(update={"rules": "complete"})
    async with backend(complete, preparation) as processes, running(complete, "rest-edge"):
        yield processes


@asynccontextmanager
async def platform_with_edge_process(settings: Settings) -> AsyncIterator[tuple[Platform, EdgeProcess]]:
    """The whole, with the edge in a process of its own."""
    complete = settings.model_copy(update={"rules": "complete"})
    async with backend(complete) as processes:
        edge = EdgeProcess(complete)
        edge.start()
        try:
            await edge.ready(processes.rest)
            yield processes, edge
        finally:
            if edge.exit_code is None:
                edge.kill()
