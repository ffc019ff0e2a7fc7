"""Three NATS servers on loopback that are one cluster, each with its store, to be killed and brought back."""

import asyncio
from collections.abc import Collection, Iterable
from pathlib import Path

import nats
import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.js.api import ClusterInfo, StoreCompression

from openspot.up.embedded_nats import EmbeddedNats
from openspot.up.nats_configuration import NatsClusterNode, NatsConfiguration
from tests.support.ports import free_port
from tests.support.waiting import eventually, stretched

NODES = 3
FORMED_S_MAX = 120.0
_CALL_TIMEOUT_S = stretched(2)
_NOT_YET = (nats.errors.Error, nats.js.errors.Error, OSError, TimeoutError)


class NatsCluster:
    """The nodes, by the names node-1, node-2 and node-3. Started with `start`, ended with `stop`."""

    def __init__(self, folder: Path) -> None:
        routes = {f"node-{number + 1}": f"nats://127.0.0.1:{free_port()}" for number in range(NODES)}
        self.nodes = {
            name: EmbeddedNats(
                folder / name,
                free_port(),
                configuration=NatsConfiguration(
                    server_name=name,
                    cluster=NatsClusterNode(
                        "faults", address, tuple(other for other in routes.values() if other != address)
                    ),
                ),
            )
            for name, address in routes.items()
        }
        self._streams: set[str] = set()

    @property
    def addresses(self) -> str:
        """What NATS_URL takes."""
        return ",".join(node.url for node in self.nodes.values())

    def start(self, *names: str) -> None:
        """Start these nodes, or all of them, on their existing stores."""
        for name in names or self.nodes:
            self.nodes[name].start()

    def kill(self, *names: str) -> None:
        """Kill -9 these nodes."""
        for name in names:
            self.nodes[name].kill()

    def stop(self) -> None:
        """End all nodes."""
        for node in self.nodes.values():
            node.stop()

    async def formed(self) -> None:
        """Wait until the cluster answers, and every known stream and bucket has a leader and two current copies."""
        missing: dict[str, object] = {}

        async def is_whole() -> bool:
            names = sorted(self._streams)
            clusters = await self._clusters(names)
            missing.clear()
            if clusters is None:
                missing["cluster"] = "no reply"
            else:
                missing.update({name: one for name, one in zip(names, clusters, strict=True) if not _is_whole(one)})
            return not missing

        try:
            await eventually(is_whole, FORMED_S_MAX, 0.2)
        except AssertionError as error:
            error.add_note(f"not whole: {missing}")
            raise

    async def leader_of(self, stream: str) -> str:
        """Wait until a stream has a leader, and return the node's name."""

        async def leader() -> str | None:
            clusters = await self._clusters([stream])
            return clusters[0].leader if clusters and clusters[0] is not None else None

        return await eventually(leader, FORMED_S_MAX, 0.2)

    async def copies(self, streams: Collection[str]) -> dict[str, int]:
        """Wait until these streams and buckets exist, and return how many nodes keep each.

        `formed` checks these streams from now on.
        """
        clusters = await eventually(lambda: self._clusters(streams), FORMED_S_MAX, 0.2)
        self._streams = set(streams)
        return {
            name: 1 + len(cluster.replicas or ()) if cluster is not None else 1
            for name, cluster in zip(streams, clusters, strict=True)
        }

    async def compressed(self, streams: Collection[str]) -> set[str | None]:
        """The streams of these that the cluster compresses."""
        client = await self._client()
        try:
            jetstream = client.jetstream(timeout=_CALL_TIMEOUT_S)
            infos = [await jetstream.stream_info(name) for name in streams]
        finally:
            await client.close()
        return {
            name for name, info in zip(streams, infos, strict=True) if info.config.compression == StoreCompression.S2
        }

    async def _clusters(self, streams: Iterable[str]) -> list[ClusterInfo | None] | None:
        """What the cluster says of each stream; None if it does not reply."""
        try:
            client = await self._client()
        except _NOT_YET:
            return None
        try:
            jetstream = client.jetstream(timeout=_CALL_TIMEOUT_S)
            await jetstream.account_info()
            # One by one: a cluster that is coming back lists the streams that answer in time, and no others.
            return [(await jetstream.stream_info(name)).cluster for name in streams]
        except _NOT_YET:
            return None
        finally:
            await client.close()

    async def _client(self) -> Client:
        async with asyncio.timeout(_CALL_TIMEOUT_S):
            return await nats.connect(
                [node.url for node in self.nodes.values()], allow_reconnect=False, error_cb=_note_nothing
            )


def _is_whole(cluster: ClusterInfo | None) -> bool:
    return (
        cluster is not None
        and bool(cluster.leader)
        and len(cluster.replicas or ()) == NODES - 1
        and all(copy.current and not copy.offline for copy in cluster.replicas or ())
    )


async def _note_nothing(_: Exception) -> None:
    """Do nothing: an error that matters is also raised."""
