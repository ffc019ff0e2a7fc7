"""The client of the simulation that moves money between accounts, as the REST edge does, and what it was told.

Some transfers convert, some pay in a chain, some ask for more than there is. A transfer whose outcome is unknown is
sent again until it is known. Some references are sent again, with the same movements or with others.
"""

import random
from dataclasses import dataclass, field
from decimal import Decimal

from openspot.domain.result_code import ResultCode
from openspot.domain.transfer import Movement, TransferKind
from openspot.engine_client.commands import TransferOutcome
from openspot.engine_client.errors import EngineAmbiguousError, EngineUnreachableError
from tests.simulation.clients import TOO_MUCH, USERS
from tests.simulation.engine import ASSETS
from tests.simulation.engine_access import SimulatedEngineClient
from tests.simulation.process import Process

CONVERSIONS = "house:conversions"
STAKING = "house:staking"
_AMOUNTS = ("0.01", "0.05", "0.000000000000000001")
_KINDS = (TransferKind.CONVERSION, TransferKind.STAKING, TransferKind.UNSTAKING, TransferKind.PAYMENT)
_LONG = tuple(Movement(CONVERSIONS, user, asset, Decimal("0.001")) for user in USERS for asset in ASSETS) * 2
_TOO_MUCH = str(100 * int(TOO_MUCH))


@dataclass(frozen=True, slots=True)
class TransferRequest:
    """A transfer as it is sent."""

    reference: str
    kind: TransferKind
    movements: tuple[Movement, ...]


@dataclass(slots=True)
class ToldOfTransfers:
    """What was asked for and what the engine said."""

    asked: list[TransferRequest] = field(default_factory=list)
    """Every request; some have the same reference."""
    answers: list[tuple[TransferRequest, TransferOutcome]] = field(default_factory=list)
    unknown: list[TransferRequest] = field(default_factory=list)
    """Requests without an answer so far."""


class Transfers:
    """Sends transfers to the engine."""

    def __init__(self, process: Process, client: SimulatedEngineClient, chance: random.Random) -> None:
        self._process = process
        self._client = client
        self._chance = chance
        self.told = ToldOfTransfers()
        self.waiting = 0
        """Requests without a reply so far."""

    def fund_house(self) -> None:
        """Give the house what its side of the conversions needs."""
        movements = [Movement(USERS[0], CONVERSIONS, asset, Decimal(2)) for asset in ASSETS]
        self._send(TransferRequest("fund", TransferKind.LOAN, tuple(movements)))

    def send(self) -> None:
        """Send a new transfer, or an earlier reference again."""
        chance, asked, unknown = self._chance, self.told.asked, self.told.unknown
        if unknown and chance.random() < 0.5:
            self._send(unknown[0])
        elif chance.random() < 0.3:
            earlier = chance.choice(asked[-10:])
            if chance.random() < 0.5:
                earlier = TransferRequest(earlier.reference, *self._any())
            self._send(earlier)
        else:
            self._send(TransferRequest(f"t-{len(asked)}", *self._any()))

    def send_long(self) -> None:
        """Send a new transfer with so many movements that they come in several messages of the event stream."""
        self._send(TransferRequest(f"t-{len(self.told.asked)}", TransferKind.REWARD, _LONG))

    def take(self, source: str, destination: str, asset: str, amount: str) -> None:
        """Move an amount from one account to another, if it is there."""
        movement = Movement(source, destination, asset, Decimal(amount))
        self._send(TransferRequest(f"t-{len(self.told.asked)}", TransferKind.PAYMENT, (movement,)))

    def repeat_unknown(self) -> None:
        """Send the transfers whose outcome is unknown again, one at a time."""
        if not self.waiting and self.told.unknown:
            self._send(self.told.unknown[0])

    def _any(self) -> tuple[TransferKind, tuple[Movement, ...]]:
        chance = self._chance
        user, other = chance.sample(USERS, 2)
        asset, bought = chance.sample(ASSETS, 2)
        kind = chance.choice(_KINDS)
        match kind:
            case TransferKind.CONVERSION:
                movements = [(user, CONVERSIONS, asset), (CONVERSIONS, user, bought)]
            case TransferKind.STAKING:
                movements = [(user, STAKING, asset), (other, STAKING, bought)]
            case TransferKind.UNSTAKING:
                movements = [(STAKING, user, asset)]
            case _:
                movements = [(user, other, asset), (other, CONVERSIONS, asset), (other, "house:fees", asset)]
        amounts = [chance.choice(_AMOUNTS) for _ in movements]
        if chance.random() < 0.2:
            # The last movement cannot be paid, so none may happen.
            amounts[-1] = _TOO_MUCH
        return kind, tuple(Movement(*names, Decimal(amount)) for names, amount in zip(movements, amounts, strict=True))

    def _send(self, request: TransferRequest) -> None:
        told = self.told
        told.asked.append(request)
        if request not in told.unknown:
            told.unknown.append(request)
        self.waiting += 1
        self._process.start(self._ask(request))

    async def _ask(self, request: TransferRequest) -> None:
        try:
            outcome = await self._client.transfer(request.reference, request.movements, request.kind)
        except (EngineAmbiguousError, EngineUnreachableError):
            return
        finally:
            self.waiting -= 1
        self.told.answers.append((request, outcome))
        if request in self.told.unknown:
            self.told.unknown.remove(request)


REFUSED = (ResultCode.RISK_NSF, ResultCode.REFERENCE_CONFLICT)
"""The codes with which the engine refuses these transfers."""
