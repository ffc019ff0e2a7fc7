"""Commands with notes, for tests below the network interfaces."""

from openspot.domain.market import load_markets
from openspot.domain.order import EngineOrderType, Side
from openspot.engine.core.records import COMMAND_SIZE, Command, CommandKind
from openspot.engine.core.reference import ReferenceCore
from openspot.engine.intake.seed import seed_commands
from openspot.engine.state.directory import Note
from openspot.engine.state.state_machine import AppliedBatch, StateMachine

Commands = tuple[bytes, list[Note]]

SEED: Commands = seed_commands(load_markets(), 1)


def deposit(account: int, participant: str, amount: int, currency: int = 1, reference: int = 0) -> Commands:
    """A deposit of whole units of a currency (1 is USD, 3 is BTC)."""
    command = Command(
        CommandKind.DEPOSIT, symbol=currency, timestamp=2, account=account, amount=amount * 10**18, price=reference
    )
    return command.encode(), [(participant, f"reference-{reference}" if reference else "")]


def place(
    engine_order_id: int,
    account: int,
    side: Side = Side.BUY,
    price: int = 10_000,
    quantity: int = 10**8,
    order_id: str = "",
) -> Commands:
    """A GTC order on BTC-USD."""
    command = Command(
        CommandKind.PLACE,
        side=side,
        order_type=EngineOrderType.GTC,
        symbol=1,
        timestamp=3,
        order_id=engine_order_id,
        account=account,
        price=price,
        quantity=quantity,
        amount=price if side == Side.BUY else 0,
    )
    return command.encode(), [(order_id or f"order-{engine_order_id}", "{}")]


def cancel(engine_order_id: int) -> Commands:
    """A cancel by an administrator."""
    return Command(CommandKind.CANCEL, timestamp=4, order_id=engine_order_id).encode(), [()]


def together(*parts: Commands) -> Commands:
    """Several commands as one batch."""
    return b"".join(commands for commands, _ in parts), [note for _, notes in parts for note in notes]


def new_machine(orders_remembered: int = 1000) -> StateMachine:
    """An empty state machine with the reference core."""
    return StateMachine(ReferenceCore(), orders_remembered)


def feed(machine: StateMachine, batch: Commands) -> AppliedBatch:
    """Register and apply commands."""
    commands, notes = batch
    assert len(commands) == len(notes) * COMMAND_SIZE
    machine.register(commands, notes)
    return machine.apply(commands, notes)
