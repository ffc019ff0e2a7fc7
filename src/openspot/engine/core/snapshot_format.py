"""The bytes of a snapshot (docs/protocol/snapshot.md), written from and read into the reference's state."""

import struct
from typing import Any

from openspot.engine.core.protocol import Symbol
from openspot.engine.core.records import CommandKind
from openspot.engine.core.reference_book import Order
from openspot.engine.core.reference_state import Account, Market, Reference, ReferenceStatus, State

_MAGIC = b"OSCORE01"
_HEADER = struct.Struct("<8sQQ")
_COUNT_32 = struct.Struct("<I")
_COUNT_64 = struct.Struct("<Q")
_CURRENCY = struct.Struct("<I")
_SYMBOL = struct.Struct("<IIIBqqqqii")
_ACCOUNT = struct.Struct("<QBBBiiI")
_BALANCE = struct.Struct("<IQq")
_ORDER = struct.Struct("<QQIBBqqqqiiQ")
_REFERENCE = struct.Struct("<QQBBQIQq")
_LOW = (1 << 64) - 1


def write_snapshot(state: State) -> bytes:
    """The canonical bytes of `state`: equal states give equal bytes."""
    parts = [_HEADER.pack(_MAGIC, state.command_sequence, state.event_sequence)]
    parts.append(_COUNT_32.pack(len(state.currencies)))
    parts += [_CURRENCY.pack(currency) for currency in sorted(state.currencies)]

    markets = [market for _, market in sorted(state.markets.items())]
    parts.append(_COUNT_32.pack(len(markets)))
    parts += [_pack_symbol(market.symbol) for market in markets]

    parts.append(_COUNT_32.pack(len(state.accounts)))
    for number, account in sorted(state.accounts.items()):
        taker, maker = account.fees or (0, 0)
        own_fees = account.fees is not None
        totals = sorted(account.totals.items())
        parts.append(_ACCOUNT.pack(number, account.active, account.stp_mode, own_fees, taker, maker, len(totals)))
        parts += [_BALANCE.pack(currency, *_halves(total)) for currency, total in totals]

    parts.append(_COUNT_64.pack(len(state.orders)))
    parts += [_pack_order(order) for market in markets for order in market.book.orders()]

    parts.append(_COUNT_64.pack(len(state.references)))
    parts += [
        _REFERENCE.pack(
            number & _LOW,
            number >> 64,
            reference.kind,
            reference.status,
            reference.account,
            reference.currency,
            *_halves(reference.amount),
        )
        for number, reference in sorted(state.references.items())
    ]
    return b"".join(parts)


def read_snapshot(snapshot: bytes) -> State:
    """The state that `snapshot` holds. Raises ValueError on anything but a whole, canonical snapshot."""
    reader = _Reader(snapshot)
    try:
        state = _read_state(reader)
    except (struct.error, KeyError, ZeroDivisionError) as error:
        raise ValueError(f"no whole snapshot: it breaks off or contradicts itself ({error!r})") from error
    # Order, duplicates, flags and trailing bytes need no checks of their own: the state has one writing only.
    if write_snapshot(state) != snapshot:
        raise ValueError("no snapshot of this core: its state has another writing")
    return state


class _Reader:
    """Takes packed records off a snapshot's front."""

    def __init__(self, snapshot: bytes) -> None:
        self._snapshot = snapshot
        self._offset = 0

    def take(self, record: struct.Struct) -> tuple[Any, ...]:
        """The fields of the next record. Raises struct.error where the bytes break off."""
        fields = record.unpack_from(self._snapshot, self._offset)
        self._offset += record.size
        return fields

    def count(self, record: struct.Struct) -> range:
        """As many turns as the count that comes next."""
        return range(self.take(record)[0])


def _read_state(reader: _Reader) -> State:
    state = State()
    _, state.command_sequence, state.event_sequence = reader.take(_HEADER)
    for _ in reader.count(_COUNT_32):
        state.currencies[reader.take(_CURRENCY)[0]] = 0
    for _ in reader.count(_COUNT_32):
        number, base, quote, active, *figures = reader.take(_SYMBOL)
        state.markets[number] = Market(Symbol._make((number, base, quote, *figures, bool(active))))
    state.accounts.clear()
    for _ in reader.count(_COUNT_32):
        number, active, stp_mode, own_fees, taker, maker, balances = reader.take(_ACCOUNT)
        fees = (taker, maker) if own_fees else None
        state.accounts[number] = Account(bool(active), stp_mode, fees)
        for _ in range(balances):
            currency, low, high = reader.take(_BALANCE)
            state.transfer_in(number, currency, low | high << 64)
    for _ in reader.count(_COUNT_64):
        state.rest(Order(*reader.take(_ORDER)))
    for _ in reader.count(_COUNT_64):
        low, high, kind, status, account, currency, amount_low, amount_high = reader.take(_REFERENCE)
        reference = Reference(kind, ReferenceStatus(status), account, currency, amount_low | amount_high << 64)
        state.references[low | high << 64] = reference
        if reference.kind == CommandKind.RESERVE and reference.status == ReferenceStatus.HELD:
            state.accounts[account].held[currency] += reference.amount
    return state


def _pack_symbol(symbol: Symbol) -> bytes:
    return _SYMBOL.pack(
        symbol.symbol,
        symbol.base,
        symbol.quote,
        symbol.active,
        symbol.base_scale_k,
        symbol.quote_scale_k,
        symbol.tick,
        symbol.lot,
        symbol.taker_fee_bps,
        symbol.maker_fee_bps,
    )


def _pack_order(order: Order) -> bytes:
    return _ORDER.pack(
        order.order_id,
        order.account,
        order.symbol,
        order.side,
        order.order_type,
        order.price,
        order.reserve_price,
        order.quantity,
        order.remaining,
        order.taker_fee_bps,
        order.maker_fee_bps,
        order.timestamp,
    )


def _halves(amount: int) -> tuple[int, int]:
    return amount & _LOW, amount >> 64
