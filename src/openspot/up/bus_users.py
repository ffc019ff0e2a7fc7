"""The users of the embedded NATS: one for each process, one for the operator's commands, and the keeper.

Two accounts of the server keep the streams apart from the processes (docs/adr/0030-the-supervisor-prepares-the-bus.md):

- `STORE` has the streams, durable consumers and buckets. Its one user, the keeper, belongs to `openspot up`, which
  makes them.
- `EXCHANGE` has all processes and the operator. They reach of `STORE` what the descriptors need and nothing else: to
  publish to a stream, to acknowledge what a consumer delivers, to read a bucket, to ask for a consumer's progress.

Within `EXCHANGE` each user may publish and subscribe to what its descriptor says, and nothing else. The accounts are
needed beside that: the server sends its own replies (to an acknowledgement, for example) to whatever subject the user
names, and no permission bounds that. From `EXCHANGE` such a reply reaches no stream, no bucket and no request of the
server.
"""

import secrets
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from openspot.contracts import subjects
from openspot.contracts.streams import STREAMS, StreamConsumer, StreamDefinition
from openspot.kit.description import BusAccess
from openspot.up.nats_configuration import NatsAccount, NatsImport, NatsPermissions, NatsUser, Shared
from openspot.up.services import DESCRIPTORS, SERVICES

OPERATOR = "operator"
"""The user of commands: `openspot deposit`, `replay`, `reconcile`. It may subscribe to everything, to find faults, and
publish what the commands need. Whoever can read its password can read all others, which are in the same file."""
KEEPER = "keeper"
"""The user of `openspot up` itself. It may do everything with the streams, and hears none of the requests."""
STORE, EXCHANGE = "STORE", "EXCHANGE"
API_PREFIX = "BUS.API"
"""Where the processes send their few requests about streams (setting `nats_api_prefix`)."""
PASSWORD_BYTES = 24
_JETSTREAM = "$JS.API"


class Reach(NamedTuple):
    """What a process uses of the streams: subjects to send to, and requests to the server, without their prefix."""

    sends: tuple[str, ...]
    asks: tuple[str, ...]
    hears: tuple[str, ...]


ACCESSES: dict[str, tuple[BusAccess, ...]] = {
    **{name: (process.bus,) for name, process in SERVICES.items() if process.bus is not None},
    OPERATOR: tuple(found.bus for found in DESCRIPTORS if found.bus is not None),
}
"""What each user may do, by its name."""


def new_passwords(known: Mapping[str, str]) -> dict[str, str]:
    """A password for every user. Those that are `known` stay as they are."""
    return {name: known.get(name) or secrets.token_urlsafe(PASSWORD_BYTES) for name in (*ACCESSES, KEEPER)}


def bus_accounts(passwords: Mapping[str, str]) -> tuple[NatsAccount, NatsAccount]:
    """The accounts of the embedded server, with all users."""
    users = (NatsUser(name, passwords[name], permissions=permissions(name)) for name in ACCESSES)
    return (
        NatsAccount(STORE, (NatsUser(KEEPER, passwords[KEEPER]),), jetstream=True),
        NatsAccount(EXCHANGE, tuple(users), imports=tuple(_imports())),
    )


def url_of(server_url: str, name: str, password: str) -> str:
    """The server's address with the credentials of a user. Names and passwords need no escaping in a URL."""
    return urlsplit(server_url)._replace(netloc=f"{name}:{password}@{urlsplit(server_url).netloc}").geturl()


def permissions(name: str) -> NatsPermissions:
    """What a user may do. It has its own inboxes, so it cannot read replies to others, unless it is the operator.

    It may publish to the inboxes of those who may ask it. It must not reply wherever a request says: it could send such
    a request to itself.
    """
    publish = {f"{subjects.inbox_of(name)}.>"}
    subscribe = {f"{subjects.inbox_of(name)}.>"}
    for access in ACCESSES[name]:
        reach = _reach(access)
        publish.update(access.publishes, access.requests, reach.sends, (f"{API_PREFIX}.{ask}" for ask in reach.asks))
        publish.update(f"{subjects.inbox_of(caller)}.>" for caller in _callers(access))
        subscribe.update(access.subscribes, access.serves, reach.hears)
    return NatsPermissions(tuple(sorted(publish)), (">",) if name == OPERATOR else tuple(sorted(subscribe)))


def _callers(access: BusAccess) -> Iterator[str]:
    """The users who may send requests that a process with this access serves."""
    for name, others in ACCESSES.items():
        if any(subject in access.serves for other in others for subject in other.requests):
            yield name


def _reach(access: BusAccess) -> Reach:
    sends: list[str] = []
    asks: list[str] = []
    hears: list[str] = []
    for consumer in access.consumes:
        sends.append(f"$JS.ACK.{_path(consumer)}.>")
        asks.append(f"CONSUMER.INFO.{_path(consumer)}")
        hears.append(f"deliver.{consumer.durable}")
    for consumer in access.inspects:
        asks += [f"CONSUMER.INFO.{_path(consumer)}", f"STREAM.MSG.GET.{consumer.stream.name}"]
    written = [bucket.name for bucket in access.writes_buckets]
    sends += [f"$KV.{bucket}.>" for bucket in written]
    for bucket in (*access.reads_buckets, *written):
        # A watch hears that somebody writes, and then reads.
        asks.append(f"STREAM.MSG.GET.KV_{bucket}")
        hears.append(f"$KV.{bucket}.>")
    return Reach(tuple(sends), tuple(asks), tuple(hears))


def _path(consumer: StreamConsumer) -> str:
    return f"{consumer.stream.name}.{consumer.durable}"


def _imports() -> Iterator[NatsImport]:
    """What the processes have of the account of the streams."""
    reaches = [_reach(access) for accesses in ACCESSES.values() for access in accesses]
    sends = {subject for stream in STREAMS for subject in stream.subjects}
    sends |= {subject for reach in reaches for subject in reach.sends}
    for subject in sorted(sends):
        yield NatsImport(Shared.SERVICE, STORE, subject)
    for ask in sorted({ask for reach in reaches for ask in reach.asks}):
        yield NatsImport(Shared.SERVICE, STORE, f"{_JETSTREAM}.{ask}", f"{API_PREFIX}.{ask}")
    delivered = {subject for reach in reaches for subject in reach.hears if subject.startswith("deliver.")}
    for subject in sorted(delivered | {subject for stream in STREAMS for subject in republished(stream)}):
        yield NatsImport(Shared.STREAM, STORE, subject)


def republished(stream: StreamDefinition) -> Iterator[str]:
    """The subjects on which the server publishes the messages of a stream a second time."""
    if stream.republish is None:
        return
    pattern, destination = stream.republish
    for subject in stream.subjects:
        pairs = zip(pattern.split("."), subject.split("."), strict=True)
        found = destination
        for number, value in enumerate((part for wanted, part in pairs if wanted == "*"), 1):
            found = found.replace(f"{{{{wildcard({number})}}}}", value)
        yield found
