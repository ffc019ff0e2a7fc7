"""Pages of balances in the order in which their accounts were made, for whoever reads all of them one after the other.

A page looks at its own accounts alone. Balances can change between two pages, and while one is read. An account that is
made meanwhile is behind all others, so it comes on a later page.
"""

import asyncio
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import msgspec

from openspot.engine.core.protocol import CoreBalance
from openspot.engine.state.directory import UNKNOWN_ACCOUNT, place_of
from openspot.engine.state.state_machine import StateMachine
from openspot.http.lists import decode_cursor, encode_cursor

ACCOUNTS_A_TURN = 200
"""How many accounts are looked at before others have their turn."""
_ACCOUNTS_A_PAGE = 20_000
_Number = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]


class BalancePlace(NamedTuple):
    """Where a page begins: the place of an account in the order of creation, and the number of a currency."""

    account: int = 0
    currency: int = 0

    @property
    def cursor(self) -> str:
        """The place as an opaque text."""
        return encode_cursor([self.account, self.currency])

    @classmethod
    def of(cls, cursor: str | None) -> "BalancePlace":
        """The place in a cursor, the first without one. Raises HttpError (400) for a cursor that no page gave."""
        return cls() if cursor is None else cls(*decode_cursor(cursor, tuple[_Number, _Number]))


class BalancePages:
    """The balances of one engine."""

    def __init__(self, machine: StateMachine) -> None:
        self._machine = machine

    async def page(
        self, participant_id: str, currency: int | None, start: BalancePlace, limit: int
    ) -> tuple[list[tuple[str, CoreBalance]], BalancePlace | None]:
        """(participant, balance) from `start` on, at most `limit`, and where the next page begins; None at the end.

        Of one participant or of all, in the currency with a number or in all. Where few accounts have it, a page may
        have fewer balances, or none, and others may follow.
        """
        found: list[tuple[str, CoreBalance]] = []
        for count, (name, account) in enumerate(self._accounts(participant_id, start.account), 1):
            for balance in self._machine.core.balances(account):
                place = BalancePlace(place_of(account), balance.currency)
                if place < start or currency not in (None, balance.currency):
                    continue
                if len(found) == limit:
                    return found, place
                found.append((name, balance))
            if count == _ACCOUNTS_A_PAGE:
                return found, BalancePlace(place_of(account) + 1)
            if count % ACCOUNTS_A_TURN == 0:
                await asyncio.sleep(0)
        return found, None

    def _accounts(self, participant_id: str, place: int) -> Iterator[tuple[str, int]]:
        """(participant, account) from this place in the order of creation on, of one participant or of all."""
        directory = self._machine.directory
        if not participant_id:
            return directory.accounts_from(place)
        account = directory.account(participant_id)
        is_behind = account != UNKNOWN_ACCOUNT and place_of(account) >= place
        return iter([(participant_id, account)] if is_behind else [])
