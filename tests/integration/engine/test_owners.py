"""The accounts of one owner do not trade with each other, also after a restart of the engine."""

from pathlib import Path

import pytest

from openspot.contracts.gen.exchange.v1 import accounts_pb2 as pb
from openspot.domain.money import AMOUNT_MAX, AMOUNT_SCALE
from openspot.domain.order import StpMode
from openspot.engine.core.records import FLAG_ACTIVE, Command, CommandKind
from openspot.engine.engine import Engine
from openspot.engine.intake.money_intake import OWNER_CHANGES_MAX
from tests.support.engine_client import EngineClient, engine_settings, order

MARGIN = "margin:alice"


async def own_orders_meet(engine: Engine) -> tuple[str, int]:
    """What becomes of a margin account's order that meets its user's spot order, and how many trades there are."""
    await engine.intake.place([order("sell", "100", "1", "alice")]).future  # type: ignore[misc]
    await engine.intake.place([order("buy", "100", "1", MARGIN)]).future  # type: ignore[misc]
    state = engine.machine.core
    (resting,) = state.open_orders()
    trades = sum(len(known) for known in engine.machine.trades.values())
    return engine.machine.directory.participant(resting.account), trades


def forget_snapshots(folder: Path) -> None:
    """Delete the snapshots, of which an engine that ends writes one, so that the next one replays its journal."""
    written = list(folder.rglob("*.snapshot"))
    assert written
    for file in written:
        file.unlink()


@pytest.mark.parametrize("snapshot", [False, True])
async def test_self_trade_prevention_knows_the_owner_after_a_replay_and_from_a_snapshot(
    tmp_path: Path, snapshot: bool
) -> None:
    settings = engine_settings(tmp_path)
    engine = await Engine.open(settings)
    for name in ("alice", MARGIN):
        for currency in ("USD", "BTC"):
            await engine.money_intake.change_balance(CommandKind.DEPOSIT, name, currency, "1000000", "")
    number = engine.machine.directory.account(MARGIN)
    mode = Command(CommandKind.SET_ACCOUNT, order_type=StpMode.CANCEL_INCOMING, flags=FLAG_ACTIVE, account=number)
    await engine.intake.submit(mode, (MARGIN,))
    await engine.close()
    if not snapshot:
        forget_snapshots(tmp_path)
    engine = await Engine.open(settings)
    assert engine.machine.directory.account(MARGIN) == number
    assert await own_orders_meet(engine) == ("alice", 0)
    await engine.close()


def links(*pairs: tuple[str, str]) -> list[pb.OwnerLink]:
    return [pb.OwnerLink(first_participant_id=one, second_participant_id=other) for one, other in pairs]


async def fund(engine: Engine, *names: str) -> None:
    for name in names:
        for currency in ("USD", "BTC"):
            await engine.money_intake.change_balance(CommandKind.DEPOSIT, name, currency, "1000000", "")


async def set_owners(engine: Engine, *pairs: tuple[str, str]) -> int:
    """Send all links that count; returns how many accounts changed."""
    changes = engine.money_intake.set_owners(links(*pairs))
    if changes.future is not None:
        await changes.future
    return changes.submitted


@pytest.mark.parametrize("snapshot", [False, True])
async def test_linked_users_do_not_trade_with_each_other_also_after_a_restart(tmp_path: Path, snapshot: bool) -> None:
    settings = engine_settings(tmp_path)
    engine = await Engine.open(settings)
    await fund(engine, "alice", "bob", "margin:bob")
    for name in ("bob", "margin:bob"):
        number = engine.machine.directory.account(name)
        mode = Command(CommandKind.SET_ACCOUNT, order_type=StpMode.CANCEL_INCOMING, flags=FLAG_ACTIVE, account=number)
        await engine.intake.submit(mode, (name,))
    assert await set_owners(engine, ("bob", "alice"), ("bob", "carol")) == 1
    assert await set_owners(engine, ("bob", "alice"), ("bob", "carol")) == 0
    expected = engine.machine.core.state_hash()
    await engine.close()
    if not snapshot:
        forget_snapshots(tmp_path)
    engine = await Engine.open(settings)
    assert engine.machine.core.state_hash() == expected
    await engine.intake.place([order("sell", "100", "3", "alice")]).future  # type: ignore[misc]
    for name in ("bob", "margin:bob"):
        await engine.intake.place([order("buy", "100", "1", name)]).future  # type: ignore[misc]
    assert not engine.machine.trades
    # Carol joins when she has an account.
    await fund(engine, "carol")
    assert await set_owners(engine, ("bob", "alice"), ("bob", "carol")) == 1
    # Without bob, alice and carol are not linked.
    assert await set_owners(engine) == 2
    assert engine.machine.core.owner_links() == []
    await engine.intake.place([order("buy", "100", "1", "margin:bob")]).future  # type: ignore[misc]
    assert sum(len(known) for known in engine.machine.trades.values()) == 1
    await engine.close()


async def test_owners_are_set_over_grpc_and_a_refusal_says_why(engine: EngineClient) -> None:
    await engine.fund("alice", USD="100")
    await engine.fund("bob", USD="100")
    request = pb.SetOwnersRequest(links=links(("alice", "bob")))
    done = await engine.accounts.SetOwners(request)
    assert (done.success, done.result_code, done.message, done.changed, done.remaining) == (True, "SUCCESS", "", 1, 0)
    assert (await engine.accounts.SetOwners(request)).changed == 0
    refused = await engine.accounts.SetOwners(pb.SetOwnersRequest(links=links(("alice", "alice"))))
    assert (refused.success, refused.result_code, refused.changed) == (False, "AUTH_INVALID_USER", 0)
    assert refused.message == "links[0].second_participant_id: must be another user than first_participant_id"
    # A refused list changes nothing.
    assert (await engine.accounts.SetOwners(request)).changed == 0
    assert (await engine.accounts.SetOwners(pb.SetOwnersRequest())).changed == 1


async def test_one_call_changes_a_bounded_number_of_accounts_and_the_next_goes_on(tmp_path: Path) -> None:
    engine = await Engine.open(engine_settings(tmp_path))
    users = [f"user-{number}" for number in range(OWNER_CHANGES_MAX + 3)]
    for user in users:
        await engine.money_intake.change_balance(CommandKind.DEPOSIT, user, "USD", "1", "")
    pairs = [(users[0], user) for user in users[1:]]
    first = engine.money_intake.set_owners(links(*pairs))
    assert (first.submitted, first.remaining) == (OWNER_CHANGES_MAX, 2)
    assert first.future is not None
    await first.future
    assert [await set_owners(engine, *pairs), await set_owners(engine, *pairs)] == [2, 0]
    await engine.close()


async def test_accounts_that_the_core_does_not_know_get_no_command_which_each_comparison_would_repeat(
    tmp_path: Path,
) -> None:
    engine = await Engine.open(engine_settings(tmp_path))
    await fund(engine, "alice")
    too_much = str(AMOUNT_MAX // AMOUNT_SCALE)
    for name in ("bob", "margin:bob", "margin:alice", "alice"):
        # The directory names all of them from now on. The core refuses the deposits: all accounts together would have
        # too much.
        await engine.money_intake.change_balance(CommandKind.DEPOSIT, name, "USD", too_much, "")
    await engine.money_intake.change_balance(CommandKind.DEPOSIT, "carol", "USD", "1", "")
    assert await set_owners(engine, ("alice", "bob"), ("bob", "nobody")) == 0
    await engine.close()


async def test_a_margin_account_of_an_older_journal_belongs_to_its_user_also_after_a_restart(tmp_path: Path) -> None:
    settings = engine_settings(tmp_path)
    engine = await Engine.open(settings)
    await fund(engine, "alice")
    # Older versions counted on, without the number of the user's spot account.
    number = engine.machine.directory.register(MARGIN, engine.machine.directory.account("alice") + 1)
    await fund(engine, MARGIN)
    mode = Command(CommandKind.SET_ACCOUNT, order_type=StpMode.CANCEL_INCOMING, flags=FLAG_ACTIVE, account=number)
    await engine.intake.submit(mode, (MARGIN,))
    assert [await set_owners(engine), await set_owners(engine)] == [1, 0]
    await engine.close()
    forget_snapshots(tmp_path)
    engine = await Engine.open(settings)
    assert await set_owners(engine) == 0
    assert await own_orders_meet(engine) == ("alice", 0)
    await engine.close()
