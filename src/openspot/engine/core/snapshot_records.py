"""The records of a snapshot (docs/protocol/snapshot.md): their binary layout, and their fields by name."""

import hashlib
import struct
from typing import NamedTuple

SEAL_MAGIC = b"OSCORE02"
SEAL = struct.Struct("<8s32s")
"""Comes before the state: its own magic, and the SHA-256 of the state. Older snapshots are the state alone."""
MAGIC = b"OSCORE01"
HEADER = struct.Struct("<8sQQ")
COUNT_32 = struct.Struct("<I")
COUNT_64 = struct.Struct("<Q")
CURRENCY = struct.Struct("<I")
SYMBOL = struct.Struct("<IIIBqqqqii")
ACCOUNT = struct.Struct("<QBBBiiI")
BALANCE = struct.Struct("<IQq")
ORDER = struct.Struct("<QQIBBqqqqiiQ")
TRANSFER = struct.Struct("<QQBBQIQq")
MOVEMENT = struct.Struct("<QQIQq")
OWNER_LINK = struct.Struct("<QQ")
TERMS = struct.Struct("<BBBIQQqqQq")
ORDER_TERMS = struct.Struct("<QBQ")
WAITING_ORDER = struct.Struct("<QQIBBqqqqiiQBQBBBqqq")
FIRED_ORDER = struct.Struct("<Qq")
REFERENCE_PRICES = struct.Struct("<Iqq")
ORDER_LIST = struct.Struct("<QBQIQqBB")
LIST_MEMBER = struct.Struct("<Q")
PHASE = struct.Struct("<IBBqQ")
ICEBERG = struct.Struct("<Qqq")

_LOW = (1 << 64) - 1


class SymbolRecord(NamedTuple):
    """A symbol. `active` is 0 or 1."""

    symbol: int
    base: int
    quote: int
    active: int
    base_scale_k: int
    quote_scale_k: int
    tick: int
    lot: int
    taker_fee_bps: int
    maker_fee_bps: int


class AccountRecord(NamedTuple):
    """An account, followed by as many balances as `balances` says. `active` and `has_fees` are 0 or 1."""

    account: int
    active: int
    stp_mode: int
    has_fees: int
    taker_fee_bps: int
    maker_fee_bps: int
    balances: int


class RestingOrderRecord(NamedTuple):
    """A resting order."""

    order_id: int
    account: int
    symbol: int
    side: int
    order_type: int
    price: int
    reserve_price: int
    quantity: int
    remaining: int
    taker_fee_bps: int
    maker_fee_bps: int
    timestamp: int


class WaitingOrderRecord(NamedTuple):
    """An order that waits for its trigger: the fields of a RestingOrderRecord, then its terms."""

    order_id: int
    account: int
    symbol: int
    side: int
    order_type: int
    price: int
    reserve_price: int
    quantity: int
    remaining: int
    taker_fee_bps: int
    maker_fee_bps: int
    timestamp: int
    own_stp: int
    expiry: int
    fok_steps: int
    kind: int
    flags: int
    value: int
    watermark: int
    anchor: int


class OrderListRecord(NamedTuple):
    """An order list, followed by the ids of its `exits`, or by a WaitingOrderRecord for each of its `plans`."""

    list_id: int
    list_type: int
    account: int
    symbol: int
    entry: int
    unarmed: int
    exits: int
    plans: int


class TransferRecord(NamedTuple):
    """A transfer. The 128-bit reference and amount are split into a low and a high half."""

    reference_low: int
    reference_high: int
    kind: int
    status: int
    account: int
    currency: int
    amount_low: int
    amount_high: int

    @property
    def reference(self) -> int:
        """The external reference."""
        return join_halves(self.reference_low, self.reference_high)

    @property
    def amount(self) -> int:
        """The signed amount."""
        return join_halves(self.amount_low, self.amount_high)


class MovementRecord(NamedTuple):
    """A movement that waits for its TRANSFER. The amount is split into a low and a high half."""

    source: int
    destination: int
    currency: int
    amount_low: int
    amount_high: int


def sealed(state: bytes) -> bytes:
    """The snapshot of a state in canonical form."""
    return SEAL.pack(SEAL_MAGIC, hashlib.sha256(state).digest()) + state


def state_of(snapshot: bytes) -> bytes:
    """The state in a snapshot, with or without a seal. Raises ValueError with the reason if the seal is broken."""
    if not snapshot.startswith(SEAL_MAGIC):
        return snapshot
    if len(snapshot) < SEAL.size:
        raise not_a_snapshot("it breaks off")
    state = snapshot[SEAL.size :]
    if SEAL.unpack_from(snapshot)[1] != hashlib.sha256(state).digest():
        raise not_a_snapshot("it fails its checksum")
    return state


def state_hash_of(snapshot: bytes) -> str:
    """The state hash in a sealed snapshot, in hex."""
    digest: bytes = SEAL.unpack_from(snapshot)[1]
    return digest.hex()


def not_a_snapshot(reason: str) -> ValueError:
    """The error for bytes that are no snapshot."""
    return ValueError(f"not a snapshot of a core: {reason}")


def halves(value: int) -> tuple[int, int]:
    """Low and high 64 bits of a 128-bit integer; the high half carries the sign."""
    return value & _LOW, value >> 64


def join_halves(low: int, high: int) -> int:
    """The 128-bit integer of two halves."""
    return low | high << 64
