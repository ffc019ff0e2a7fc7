"""What a request between REST edge and order router costs over the bus, and within one process.

    .venv/bin/python -m benchmarks.local_requests [--requests 4000] [--rounds 5]

Two connections of one process to a server of their own, as REST edge and order router have them; `orders.submit` with a
reply that shows the order; 16 requests at a time. Processor time, so that other work on the machine counts little. The
sides are measured in turn; the medians are printed.
"""

import argparse
import asyncio
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import msgspec
import psutil
import uvloop

from openspot.contracts import subjects
from openspot.contracts.messages import OrderRecord, OrderRequest, SubmitOrder, SubmitOrderReply
from openspot.kit.bus import Bus, LocalSubjects, encode
from openspot.kit.settings import Settings
from openspot.up.embedded_nats import EmbeddedNats, free_port

AT_A_TIME = 16
ORDER = OrderRequest("0" * 26, "BTC-USD", "buy", "limit", "0.0042", "50000")
REQUEST = SubmitOrder("0" * 26, ORDER, 1_700_000_000_000)
RECORD = OrderRecord(
    order_id=ORDER.order_id, client_order_id=None, user_id=REQUEST.user_id, symbol=ORDER.symbol, side=ORDER.side,
    type=ORDER.type, time_in_force="gtc", margin_mode=None, price=ORDER.price, quantity="0.0042", filled_quantity="0",
    remaining_quantity="0.0042", average_price=None, fee="0", fee_currency="BTC", status="open", reject_reason=None,
    created_at="2026-01-01T00:00:00.000Z", updated_at="2026-01-01T00:00:00.000Z",
)  # fmt: skip
REPLY = SubmitOrderReply(True, RECORD)


async def answer(_: SubmitOrder) -> SubmitOrderReply:
    """Reply as a router does that has nothing to check."""
    return REPLY


async def cost(settings: Settings, server: psutil.Process, local: LocalSubjects | None, requests: int) -> list[float]:
    """Microseconds of processor time of a request: in this process, and in the server."""
    edge = await Bus.connect(settings, "edge", local=local)
    router = await Bus.connect(settings, "router", local=local)
    await router.serve(subjects.ORDERS_SUBMIT, "routers", SubmitOrder, answer, SubmitOrderReply.refused)
    await router.check()

    async def ask(number: int) -> None:
        for _ in range(number):
            await edge.request(subjects.ORDERS_SUBMIT, REQUEST, SubmitOrderReply)

    await ask(200)
    before = time.process_time(), sum(server.cpu_times()[:2])
    await asyncio.gather(*(ask(requests // AT_A_TIME) for _ in range(AT_A_TIME)))
    used = time.process_time() - before[0], sum(server.cpu_times()[:2]) - before[1]
    await edge.close()
    await router.close()
    return [1e6 * seconds / requests for seconds in used]


def codec_cost(times: int) -> float:
    """Microseconds to encode and decode one request and one reply."""
    request, reply = msgspec.json.Decoder(SubmitOrder), msgspec.json.Decoder(SubmitOrderReply)
    began = time.process_time()
    for _ in range(times):
        request.decode(encode(REQUEST))
        reply.decode(encode(REPLY))
    return 1e6 * (time.process_time() - began) / times


async def measure(settings: Settings, server: psutil.Process, requests: int, rounds: int) -> None:
    """Both sides in turn."""
    bus, within = [], []
    for _ in range(rounds):
        bus.append(await cost(settings, server, None, requests))
        within.append(await cost(settings, server, LocalSubjects(), requests))
    for name, found in (("over the bus", bus), ("in one process", within)):
        clients, servers = (statistics.median(values) for values in zip(*found, strict=True))
        print(f"{name:15} {clients:6.1f} microseconds in edge and router, {servers:6.1f} in the bus server")
    codec = statistics.median(codec_cost(requests) for _ in range(rounds))
    print(f"of which {codec:.1f} to encode and decode request and reply")


def main() -> None:
    """Start a server, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    server = EmbeddedNats(folder, free_port())
    try:
        server.start()
        assert server.process is not None
        work = measure(
            Settings(nats_url=server.url), psutil.Process(server.process.pid), options.requests, options.rounds
        )
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(work)
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
