"""Random FIFO histories: valid ones, in which every account covers what it gives away."""

import random
from collections import defaultdict

from openspot.domain.money import AMOUNT_SCALE
from openspot.positions.fifo_transaction import FifoTransaction, TransactionKind

DAY_MS = 86_400_000
CENT = AMOUNT_SCALE // 100


def random_history(
    seed: int,
    length: int,
    accounts: tuple[str, ...] = ("main", "cold"),
    assets: tuple[str, ...] = ("BTC", "ETH"),
    step_ms: int = DAY_MS,
    fee_asset: str | None = "BNB",
    unit: int = 1,
    cash_fees: bool = True,
) -> list[FifoTransaction]:
    """`length` transactions in order, `step_ms` apart, in prices of whole cents.

    Acquired quantities have 8 places; all other quantities are multiples of `unit`, which must divide 10^10. Fees are
    paid in cash and, if `fee_asset` is given, some of them in it.
    """
    source = random.Random(seed)
    held: dict[tuple[str, str], int] = defaultdict(int)
    history: list[FifoTransaction] = []
    while len(history) < length:
        number = len(history)
        account, asset = source.choice(accounts), source.choice(assets)
        if fee_asset is not None and source.random() < 0.1:
            asset = fee_asset
        available = held[account, asset]
        roll = source.random()
        price = source.randrange(1, 10**7) * CENT
        fee = source.randrange(0, 10**4) * CENT if cash_fees else 0
        part = (
            available
            if source.random() < 0.1
            else source.randrange(available // unit) * unit + unit
            if available
            else 0
        )
        destination = None
        if available and roll < 0.4:
            kind, quantity = TransactionKind.DISPOSAL, part
        elif available and len(accounts) > 1 and roll < 0.55:
            kind, quantity, price, fee = TransactionKind.TRANSFER, part, 0, 0
            destination = source.choice([name for name in accounts if name != account])
        else:
            kind, quantity = TransactionKind.ACQUISITION, source.randrange(1, 10**12) * 10**10
        value = quantity * price // AMOUNT_SCALE
        # A sale must bring in more than it costs, which is all that rp2 takes.
        fee = fee % value if value else 0
        held[account, asset] += quantity if kind is TransactionKind.ACQUISITION else -quantity
        if destination is not None:
            held[destination, asset] += quantity
        fee_paid_in, fee_quantity = None, 0
        if fee_asset is not None and source.random() < 0.3 and held[account, fee_asset]:
            fee_paid_in = fee_asset
            fee_quantity = source.randrange(held[account, fee_asset] // unit) * unit + unit
            held[account, fee_asset] -= fee_quantity
        history.append(
            FifoTransaction(
                f"tx-{number:06d}",
                (number + 1) * step_ms,
                kind,
                account,
                asset,
                quantity,
                value,
                fee,
                fee_paid_in,
                fee_quantity,
                destination,
            )
        )
    return history
