"""Networks from which participants have logged in, kept across restarts in a file beside the journal.

A known network only widens the login limits. So an unreadable file is replaced, and a failed write is only logged.
"""

import json
import os
from pathlib import Path

from openspot.kit.log import get_logger

log = get_logger("admin")

PARTICIPANTS_MAX = 1000
NETWORKS_MAX = 20
FILE_NAME = "admin-networks.json"


class KnownNetworks:
    """Known networks by participant, newest last."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME
        self._networks = _read(self._path)

    def holds(self, participant_id: str, network: str) -> bool:
        """Whether the participant has logged in from that network before."""
        return network in self._networks.get(participant_id, ())

    def add(self, participant_id: str, network: str) -> None:
        """Remember the network of a successful login. Beyond the bounds, the oldest networks are forgotten."""
        if self.holds(participant_id, network):
            return
        networks = [*self._networks.pop(participant_id, []), network]
        self._networks[participant_id] = networks[-NETWORKS_MAX:]
        while len(self._networks) > PARTICIPANTS_MAX:
            del self._networks[next(iter(self._networks))]
        try:
            self._write()
        except OSError as error:
            log.warning("failed to store a known network", error=str(error))

    def _write(self) -> None:
        fresh = self._path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(self._networks, file)
        fresh.replace(self._path)


def _read(path: Path) -> dict[str, list[str]]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        log.warning("failed to read the known networks", error=str(error))
        return {}
    if not isinstance(content, dict):
        return {}
    return {
        participant: [network for network in networks if isinstance(network, str)][-NETWORKS_MAX:]
        for participant, networks in content.items()
        if isinstance(networks, list)
    }
