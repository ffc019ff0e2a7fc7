"""The client order ids that open orders hold: no two open orders of one account have the same one.

Only orders whose request asked for that are here. The command intake adds them as soon as they arrive, so that the
second of two orders is refused whoever sent them; they leave when the order has ended. A replay adds them from the
notes in the journal.
"""

from collections.abc import Collection

from openspot.engine.state.directory import UNKNOWN_ACCOUNT

HeldId = tuple[int, int, str]
"""(engine order id, account, client order id) as a snapshot keeps it."""


class ClientOrderIds:
    """Client order ids by account, and who holds them."""

    def __init__(self, held: Collection[HeldId] = ()) -> None:
        self._holders: dict[tuple[int, str], int] = {}
        self._keys: dict[int, tuple[int, str]] = {}
        for engine_order_id, account, client_order_id in held:
            self.hold(account, client_order_id, engine_order_id)

    def __len__(self) -> int:
        return len(self._keys)

    def holder(self, account: int, client_order_id: str) -> int | None:
        """The engine order id of the account's open order with this client order id, None if there is none."""
        return self._holders.get((account, client_order_id))

    def hold(self, account: int, client_order_id: str, engine_order_id: int) -> None:
        """Give a client order id to an order.

        A replay adds orders before it ends those of before, so the newest holder counts. An order of an unknown account
        holds nothing: the core will refuse it.
        """
        if account == UNKNOWN_ACCOUNT:
            return
        key = account, client_order_id
        self._holders[key] = engine_order_id
        self._keys[engine_order_id] = key

    def release(self, engine_order_id: int) -> None:
        """Free the client order id of an order that has ended. Does nothing for an order that holds none."""
        key = self._keys.pop(engine_order_id, None)
        if key is not None and self._holders.get(key) == engine_order_id:
            del self._holders[key]

    def snapshot(self, pending: Collection[int]) -> list[HeldId]:
        """What is held, except by `pending` orders, in the order of engine order ids."""
        return sorted(
            (engine_order_id, *key) for engine_order_id, key in self._keys.items() if engine_order_id not in pending
        )
