"""What signing costs: orders with an API key against orders with a token, at the same edge, in one run.

    .venv/bin/python -m benchmarks.rest_signed_orders [--seconds 8] [--rounds 3]

The platform is `openspot up` with throttling off. Both sides send the same limit orders over 16 connections, in turns.
A signed order is to cost at most 1.2 times a token order: in requests a second, and in processor time of the REST edge.
"""

import argparse
import asyncio
import hmac
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import aiohttp

from benchmarks.http_load import LoadResult, http_request, load
from benchmarks.rest_orders import CONNECTIONS, cpu_seconds, describe, fund_users, order_bodies
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import PlatformSettings

PATH = "/api/v1/orders"
EDGE = "rest-edge"
Key = tuple[str, str]
"""(id, secret)"""


async def make_keys(settings: PlatformSettings, tokens: list[str]) -> list[Key]:
    """An API key for the user of each token."""
    keys = []
    async with aiohttp.ClientSession(settings.rest_url) as session:
        for token in tokens:
            body, headers = {"name": "benchmark", "scopes": ["trade"]}, {"Authorization": f"Bearer {token}"}
            async with session.post("/api/v1/api-keys", json=body, headers=headers) as response:
                created = await response.json()
                assert response.status == 201, created
                keys.append((created["id"], created["secret"]))
    return keys


def signed_request(key: Key, body: bytes) -> bytes:
    """The bytes of a signed order."""
    stamp = str(time.time_ns() // 1_000_000)
    signature = hmac.digest(key[1].encode(), f"{stamp}POST{PATH}".encode() + body, "sha256").hex()
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: benchmark\r\nX-API-Key: {key[0]}\r\nX-API-Timestamp: {stamp}\r\n"
        f"X-API-Signature: {signature}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def token_streams(tokens: list[str], seed: int) -> list[Iterator[bytes]]:
    """A flow of orders with tokens for each connection."""

    def requests(number: int) -> Iterator[bytes]:
        for body in order_bodies(seed * 1000 + number):
            yield http_request("POST", PATH, body, tokens[number % len(tokens)])

    return [requests(number) for number in range(CONNECTIONS)]


def signed_streams(keys: list[Key], seed: int) -> list[Iterator[bytes]]:
    """The same flow, signed. Each order is signed when it is sent, since a signature works for some seconds only."""

    def requests(number: int) -> Iterator[bytes]:
        for body in order_bodies(seed * 1000 + number):
            yield signed_request(keys[number % len(keys)], body)

    return [requests(number) for number in range(CONNECTIONS)]


async def measure(platform: ChildPlatform, seconds: float, rounds: int) -> None:
    """Load both sides in turn and print them."""
    settings, pids = platform.settings, platform.state.pids
    tokens = await fund_users(settings)
    keys = await make_keys(settings, tokens)
    results: dict[str, list[LoadResult]] = {"token": [], "signed": []}
    used = dict.fromkeys(results, 0.0)
    for number in range(-1, rounds):
        for name in results:
            streams = token_streams(tokens, number + 1) if name == "token" else signed_streams(keys, number + 1)
            before = cpu_seconds(pids)[EDGE]
            result = await load(settings.host, settings.rest_port, streams, seconds if number >= 0 else 2)
            if number >= 0:
                used[name] += cpu_seconds(pids)[EDGE] - before
                results[name].append(result)
    rates = {name: describe(name, found) for name, found in results.items()}
    costs = {}
    for name, found in results.items():
        costs[name] = 1e6 * used[name] / sum(sum(result.statuses.values()) for result in found)
        print(f"{name:12} {costs[name]:8.0f} microseconds of processor time of the REST edge per order")
    print(f"requests/s   token / signed {rates['token'] / rates['signed']:.2f} (at most 1.20)")
    print(f"processor    signed / token {costs['signed'] / costs['token']:.2f} (at most 1.20)")


def main() -> None:
    """Start a platform, measure, stop."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="openspot-benchmark-"))
    platform = ChildPlatform(folder, {"OPENSPOT_THROTTLE_ENABLED": "false", "OPENSPOT_ONE_PROCESS": "false"})
    try:
        platform.start()
        asyncio.run(measure(platform, options.seconds, options.rounds))
    finally:
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
