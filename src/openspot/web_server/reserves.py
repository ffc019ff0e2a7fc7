"""Runs `openspot reserves prove` when an operator asks for it: one at a time, as a process of its own."""

from pathlib import Path

import msgspec

from openspot.web_server.operator_command import PROGRAM, OperatorCommand

TIMEOUT_S = 3600.0
COMMAND = (*PROGRAM, "reserves", "prove", "--json")


class ProvingState(msgspec.Struct, frozen=True):
    """Whether a proof is being made that an operator asked for, and why the last of those failed."""

    running: bool
    failure: str


class Proving(OperatorCommand):
    """Makes proofs of reserves. At most one is being made."""

    def __init__(self, data_dir: Path, command: tuple[str, ...] = COMMAND, timeout_s: float = TIMEOUT_S) -> None:
        super().__init__("openspot reserves prove", data_dir, command, timeout_s, (0,))

    def state(self) -> bytes:
        """The state as JSON."""
        return msgspec.json.encode(ProvingState(self.is_running, self.failure))
