"""Snapshots of a core without what any other command ends, for its auditor (core_auditor.py)."""

from openspot.engine.core.snapshot_records import (
    COUNT_32,
    COUNT_64,
    ICEBERG,
    MOVEMENT,
    OWNER_LINK,
    SEAL,
    TERMS,
)

NO_LISTS = COUNT_32.size + 2 * COUNT_64.size
"""The part of a snapshot with the lists, without any."""
SEQUENCES_END = SEAL.size + 24
"""Where a snapshot's header with the two sequences ends (docs/protocol/snapshot.md)."""


def without_runs(snapshot: bytes, waiting: int, links: int, rest: int | None, terms: bool) -> bytes:
    """The state behind the sequences once waiting movements and terms are dropped, as any other command does.

    `rest` is how many bytes follow the terms; None if the core does not track prices.
    """
    tracks = rest is not None
    rest_at = len(snapshot) - (rest or 0)
    terms_at = rest_at - (COUNT_32.size + TERMS.size * terms if tracks else 0)
    links_at = terms_at - (COUNT_32.size + OWNER_LINK.size * links if links or tracks else 0)
    # The count of movements stands there if movements wait, or something follows.
    count = COUNT_32.size if waiting or links or tracks else 0
    end = links_at - count - MOVEMENT.size * waiting
    return b"".join(
        (
            snapshot[SEQUENCES_END:end],
            COUNT_32.pack(0) if links or tracks else b"",
            snapshot[links_at:terms_at],
            COUNT_32.pack(0) if tracks else b"",
            snapshot[rest_at:],
        )
    )


def without_stop(snapshot: bytes, icebergs: int, phases: int, *, stopped: bool) -> bytes:
    """The snapshot once a PLACE that is not attempted is forgotten, as any other command does."""
    if not stopped:
        return snapshot
    extras = len(snapshot) - COUNT_32.size - COUNT_64.size - ICEBERG.size * icebergs
    if icebergs:
        return snapshot[:extras] + COUNT_32.pack(0) + snapshot[extras + COUNT_32.size :]
    return snapshot[: extras - NO_LISTS - (0 if phases else COUNT_32.size)]
