"""A small closed-loop HTTP load: every connection sends its next request when the last one is answered.

The same client loads both sides of a comparison; it parses as little as it can, so that the servers, not the
client, use the machine.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class LoadResult:
    """What one load run saw. Latencies in seconds."""

    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    latencies_s: list[float] = field(default_factory=list)

    @property
    def requests_per_second(self) -> float:
        """Answered requests a second."""
        return sum(self.statuses.values()) / self.seconds

    def percentile_ms(self, share: float) -> float:
        """The latency below which `share` of the requests were answered, in milliseconds."""
        ordered = sorted(self.latencies_s)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def http_request(method: str, path: str, body: bytes, token: str) -> bytes:
    """The bytes of one request."""
    head = f"{method} {path} HTTP/1.1\r\nHost: benchmark\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def _connection(
    host: str, port: int, requests: Iterator[bytes], deadline: float, interval_s: float, result: LoadResult
) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        planned = time.perf_counter()
        for request in requests:
            if interval_s:
                planned += interval_s
                await asyncio.sleep(max(0.0, planned - time.perf_counter()))
            began = time.perf_counter()
            if began > deadline:
                return
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            start = head.lower().index(b"content-length:") + 15
            await reader.readexactly(int(head[start : head.index(b"\r\n", start)]))
            result.latencies_s.append(time.perf_counter() - began)
            result.statuses[int(head[9:12])] += 1
    finally:
        writer.close()


async def load(
    host: str, port: int, streams: Sequence[Iterator[bytes]], seconds: float, rate: float | None = None
) -> LoadResult:
    """Run one connection for each stream of requests until `seconds` have passed or all streams end.

    With a `rate`, that many requests a second at most, spread over the connections.
    """
    interval_s = 0.0 if rate is None else len(streams) / rate
    result = LoadResult()
    began = time.perf_counter()
    await asyncio.gather(*(_connection(host, port, stream, began + seconds, interval_s, result) for stream in streams))
    result.seconds = time.perf_counter() - began
    return result
