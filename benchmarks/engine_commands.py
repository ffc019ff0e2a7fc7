"""The shallow workload as commands of a whole engine: with names, external ids and the router's metadata."""

from collections.abc import Iterator

from benchmarks.workloads import ACCOUNT_FIRST, ACCOUNTS, BUY, CANCEL, DEPOSIT, GTC, IOC, SYMBOL, TAKE, Step, shallow
from openspot.domain.market import load_markets
from openspot.engine.core.records import Command, CommandKind
from openspot.engine.intake.seed import seed_commands
from openspot.engine.state.directory import Note

FIRST_ACCOUNT = 2
REPEATED = 300_000
"""Steps of the workload, which then begins again under new order ids."""
_METADATA = '{"clientOrderId":null,"type":"limit","timeInForce":"gtc","marginMode":null}'


def first_commands() -> tuple[bytes, list[Note]]:
    """Currencies, markets and funded accounts: the first batch of a journal."""
    commands, notes = seed_commands(load_markets(), 1)
    amount = DEPOSIT // ACCOUNTS
    for number in range(ACCOUNTS):
        for currency in (1, 3):
            command = Command(CommandKind.DEPOSIT, symbol=currency, account=FIRST_ACCOUNT + number, amount=amount)
            commands += command.encode()
            notes.append((f"user-{number}", ""))
    return commands, notes


def engine_commands(count: int, seed: int) -> Iterator[tuple[bytes, Note]]:
    """`count` orders and cancels with their notes."""
    steps, _ = shallow(min(count, REPEATED), seed)
    for first in range(0, count, REPEATED):
        for step in steps[: count - first]:
            yield _command(step, first)


def _command(step: Step, first: int) -> tuple[bytes, Note]:
    order_id, account = first + step.order_id, step.account - ACCOUNT_FIRST + FIRST_ACCOUNT
    if step.kind == CANCEL:
        return Command(CommandKind.CANCEL, symbol=SYMBOL, order_id=order_id, account=account).encode(), ()
    command = Command(
        CommandKind.PLACE,
        side=step.side,
        order_type=IOC if step.kind == TAKE else GTC,
        symbol=SYMBOL,
        timestamp=1_700_000_000_000_000_000 + order_id,
        order_id=order_id,
        account=account,
        price=step.price,
        quantity=step.quantity,
        amount=step.price if step.side == BUY else 0,
    )
    return command.encode(), (f"3f0d8a52-7c1b-4a77-9a0e-{order_id:012d}", _METADATA)
