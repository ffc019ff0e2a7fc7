"""Custody: the events `custody.deposit.*` and `custody.withdrawal.*` (facts A1.5-01, A1.5-09), and its requests."""

from typing import Annotated, Literal, get_args

from openspot.contracts.messages.message import DecimalText, Message, TimeText, listed
from openspot.contracts.messages.reply import RefusableReply


class DepositConfirmed(Message, frozen=True):
    """Payload of `custody.deposit.confirmed`."""

    tx_hash: str
    user_id: str
    asset: str
    amount: str
    address: str | None = None
    network: str | None = None
    confirmations: int | None = None
    timestamp: int | None = None


class WithdrawalRequested(Message, frozen=True):
    """Payload of `custody.withdrawal.requested`."""

    withdrawal_id: str
    user_id: str
    asset: str
    amount: str
    address: str | None = None
    network: str | None = None
    timestamp: int | None = None


class WithdrawalOutcome(Message, frozen=True):
    """Payload of `custody.withdrawal.{reserved,completed,failed}`.

    `refused` marks a failure that the router itself published: it could not reserve the funds, and nothing is held.
    `cancelled` marks the end of a withdrawal that its user cancelled.
    """

    withdrawal_id: str
    user_id: str
    asset: str
    amount: str
    reason: str | None = None
    tx_hash: str | None = None
    timestamp: int | None = None
    refused: bool = False
    cancelled: bool = False


class CustodyAddress(Message, frozen=True):
    """A deposit address of a user. `simulated` is true: nobody may send real funds to it.

    A deposit waits for `confirmations` blocks. `minimum` is the smallest deposit. While deposits are not enabled, what
    comes is credited after the pause.
    """

    user_id: str
    asset: str
    network: str
    address: str
    tag: str | None
    confirmations: int
    minimum: str
    simulated: bool = True
    deposits_enabled: bool = True


class AssignAddress(Message, frozen=True):
    """Request `custody.user.addresses.assign`: the user's deposit address. The first request creates it."""

    user_id: str
    asset: str
    network: str


class AssignAddressReply(RefusableReply, frozen=True):
    """Reply of `custody.user.addresses.assign`: the address, or `error` and `code`."""

    address: CustodyAddress | None = None


class GetUserAddresses(Message, frozen=True):
    """Request `custody.user.addresses.get`: all addresses of a user, or with `asset` those for one asset."""

    user_id: str
    asset: str | None = None


class GetUserAddressesReply(RefusableReply, frozen=True):
    """Reply of `custody.user.addresses.get`, by asset and network; a refusal has `error` and `code`."""

    NOTHING = ([],)

    addresses: list[CustodyAddress]


class GetAddress(Message, frozen=True):
    """Request `custody.address.get`: whether an address is valid for an asset on a network, and whose it is."""

    asset: str
    network: str
    address: str
    tag: str | None = None


class GetAddressReply(RefusableReply, frozen=True):
    """Reply of `custody.address.get`. `address` has the form in which custody stores it.

    `user_id` is the user who has this deposit address; None for an address outside the platform. An invalid
    address is refused with ADDRESS_INVALID.
    """

    address: str | None = None
    tag: str | None = None
    user_id: str | None = None


class CreateWithdrawal(Message, frozen=True, kw_only=True):
    """Request `custody.withdrawals.create`. `amount` leaves the account, `amount` - `fee` arrives.

    If the `withdrawal_id`, or the user's `client_withdrawal_id`, was used before, the reply is the earlier withdrawal.
    The user may withdraw `user_limit_cents` (US cents) within 24 hours.
    """

    withdrawal_id: str
    user_id: str
    asset: str
    network: str
    amount: str
    fee: str
    address: str
    tag: str | None
    user_limit_cents: int
    client_withdrawal_id: str | None = None


class CancelWithdrawal(Message, frozen=True):
    """Request `custody.withdrawals.cancel`: cancel a withdrawal that is not approved yet."""

    withdrawal_id: str
    user_id: str


WithdrawalStatus = Literal[
    "pending_approval", "approved", "signing", "broadcasting", "confirming", "completed", "cancelled", "rejected",
    "failed",
]  # fmt: skip


class WithdrawalRecord(Message, frozen=True, kw_only=True):
    """A withdrawal as clients see it. `amount` leaves the account, `net_amount` arrives. Times are in UTC."""

    id: str
    client_withdrawal_id: str | None
    asset: str
    network: str
    amount: DecimalText
    fee: DecimalText
    net_amount: DecimalText
    address: str
    tag: str | None
    status: Annotated[str, listed(*get_args(WithdrawalStatus))]
    reason: str | None
    tx_hash: str | None
    confirmations: int
    required_confirmations: int
    wallet: Annotated[str, listed("HOT", "WARM", "TREASURY", "COLD")]
    created_at: TimeText
    updated_at: TimeText


class GetReserves(Message, frozen=True):
    """Request `custody.reserves.get`: what custody holds."""


class CustodyReserve(Message, frozen=True):
    """What custody holds of an asset on a network. `held` is negative if more was sent than has arrived.

    `leaving` was sent, but is not taken from the users' accounts yet: it is neither held nor repaid.
    """

    asset: str
    network: str
    held: str
    leaving: str


class GetReservesReply(RefusableReply, frozen=True):
    """Reply of `custody.reserves.get`, by asset and network; a refusal has `error` and `code`."""

    NOTHING = ([],)

    reserves: list[CustodyReserve]


class WithdrawalReply(RefusableReply, frozen=True):
    """Reply of `custody.withdrawals.*`: the withdrawal, or `error` and `code`."""

    withdrawal: WithdrawalRecord | None = None
