"""Services in this process, with the settings of the environment, as `openspot run` and `openspot up` start them."""

import os
from collections.abc import Sequence

from openspot.kit.secrets_file import SecretsFileError, with_secrets
from openspot.kit.service import SUPERVISED, run_service
from openspot.kit.settings import Settings, SettingsError, load
from openspot.up.data_directory import close_if_own
from openspot.up.exposure import dangers
from openspot.up.one_process import process_name, together
from openspot.up.services import DESCRIPTOR_OF, SERVICES, SHARING, own_bus_variable


class RunError(Exception):
    """The service cannot run; the message says why."""


def run(services: Sequence[str]) -> int:
    """Run one service, or those that can share a process, until a signal comes; returns the process's exit code.

    Raises RunError.
    """
    for service in services:
        if service not in SERVICES:
            raise RunError(f"unknown service {service!r}; one of: {', '.join(SERVICES)}")
    names = tuple(services)
    if len(names) > 1:
        if set(names) != set(SHARING) or len(names) != len(SHARING):
            raise RunError(f"these services do not share a process; those that do: {' '.join(SHARING)}")
        names = SHARING
    try:
        settings = {name: _settings_of(name, is_alone=len(names) == 1) for name in names}
    except SettingsError as error:
        raise RunError(f"bad settings\n{error}") from error
    except SecretsFileError as error:
        raise RunError(str(error)) from error
    if len(names) == 1:
        return run_service(names[0], SERVICES[names[0]].main(), settings[names[0]])
    return run_service(process_name(names), together(settings), settings[names[0]])


def _settings_of(service: str, *, is_alone: bool) -> Settings:
    """The settings of one service. Raises SettingsError, SecretsFileError, RunError."""
    own_bus = "" if is_alone else os.environ.get(own_bus_variable(service), "")
    settings: Settings = load(DESCRIPTOR_OF[service].settings, **({"nats_url": own_bus} if own_bus else {}))
    if SUPERVISED not in os.environ:  # `openspot up` does this before it starts its children.
        if found := dangers(settings, [service]):
            raise RunError("\n".join(found))
        close_if_own(settings.data_dir)
    return with_secrets(settings)
