"""The operator behind a decision on a withdrawal. Custody's chain and the operators' trail keep it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decider:
    """Who decides, why, and from where.

    `operator` is the name in the operators' trail: `user:<userId>`, `engine:<participantId>` or `shell:<account>`.
    `address` is where they called from, empty if nobody knows.
    """

    operator: str
    reason: str
    request_id: str = ""
    address: str = ""
