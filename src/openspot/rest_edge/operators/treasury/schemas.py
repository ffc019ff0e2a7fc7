"""Bodies of the treasury."""

from typing import Annotated

from pydantic import Field, StringConstraints

from openspot.contracts.messages.message import DecimalText, TimeText
from openspot.http.validation import Body, Currency, ExactPositiveDecimal, ResponseBody, example
from openspot.rest_edge.operators.moves.model import MoveStatus
from openspot.rest_edge.operators.schemas import Reason, SignedAmount
from openspot.rest_edge.operators.treasury.rules import FlowCategory

HouseAccount = Annotated[str, StringConstraints(strict=True, pattern=r"^house:[a-z]{1,40}$")]

ExternalReference = Annotated[str, StringConstraints(strict=True, pattern=r"^[!#-\[\]-~]{1,128}$")]
"""Visible ASCII without blank, quote and backslash, as the ledger has references."""


class HouseTransferBody(Body):
    """What moves between two accounts of the house."""

    model_config = example(
        {
            "from": "house:fees", "to": "house:insurance", "asset": "USDT", "amount": "2500",
            "reason": "the insurance is below its level",
        }
    )  # fmt: skip

    source: Annotated[HouseAccount, Field(alias="from")]
    destination: Annotated[HouseAccount, Field(alias="to")]
    asset: Currency
    amount: ExactPositiveDecimal
    reason: Reason


class HouseFlowBody(Body):
    """What came from outside into an account of the house; a negative `amount` is what went out.

    `reference` names it outside: the number of a bank's transfer, or a hash of a chain. It counts once.
    """

    model_config = example(
        {
            "account": "house:insurance", "asset": "USDT", "amount": "25000", "category": "capital",
            "reference": "SEPA-2026-02-11-0042", "reason": "the owners fill the insurance",
        }
    )  # fmt: skip

    account: HouseAccount
    asset: Currency
    amount: SignedAmount
    category: FlowCategory
    reference: ExternalReference
    reason: Reason


class HouseLevelBody(Body):
    """The level that an account should have of an asset; null: none. `reason` stays in the trail."""

    model_config = example(
        {"account": "house:insurance", "asset": "USDT", "level": "10000", "reason": "a day of liquidations"}
    )

    account: HouseAccount
    asset: Currency
    level: ExactPositiveDecimal | None
    reason: Reason


class HouseBalanceResponse(ResponseBody):
    """An account's balance of one asset at the engine and in the ledger, and its level.

    A side is null if it could not be read. `difference` is the ledger's total less the engine's. `isLow` says that the
    engine has less available than the level.
    """

    asset: str
    engine_total: DecimalText | None
    engine_available: DecimalText | None
    ledger_total: DecimalText | None
    difference: DecimalText | None
    level: DecimalText | None
    is_low: bool


class HouseAccountResponse(ResponseBody):
    """An account of the house. `closedBecause` says why no money may be moved from or to it; null if it may.

    `closedToOutsideBecause` says the same of money that comes from outside or goes there.
    """

    account: str
    purpose: str
    closed_because: str | None
    closed_to_outside_because: str | None
    balances: list[HouseBalanceResponse]


class HouseLevelResponse(ResponseBody):
    """A level as it is from now on."""

    account: str
    asset: str
    level: DecimalText | None


class HouseTransferResponse(ResponseBody):
    """A transfer, or the request for one that another person approves: then `status` is `waiting` or `rejected`.

    `pending`: the engine has not answered yet, it is tried again. `resultCode` says why one was refused. `valueUsd` is
    null where nobody knew the value.
    """

    id: str
    source: Annotated[str, Field(alias="from")]
    destination: Annotated[str, Field(alias="to")]
    asset: str
    amount: DecimalText
    reason: str
    value_usd: DecimalText | None
    requested_by: str
    approved_by: str | None
    status: MoveStatus
    result_code: str | None
    created_at: TimeText
    decided_at: TimeText | None


class HouseFlowResponse(ResponseBody):
    """Money of the house that came from outside, below 0 that went there; or the request for it that another person
    approves: then `status` is `waiting` or `rejected`.

    `pending`: the engine has not answered yet, it is tried again. `resultCode` says why one was refused. `valueUsd` is
    null where nobody knew the value.
    """

    id: str
    account: str
    asset: str
    amount: DecimalText
    category: FlowCategory
    reference: str
    reason: str
    value_usd: DecimalText | None
    requested_by: str
    approved_by: str | None
    status: MoveStatus
    result_code: str | None
    created_at: TimeText
    decided_at: TimeText | None


class HouseEntryResponse(ResponseBody):
    """An entry of a house account in the ledger that no trade made. Below 0 the account gave. `balance`
    is the total after it."""

    id: str
    asset: str
    amount: DecimalText
    balance: DecimalText
    kind: str
    reference: str
    created_at: TimeText
