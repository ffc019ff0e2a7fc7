"""All packages' descriptors, joined. There is no other list of services."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import create_model

import openspot
from openspot.kit.description import Descriptor, Process
from openspot.kit.settings import Settings, address_for_clients
from openspot.web_server.loopback import is_private


def _discover() -> Iterator[Descriptor]:
    """The descriptor of each package that has one, by name of the package. Imports no other package."""
    files = (file for folder in openspot.__path__ for file in Path(folder).glob("*/descriptor.py"))
    for package in sorted(file.parent.name for file in files):
        descriptor: Descriptor = import_module(f"openspot.{package}.descriptor").DESCRIPTOR
        yield descriptor


def _ordered(descriptors: tuple[Descriptor, ...]) -> dict[str, Process]:
    """All processes by name. Each comes after those that it uses or waits for."""
    processes = {process.name: process for descriptor in descriptors for process in descriptor.processes}
    needs = {name: {*process.after, *process.uses} for name, process in processes.items()}
    order: list[str] = []
    sorter = TopologicalSorter(needs)
    sorter.prepare()
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        order += ready
        sorter.done(*ready)
    return {name: processes[name] for name in order}


def _joined_settings(descriptors: tuple[Descriptor, ...]) -> Any:
    kinds = dict.fromkeys(descriptor.settings for descriptor in descriptors)
    bases = [kind for kind in kinds if not any(other is not kind and issubclass(other, kind) for other in kinds)]
    return create_model("PlatformSettings", __base__=tuple(bases))


DESCRIPTORS: tuple[Descriptor, ...] = tuple(_discover())
SERVICES: dict[str, Process] = _ordered(DESCRIPTORS)
"""Every process, in the order in which they start; they stop in reverse."""
DESCRIPTOR_OF: dict[str, Descriptor] = {
    process.name: descriptor for descriptor in DESCRIPTORS for process in descriptor.processes
}
"""The descriptor of the package of each process."""
PlatformSettings: Any = _joined_settings(DESCRIPTORS)
"""The settings class of `openspot up`: it has the settings of every package, and is a subclass of each one's class."""


SHARING = ("rest-edge", "router")
"""The services that can share a process. Each comes before those that it asks, and stops before them."""


def own_bus_variable(service: str) -> str:
    """The variable with the address of the bus for one of several services of a process, in place of NATS_URL.

    So each of them has its own user of the bus.
    """
    return f"NATS_URL_OF_{service.upper().replace('-', '_')}"


SHARING_CORES_MAX = 4
"""With more cores, two processes place more orders than one."""


def cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def share_a_process(settings: Settings) -> bool:
    """Whether `openspot up` runs the services of SHARING in one process with these settings."""
    if settings.one_process == "auto":
        return cores() <= SHARING_CORES_MAX
    return settings.one_process == "true"


def grouped(settings: Settings) -> list[tuple[str, ...]]:
    """The services that `openspot up` runs with these settings: those of one process together."""
    names = list(enabled(settings))
    together = SHARING if share_a_process(settings) else ()
    return [(name,) for name in names if name not in together] + ([together] if together else [])


def enabled(settings: Settings) -> dict[str, Process]:
    """The processes that `openspot up` runs with these settings, in the order in which they start."""
    return {name: process for name, process in SERVICES.items() if process.is_enabled(settings)}


def metrics_addresses(settings: Settings) -> dict[str, str]:
    """Where each process of `openspot up` serves /ready and /metrics, by its name."""
    return {
        name: "http://" + address_for_clients(process.listening_host(settings), process.ready_port(settings))
        for name, process in enabled(settings).items()
    }


def health_addresses(settings: Settings) -> str:
    """The value of OPENSPOT_WATCHED_SERVICES: the same addresses by title."""
    return ",".join(f"{SERVICES[name].title}={address}" for name, address in metrics_addresses(settings).items())


TOLD: dict[str, Callable[[Any], str]] = {
    "watched_services": health_addresses,
    "given_positions_url": lambda settings: settings.positions_url,
    "given_subscriptions_url": lambda settings: settings.subscriptions_url,
}
"""Settings by which `openspot up` tells its processes about each other. A value from the operator takes precedence."""


def page_origins(settings: Any) -> str:
    """The origins of the pages, separated by commas. On this computer there are two, one for each of its names."""
    page = urlsplit(settings.web_url)
    named = [page.netloc]
    if is_private([settings.web_url]):
        port = "" if page.port is None else f":{page.port}"
        named = [f"127.0.0.1{port}", f"localhost{port}", page.netloc]
    return ",".join(dict.fromkeys(f"{page.scheme}://{name}" for name in named))


ORIGIN_SETTINGS = ("cors_origins", "console_origins")
"""Settings that name the pages that may call a process. By default, `openspot up` sets them to its own pages."""


_PASSWORD = re.compile(r"(?<=://)([^:@/?,]*):[^,]*@|(?<=[?&]password=)[^&,]*")
_TOKEN = re.compile(r"(?<=://)[^:@/?,]+@")
HIDDEN = "***"


def without_password(url: str) -> str:
    """One URL, or several separated by commas, with the passwords hidden."""
    return _PASSWORD.sub(lambda found: HIDDEN if found[1] is None else f"{found[1]}:{HIDDEN}@", url)


def _shown_nats_url(url: str) -> str:
    # A name without a password is a token, which is secret too.
    return _TOKEN.sub(f"{HIDDEN}@", without_password(url))


def addresses(settings: Settings) -> dict[str, str]:
    """The addresses that `openspot up` prints when everything is ready, by name."""
    found = [
        address
        for descriptor in DESCRIPTORS
        if all(process.is_enabled(settings) for process in descriptor.processes)
        for address in descriptor.addresses
    ]
    found.sort(key=lambda address: not address.is_for_users)
    return {address.name: address.text(settings) for address in found} | {
        "NATS": _shown_nats_url(settings.nats_url),
        "PostgreSQL": without_password(settings.database_url),
    }
