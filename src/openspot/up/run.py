"""One service in this process, with the settings of the environment, as `openspot run` and `openspot up` start it."""

import os

from openspot.kit.secrets_file import SecretsFileError, with_secrets
from openspot.kit.service import SUPERVISED, run_service
from openspot.kit.settings import SettingsError, load
from openspot.up.data_directory import close_if_own
from openspot.up.exposure import dangers
from openspot.up.services import DESCRIPTOR_OF, SERVICES


class RunError(Exception):
    """The service cannot run; the message says why."""


def run(service: str) -> int:
    """Run the service until a signal comes; returns the exit code of the process. Raises RunError."""
    if service not in SERVICES:
        raise RunError(f"unknown service {service!r}; one of: {', '.join(SERVICES)}")
    try:
        settings = load(DESCRIPTOR_OF[service].settings)
        if SUPERVISED not in os.environ:  # `openspot up` does this before it starts its children.
            if found := dangers(settings, [service]):
                raise RunError("\n".join(found))
            close_if_own(settings.data_dir)
        settings = with_secrets(settings)
    except SettingsError as error:
        raise RunError(f"bad settings\n{error}") from error
    except SecretsFileError as error:
        raise RunError(str(error)) from error
    return run_service(service, SERVICES[service].main(), settings)
