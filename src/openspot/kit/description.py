"""How a package describes itself: its processes, settings, tables and subjects, in its `descriptor.py`.

`openspot up`, `run` and `status`, the settings page, the OpenAPI documents, the table in ARCHITECTURE.md, the
permissions on the embedded bus and the fixtures of the tests are derived from the descriptors. A `descriptor.py` is
cheap to import: it names the modules that do the work instead of importing them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from openspot.contracts.streams import StreamConsumer
from openspot.kit.service import ServiceMain
from openspot.kit.settings import Settings


@dataclass(frozen=True, slots=True)
class Listener:
    """A port of a process. `setting` names the settings field of its number.

    `danger` says what strangers could do if they reach the port or read its traffic. A process with such a port may
    listen on loopback only, unless `OPENSPOT_TRUSTED_NETWORK` is set.
    """

    setting: str
    purpose: str
    danger: str = ""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A key-value bucket. `life_s` makes from the settings for how many seconds an entry lives; None: forever."""

    name: str
    life_s: Callable[[Any], float | None] = lambda _: None


@dataclass(frozen=True, slots=True)
class BusAccess:
    """What a process does on the bus, as subjects in which `*` and `>` are NATS wildcards.

    It replies to requests on `serves`, sends requests to `requests`, publishes on `publishes`, and follows `subscribes`
    and `consumes`. It reads the key-value buckets in `reads_buckets`, and reads and writes those in `writes_buckets`.
    It asks the server for the progress of the consumers in `inspects`. Streams, consumers and buckets are made for it
    (docs/adr/0030-the-supervisor-prepares-the-bus.md).
    """

    serves: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    publishes: tuple[str, ...] = ()
    subscribes: tuple[str, ...] = ()
    consumes: tuple[StreamConsumer, ...] = ()
    reads_buckets: tuple[str, ...] = ()
    writes_buckets: tuple[Bucket, ...] = ()
    inspects: tuple[StreamConsumer, ...] = ()


@dataclass(frozen=True, slots=True)
class Process:
    """A process of a service. `host` names the settings field of its own listening address.

    The first of `listeners` serves /ready. The process starts after those in `after` are ready, and stops before those
    in `uses`. `secrets_checked` names the settings fields of the secrets with which callers authenticate.

    If `enabled_by` names settings fields, `openspot up` runs the process only when one of them is not empty. It waits
    until `started_path` returns 200: /ready, or a path that does not depend on servers outside the platform.
    """

    name: str
    title: str
    module: str
    host: str
    listeners: tuple[Listener, ...]
    after: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    secrets_checked: tuple[str, ...] = ()
    bus: BusAccess | None = None
    enabled_by: tuple[str, ...] = ()
    started_path: str = "/ready"

    def main(self) -> ServiceMain:
        """The async function that runs the process. It is imported here: a process loads only its own service."""
        run: ServiceMain = import_module(self.module).run
        return run

    def listening_host(self, settings: Settings) -> str:
        """The address that the process listens on: its own, or else that of every process."""
        host: str = getattr(settings, self.host)
        return host or settings.host

    def is_enabled(self, settings: Settings) -> bool:
        """Whether `openspot up` runs the process with these settings."""
        return not self.enabled_by or any(getattr(settings, field) for field in self.enabled_by)

    def ready_port(self, settings: Settings) -> int:
        """The port that serves /ready."""
        port: int = getattr(settings, self.listeners[0].setting)
        return port


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables and sequences of the database. Only the owner of a table writes to it, and a repair under its locks.

    A package that is no service can have `repairs`: tables of other packages that its commands put right.
    """

    owns: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnDatabase:
    """A database that belongs to one service, beside the platform's.

    `url` names the settings property that holds its address, `setting` the settings field that an operator sets. Its
    migrations are in the folder `migrations/<migrations>`.
    """

    url: str
    setting: str
    migrations: str

    def address(self, settings: Settings) -> str:
        """The address of the database with these settings."""
        address: str = getattr(settings, self.url)
        return address


@dataclass(frozen=True, slots=True)
class Address:
    """An address that `openspot up` and `status` show, those for users first. `text` makes it from the settings."""

    name: str
    text: Callable[[Any], str]
    is_for_users: bool = False


@dataclass(frozen=True, slots=True)
class FirstStartNote:
    """A note that `openspot up` prints once: at the start that generated `secret`. It may contain the secret."""

    secret: str
    text: Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a package says about itself. A package without processes describes its settings and its tables only.

    If the package has routes besides health, `http` names the function that returns the routers and what makes the
    OpenAPI document, as `module:function`. `bus` says what the package's commands do on the bus. The package's tables
    are in `database`, or else in the platform's database.
    """

    name: str
    title: str
    settings: type[Settings] = Settings
    processes: tuple[Process, ...] = ()
    tables: Tables = field(default_factory=Tables)
    addresses: tuple[Address, ...] = ()
    http: str = ""
    first_start_notes: tuple[FirstStartNote, ...] = ()
    bus: BusAccess | None = None
    database: OwnDatabase | None = None

    def routes(self, stand_in: Any) -> tuple[Any, Callable[[], dict[str, Any]]]:
        """The routers, and the function that makes the OpenAPI document.

        `stand_in` takes the place of all that only a called route needs.
        """
        module, _, function = self.http.partition(":")
        found: tuple[Any, Callable[[], dict[str, Any]]] = getattr(import_module(module), function)(stand_in)
        return found
