"""Makes a proof of reserves: balances at one event, leaves in random order, the tree, and the statement about it.

Memory holds a number of four bytes for each leaf and one batch of rows; the users themselves stay in the database.
"""

import secrets
from array import array
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from random import SystemRandom
from typing import NamedTuple

import asyncpg

from openspot.contracts import subjects
from openspot.contracts.messages import GetReserves, GetReservesReply
from openspot.domain.ids import short_id
from openspot.domain.money import AMOUNT_SCALE, EXACT, amount_to_text, decimal_to_text, parse_decimal, to_scaled
from openspot.domain.reserves import (
    BLOCK_DEPTH,
    NONCE_BYTES,
    PORTIONS,
    SUM_BYTES,
    KeptNode,
    Node,
    Statement,
    TreeBuilder,
    decode_amounts,
    depth_for,
    digest_of,
    encode_amounts,
    leaf,
    packed,
    padding,
    unpacked,
)
from openspot.kit.bus import Bus, BusError
from openspot.kit.clock import Clock, iso_of, system_clock, utc_datetime
from openspot.kit.database import TRANSIENT_ERRORS
from openspot.reconcile.progress import wait_for_mirrors
from openspot.reconcile.store import EngineReader, EngineUnavailableError
from openspot.reserves.errors import ReservesError
from openspot.reserves.owed import USERS, Owed, gather
from openspot.reserves.settings import ReservesSettings
from openspot.reserves.store import ROWS_AT_A_TIME, LeafRow, ReserveStore, StoredProof

CONNECT_TIMEOUT_S = 10.0
ASSETS_MAX = 2**16
_APPLICATION = "openspot-reserves"


class Made(NamedTuple):
    """A proof that was made, and the ids of older ones that were deleted."""

    proof: StoredProof
    deleted: list[str]
    unbooked: int = 0
    """Adjustments of the engine that the ledger lacks. What they gave is in the proof."""


async def prove(settings: ReservesSettings, wait_s: float, clock: Clock = system_clock) -> Made:
    """Make a proof and publish it. The ledger gets `wait_s` seconds to catch up. Raises ReservesError."""
    try:
        async with EngineReader(settings) as engine:
            mark = await engine.position()
            progress = await wait_for_mirrors(settings, mark.last_seq, wait_s)
            if not progress.settled:
                raise ReservesError(
                    f"the ledger has not posted everything up to the engine's event {mark.last_seq} within "
                    f"{wait_s:g} s: see `openspot status`, and try again"
                )
            held = await custody_reserves(settings)
            connection = await asyncpg.connect(
                settings.database_url, timeout=CONNECT_TIMEOUT_S,
                server_settings={"application_name": _APPLICATION, "timezone": "UTC"},
            )  # fmt: skip
            try:
                store = ReserveStore(connection)
                if not await store.lock():
                    raise ReservesError("another proof is being made now")
                async with connection.transaction(isolation="repeatable_read"):
                    maker = ProofMaker(connection, store, mark.epoch, mark.last_seq, utc_datetime(clock))
                    owed = await gather(connection, engine, mark.last_seq)
                    proof = await maker.make(owed, held)
                    return Made(proof, await store.delete_all_but(settings.reserves_kept), owed.unbooked)
            finally:
                await connection.close(timeout=CONNECT_TIMEOUT_S)
    except EngineUnavailableError as error:
        raise ReservesError(f"the engine does not answer: {error}") from error
    except (asyncpg.PostgresError, *TRANSIENT_ERRORS) as error:
        raise ReservesError(f"the database does not answer: {error!r}") from error


async def custody_reserves(settings: ReservesSettings) -> dict[str, Decimal]:
    """What custody holds of each asset, what is leaving included. Raises ReservesError if custody does not say."""
    try:
        bus = await Bus.connect(settings, "reserves")
    except BusError as error:
        raise ReservesError(f"the bus does not answer: {error}") from error
    try:
        reply = await bus.request(subjects.CUSTODY_RESERVES_GET, GetReserves(), GetReservesReply)
    except BusError as error:
        raise ReservesError(f"custody does not say what it holds: {error}") from error
    finally:
        await bus.close()
    if reply.error is not None:
        raise ReservesError(f"custody does not say what it holds: {reply.error}")
    held: dict[str, Decimal] = {}
    for each in reply.reserves:
        amount = EXACT.add(parse_decimal(each.held), parse_decimal(each.leaving))
        held[each.asset] = EXACT.add(held.get(each.asset, Decimal(0)), amount)
    return held


class ProofMaker:
    """Makes one proof in the transaction of a connection."""

    def __init__(
        self, connection: asyncpg.Connection, store: ReserveStore, epoch: str, sequence: int, taken_at: datetime
    ) -> None:
        self._connection = connection
        self._store = store
        self._epoch = epoch
        self._sequence = sequence
        self._taken_at = taken_at
        self._proof_id = short_id(secrets.token_bytes(20))
        self._random = SystemRandom()

    async def make(self, owed: Owed, held: Mapping[str, Decimal]) -> StoredProof:
        """Write leaves, nodes and the proof. Raises ReservesError if somebody is owed less than nothing."""
        if owed.negative is not None:
            user, asset, amount = owed.negative
            raise ReservesError(
                f"the account of {user} is below zero: {decimal_to_text(amount)} {asset}. Find out why with `openspot "
                "reconcile`; a proof with a negative balance would hide what is owed to others"
            )
        if not owed.totals:
            raise ReservesError("nobody is owed anything, so there is nothing to prove")
        if len(owed.totals) > ASSETS_MAX:
            raise ReservesError(f"a tree has at most {ASSETS_MAX} assets")
        assets = list(owed.totals)
        users = await self._connection.fetchval("SELECT count(DISTINCT owner) FROM reserve_owed")
        depth = depth_for(users * PORTIONS)
        await self._write_leaves({asset: number for number, asset in enumerate(assets)}, users, depth)
        root = await self._write_nodes(len(assets), depth)
        sums = unpacked(root.sums, len(assets))
        if sums != [to_scaled(total, AMOUNT_SCALE) for total in owed.totals.values()]:
            raise ReservesError("the tree does not add up to what is owed: the proof was not published")
        previous = await self._store.newest()
        statement = Statement(
            proof_id=self._proof_id,
            taken_at=iso_of(self._taken_at),
            epoch=self._epoch,
            sequence=self._sequence,
            depth=depth,
            root_hash=root.hash.hex(),
            previous=None if previous is None else previous.digest,
            assets=assets,
            liabilities=[amount_to_text(amount) for amount in sums],
            reserves=[decimal_to_text(max(held.get(asset, Decimal(0)), Decimal(0))) for asset in assets],
        )
        proof = StoredProof(statement, digest_of(statement).hex(), users)
        await self._store.add(proof, self._taken_at)
        return proof

    async def _write_leaves(self, numbers: Mapping[str, int], users: int, depth: int) -> None:
        """Write every user's leaves at random places, and leaves of nobody at those that remain."""
        places = array("L", range(1 << depth))
        self._random.shuffle(places)
        rows: list[LeafRow] = []
        cursor = await self._connection.cursor(USERS)
        while part := await cursor.fetch(ROWS_AT_A_TIME):
            for owner, names, texts in part:
                amounts = {numbers[name]: int(text) for name, text in zip(names, texts, strict=True)}
                rows += [
                    LeafRow(places.pop(), owner, secrets.token_bytes(NONCE_BYTES), encode_amounts(portion))
                    for portion in self._portions(amounts)
                ]
            await self._store.add_leaves(self._proof_id, rows)
            rows = []
        assert len(places) == (1 << depth) - users * PORTIONS, "every user has the same number of leaves"
        for first in range(0, len(places), ROWS_AT_A_TIME):
            await self._store.add_leaves(
                self._proof_id,
                [
                    LeafRow(place, None, secrets.token_bytes(NONCE_BYTES), b"")
                    for place in places[first : first + ROWS_AT_A_TIME]
                ],
            )

    def _portions(self, amounts: Mapping[int, int]) -> list[dict[int, int]]:
        """The amounts, divided at random."""
        rest, portions = dict(amounts), []
        for _ in range(PORTIONS - 1):
            portion = {asset: secrets.randbelow(amount + 1) for asset, amount in rest.items()}
            rest = {asset: amount - portion[asset] for asset, amount in rest.items()}
            portions.append(portion)
        return [*portions, rest]

    async def _write_nodes(self, width: int, depth: int) -> Node:
        """Make the tree from the leaves that were written, write the nodes that are kept, and return the root."""
        tree = TreeBuilder(depth, width, BLOCK_DEPTH)
        kept: list[KeptNode] = []
        async for rows in self._store.leaves(self._proof_id):
            for row in rows:
                kept += tree.add(node_of(row, width))
            if len(kept) >= ROWS_AT_A_TIME:
                await self._write_kept(kept, width)
                kept = []
        await self._write_kept(kept, width)
        return tree.root()

    async def _write_kept(self, nodes: list[KeptNode], width: int) -> None:
        await self._store.add_nodes(self._proof_id, nodes, SUM_BYTES * width)


def node_of(row: LeafRow, width: int) -> Node:
    """The node of a stored leaf. Raises ValueError for one that no proof writes."""
    if row.user_id is None:
        return padding(row.nonce)
    return leaf(row.user_id, row.nonce, packed(decode_amounts(row.amounts), width), width)
