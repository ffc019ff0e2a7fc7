"""Order and trade rows as routers write them, for tests of what reads them."""

from datetime import datetime
from decimal import Decimal
from itertools import count

from openspot.domain.ids import trade_id
from openspot.domain.order import OrderStatus
from openspot.domain.partition import WHOLE, Partition
from openspot.engine_client.position import StreamPosition
from openspot.kit.clock import ms_from_datetime
from openspot.kit.database import Pool
from openspot.router.store import RouterStore, RowBatch
from openspot.router.tracked_order import TrackedOrder
from openspot.router.trade_row import TradeRow


class RouterRows:
    """Rows of the engine's journal `epoch`. The order of a trade is named by journal, side and sequence."""

    def __init__(self, pool: Pool, epoch: str = "journal") -> None:
        self._pool = pool
        self._epoch = epoch
        self._sequences = count(1)
        self._engine_order_ids = count(1)
        self._written: dict[Partition, StreamPosition] = {}

    async def begin(self, total: int = 1) -> None:
        """Divide the events into `total` partitions."""
        await RouterStore(self._pool).division.begin(total)

    async def begin_journal(self, epoch: str) -> None:
        """The engine has a new journal, and so have the rows, which have one partition."""
        self._epoch, self._sequences = epoch, count(1)
        await self._pool.execute("UPDATE engine_cursors SET epoch = $1, sequence = 0 WHERE is_current", epoch)
        self._written = {WHOLE: StreamPosition(epoch, 0)}

    def next_sequence(self) -> int:
        """The sequence of the next event."""
        return next(self._sequences)

    async def trade(
        self, buyer: str, seller: str, at: datetime, *, of: Partition = WHOLE, symbol: str = "BTC-USD",
        sequence: int | None = None, seller_fills: bool = False,
    ) -> None:  # fmt: skip
        """A trade that fills the buyer's order, and the seller's too if `seller_fills`, in rows of a partition."""
        sequence = sequence or self.next_sequence()
        executed_ms = ms_from_datetime(at)
        sold = OrderStatus.FILLED if seller_fills else OrderStatus.PARTIALLY_FILLED
        orders = [
            self._order(buyer, "buy", OrderStatus.FILLED, symbol, sequence, executed_ms),
            self._order(seller, "sell", sold, symbol, sequence, executed_ms),
        ]
        trade = TradeRow(
            trade_id=trade_id(self._epoch, sequence), sequence=sequence, symbol=symbol, price="100", quantity="0.5",
            taker_side="buy", taker_order_id=orders[0].order_id, maker_order_id=orders[1].order_id, buyer_id=buyer,
            seller_id=seller, taker_fee="0", maker_fee="0", fee_currency="USD", executed_ms=executed_ms,
        )  # fmt: skip
        await self._write(of, RowBatch(orders, [trade], (), StreamPosition(self._epoch, sequence)))

    async def move(self, of: Partition, sequence: int) -> None:
        """The rows of a partition have come to an event without any."""
        await self._write(of, RowBatch((), (), (), StreamPosition(self._epoch, sequence)))

    async def _write(self, of: Partition, batch: RowBatch) -> None:
        await RouterStore(self._pool, of).write(self._written.get(of), batch)
        self._written[of] = batch.position

    def _order(
        self, user: str, side: str, status: OrderStatus, symbol: str, sequence: int, updated_ms: int
    ) -> TrackedOrder:
        return TrackedOrder(
            order_id=f"{self._epoch}-{side}-{sequence}", engine_order_id=next(self._engine_order_ids),
            client_order_id=None, user_id=user, symbol=symbol, side=side, type="limit", time_in_force="gtc",
            margin_mode=None, price=Decimal(100), quantity=Decimal("0.5"), filled_quantity=Decimal("0.5"),
            filled_notional=Decimal(50), remaining_quantity=Decimal(0), fee=Decimal(0), fee_currency="USD",
            status=status, reject_reason=None, last_sequence=sequence, created_ms=updated_ms, updated_ms=updated_ms,
        )  # fmt: skip
