"""Balances for responses, with names and decimal texts (fact A1.4-13)."""

from typing import NamedTuple

from openspot.domain.money import amount_to_text
from openspot.engine.state.directory import UNKNOWN_ACCOUNT
from openspot.engine.state.state_machine import StateMachine


class BalanceView(NamedTuple):
    """The balance of one participant in one currency.

    `available` is total − locked. `reserved` is held in addition to `locked`, for the worst-case fees of open buy
    orders and for pending withdrawals.
    """

    participant_id: str
    currency: str
    total: str
    available: str
    locked: str
    reserved: str


def balance_views(machine: StateMachine, participant_id: str = "") -> list[BalanceView]:
    """The balances of one participant, or of all without one. Empty for an unknown participant."""
    directory = machine.directory
    account = directory.account(participant_id) if participant_id else 0
    if account == UNKNOWN_ACCOUNT:
        return []
    return [
        BalanceView(
            directory.participant(balance.account),
            directory.currency_text(balance.currency),
            amount_to_text(balance.total),
            amount_to_text(balance.total - balance.locked),
            amount_to_text(balance.locked),
            amount_to_text(balance.reserved),
        )
        for balance in machine.core.balances(account)
    ]
