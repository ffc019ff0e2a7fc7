"""The users of the embedded NATS: one for each process, and one for the operator's commands.

Each may publish and subscribe to what its descriptor says, and nothing else. Each start makes new
passwords. They are in the server's configuration and in the processes' environment, which only their owner can read.
"""

import secrets
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from openspot.contracts import subjects
from openspot.contracts.streams import STREAMS
from openspot.kit.description import BusAccess, StreamConsumer
from openspot.up.nats_configuration import NatsPermissions, NatsUser
from openspot.up.services import DESCRIPTORS, SERVICES

OPERATOR = "operator"
"""The user of commands: `openspot deposit`, `replay`, `reconcile`. It may subscribe to everything, to find faults, and
publish what the commands need. Whoever can read its password can read all others, which are in the same file."""
PASSWORD_BYTES = 24
_JETSTREAM = "$JS.API"


def bus_users() -> dict[str, NatsUser]:
    """A user with a fresh password for every process that uses the bus, by its name, and the operator."""
    accesses = {name: process.bus for name, process in SERVICES.items()}
    users = {name: permissions(name, [access]) for name, access in accesses.items() if access is not None}
    users[OPERATOR] = permissions(
        OPERATOR, [found.bus for found in DESCRIPTORS if found.bus is not None], hears_all=True
    )
    return {
        name: NatsUser(name, secrets.token_urlsafe(PASSWORD_BYTES), permissions=allowed)
        for name, allowed in users.items()
    }


def url_of(server_url: str, user: NatsUser) -> str:
    """The server's address with the credentials of a user. Names and passwords need no escaping in a URL."""
    return urlsplit(server_url)._replace(netloc=f"{user.name}:{user.password}@{urlsplit(server_url).netloc}").geturl()


def permissions(user: str, accesses: Sequence[BusAccess], *, hears_all: bool = False) -> NatsPermissions:
    """What a user may do. It has its own inboxes, so it cannot read replies to others unless it `hears_all`."""
    inboxes = f"{subjects.inbox_of(user)}.>"
    publish = {subject for access in accesses for subject in _published(access)}
    subscribe = {subject for access in accesses for subject in _subscribed(access)}
    return NatsPermissions(
        publish=tuple(sorted({*publish, inboxes})),
        subscribe=(">",) if hears_all else tuple(sorted({*subscribe, inboxes})),
        replies=any(access.serves for access in accesses),
    )


def _published(access: BusAccess) -> Iterator[str]:
    yield from (*access.publishes, *access.requests)
    if access.makes_streams:
        for stream in STREAMS:
            for action in ("INFO", "CREATE", "UPDATE"):
                yield f"{_JETSTREAM}.STREAM.{action}.{stream.name}"
    for consumer in access.consumes:
        yield from _consuming(consumer)
    for consumer in access.inspects:
        yield f"{_JETSTREAM}.CONSUMER.INFO.{consumer.stream.name}.{consumer.durable}"
        yield f"{_JETSTREAM}.STREAM.MSG.GET.{consumer.stream.name}"
    for bucket in (*access.reads_buckets, *access.writes_buckets):
        yield from _reading(f"KV_{bucket}")
    for bucket in access.writes_buckets:
        yield f"$KV.{bucket}.>"


def _subscribed(access: BusAccess) -> Iterator[str]:
    yield from (*access.subscribes, *access.serves)
    for consumer in access.consumes:
        yield f"deliver.{consumer.durable}"


def _consuming(consumer: StreamConsumer) -> Iterator[str]:
    name = f"{consumer.stream.name}.{consumer.durable}"
    yield f"{_JETSTREAM}.CONSUMER.CREATE.{name}"
    yield f"{_JETSTREAM}.CONSUMER.CREATE.{name}.>"
    yield f"{_JETSTREAM}.CONSUMER.DURABLE.CREATE.{name}"
    yield f"{_JETSTREAM}.CONSUMER.INFO.{name}"
    yield f"$JS.ACK.{name}.>"


def _reading(stream: str) -> Iterator[str]:
    """The subjects for looking up keys of a bucket, watching it, and creating it if it is missing."""
    yield f"{_JETSTREAM}.STREAM.INFO.{stream}"
    yield f"{_JETSTREAM}.STREAM.CREATE.{stream}"
    yield f"{_JETSTREAM}.STREAM.MSG.GET.{stream}"
    yield f"{_JETSTREAM}.DIRECT.GET.{stream}"
    yield f"{_JETSTREAM}.DIRECT.GET.{stream}.>"
    yield f"{_JETSTREAM}.CONSUMER.CREATE.{stream}"
    yield f"{_JETSTREAM}.CONSUMER.CREATE.{stream}.>"
