"""Judges transfers: compares what was asked for, answered and published with what really happened."""

from collections import Counter

from openspot.domain.result_code import ResultCode
from tests.simulation.auditor import Messages, units, without_repeats
from tests.simulation.history import History, TransferHistory
from tests.simulation.transfers import REFUSED, ToldOfTransfers, TransferRequest


class TransferAuditor:
    """Checks transfers. `findings` lists what is wrong."""

    def __init__(self, history: History, told: ToldOfTransfers) -> None:
        self._transfers = {transfer.reference: transfer for transfer in history.transfers}
        self._history = history
        self._told = told
        self.findings: list[str] = []

    def _demand(self, holds: bool, finding: str) -> None:
        if not holds:
            self.findings.append(finding)

    def look_at_transfers(self) -> None:
        """Every transfer was asked for, happened once, and as a whole."""
        asked = {(request.reference, _figures(request)) for request in self._told.asked}
        for reference, number in Counter(transfer.reference for transfer in self._history.transfers).items():
            self._demand(number == 1, f"transfer {reference} was done {number} times")
        for transfer in self._history.transfers:
            is_asked = (transfer.reference, (transfer.kind, transfer.movements)) in asked
            self._demand(is_asked, f"transfer {transfer} was never asked for")

    def look_at_answers(self) -> None:
        """A transfer reported as done is done as asked; one refused for good is not. Every outcome gets known."""
        for request, outcome in self._told.answers:
            real = self._transfers.get(request.reference)
            is_done = real is not None and (real.kind, real.movements) == _figures(request)
            answer = f"transfer {request.reference} was answered {outcome.code.name}"
            if outcome.is_done:
                self._demand(is_done, f"{answer}, and what happened is {real}")
                sequence = 0 if real is None else real.sequence
                self._demand(outcome.sequence in (0, sequence), f"{answer} at event {outcome.sequence}, not {sequence}")
                continue
            self._demand(outcome.code in REFUSED, answer)
            if outcome.code is ResultCode.REFERENCE_CONFLICT:
                self._demand(real is not None and not is_done, f"{answer}, and what happened is {real}")
        # A transfer without enough funds may be sent again and succeed then. So each success is needed once.
        done = {request.reference for request, outcome in self._told.answers if outcome.is_done}
        self._demand(done == self._transfers.keys(), f"transfers told as done: {sorted(done ^ self._transfers.keys())}")
        self._demand(not self._told.unknown, f"transfers of unknown outcome: {self._told.unknown}")

    def look_at_events(self, messages: Messages) -> None:
        """Each transfer must have one `transfers.executed` with all its movements, in order."""
        events, differing = without_repeats(messages)
        self.findings += differing
        shown = [
            TransferHistory(
                event["id"],
                event["kind"],
                tuple(
                    (moved["fromId"], moved["toId"], moved["asset"], units(moved["amount"]))
                    for moved in event["movements"]
                ),
                event["sequence"],
            )
            for _, _, event in events
        ]
        if shown != self._history.transfers:
            self.findings.append(f"transfers.executed: {shown!r} is shown, {self._history.transfers!r} is right")


def _figures(request: TransferRequest) -> tuple[str, tuple[tuple[str, str, str, int], ...]]:
    movements = tuple(
        (moved.source, moved.destination, moved.asset, units(moved.amount)) for moved in request.movements
    )
    return request.kind.value, movements
