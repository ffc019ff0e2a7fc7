"""Runs `openspot ledger book-adjustments` for an operator: one at a time, as a process of its own."""

from pathlib import Path

import msgspec

from openspot.web_server.operator_command import PROGRAM, OperatorCommand

TIMEOUT_S = 900.0
BODY_BYTES_MAX = 4096
REASON_LENGTH_MIN, REASON_LENGTH_MAX = 3, 500
OUTCOMES = (0, 1)
"""Exit codes of a run that booked what there was: everything agrees then, or something else differs."""
COMMAND = (*PROGRAM, "ledger", "book-adjustments")


class BookingBody(msgspec.Struct, forbid_unknown_fields=True):
    """Why adjustments are booked: the trail keeps it."""

    reason: str


class BookingState(msgspec.Struct, frozen=True):
    """Whether adjustments are being booked, and why the last run booked none."""

    running: bool
    failure: str


class Booking(OperatorCommand):
    """Books adjustments of the engine. At most one run is under way."""

    def __init__(self, data_dir: Path, command: tuple[str, ...] = COMMAND, timeout_s: float = TIMEOUT_S) -> None:
        super().__init__("openspot ledger book-adjustments", data_dir, command, timeout_s, OUTCOMES)
        self._program = command

    def book(self, operator: str, reason: str, *, address: str, request_id: str) -> bool:
        """Start a run in the name of `operator`, who asked for it from `address`. False if one is under way."""
        if self.is_running:
            return False
        self._command = (
            *self._program,
            f"--operator={operator}",
            f"--reason={reason}",
            f"--address={address}",
            f"--request-id={request_id}",
        )
        return self.begin(operator)

    def state(self) -> bytes:
        """The state as JSON."""
        return msgspec.json.encode(BookingState(self.is_running, self.failure))


def reason_in(raw: bytes) -> str:
    """The reason in a body. Raises ValueError with what is wrong with it."""
    try:
        reason = msgspec.json.decode(raw, type=BookingBody).reason.strip()
    except msgspec.DecodeError as error:
        raise ValueError(f"the body is not valid: {error}") from error
    if not REASON_LENGTH_MIN <= len(reason) <= REASON_LENGTH_MAX or not reason.isprintable():
        raise ValueError(f"reason must have {REASON_LENGTH_MIN} to {REASON_LENGTH_MAX} printable characters")
    return reason
