"""Bodies of the FIFO cost basis. Amounts are decimal texts; money is in the accounting currency."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from openspot.contracts.messages.message import DecimalText
from openspot.http.validation import (
    Body,
    Currency,
    NonNegativeDecimal,
    ParticipantId,
    PositiveDecimal,
    ResponseBody,
    SignedDecimal,
    UtcDatetime,
    example,
)
from openspot.positions.times import ShownTime

ExternalId = Annotated[str, StringConstraints(pattern=r"^[!#-\[\]-~]{1,200}$")]
Account = Annotated[str, StringConstraints(pattern=r"^[!-~]([ -~]{0,62}[!-~])?$")]
Kind = Literal["acquisition", "disposal", "transfer"]


class TransactionBody(Body):
    """A FIFO transaction. Without `userId` it is yours.

    `value` is the money paid or received for `quantity`, without the fee. `fee` is the value of the fee. A fee that was
    paid in an asset also has `feeAsset` and `feeQuantity`. A transfer moves `quantity` to your account `destination`
    and has no value.
    """

    model_config = example(
        {
            "externalId": "buy-1",
            "timestamp": "2025-03-01T10:00:00Z",
            "type": "acquisition",
            "asset": "BTC",
            "quantity": "0.5",
            "value": "40000",
            "fee": "20",
        }
    )

    user_id: ParticipantId | None = None
    external_id: ExternalId
    timestamp: UtcDatetime
    type: Kind
    account: Account = "main"
    asset: Currency
    quantity: PositiveDecimal
    value: NonNegativeDecimal = "0"
    fee: SignedDecimal = "0"
    fee_asset: Currency | None = None
    fee_quantity: NonNegativeDecimal = "0"
    destination: Account | None = None


class TransactionResponse(ResponseBody):
    """A stored FIFO transaction."""

    user_id: str
    external_id: str
    timestamp: ShownTime
    type: Kind
    account: str
    asset: str
    quantity: DecimalText
    value: DecimalText
    fee: DecimalText
    fee_asset: str | None
    fee_quantity: DecimalText
    destination: str | None


class OwnerResponse(ResponseBody):
    """A user with FIFO transactions."""

    user_id: str
    transactions: int


class HoldingResponse(ResponseBody):
    """An account's holding of an asset: its quantity, its cost, and the number of its lots."""

    account: str
    asset: str
    quantity: DecimalText
    cost: DecimalText
    lots: int


class YearResponse(ResponseBody):
    """The disposals of one asset in one tax year. `taxYear` is the calendar year in which the tax year begins."""

    tax_year: int
    asset: str
    disposals: int
    quantity: DecimalText
    proceeds: DecimalText
    cost: DecimalText
    gain: DecimalText


class ShortfallResponse(ResponseBody):
    """A transaction that takes more than its account holds. It moves nothing until the account holds enough."""

    external_id: str
    timestamp: ShownTime
    reason: str


class CostBasisResponse(ResponseBody):
    """A user's cost basis. `unvaluedFills` is the number of fills that wait for the price of their quote asset.

    `shortfalls` has the first hundred of `shortfallCount` shortfalls.
    """

    user_id: str
    currency: str
    transactions: int
    unvalued_fills: int
    holdings: list[HoldingResponse]
    gains: list[YearResponse]
    shortfall_count: int
    shortfalls: list[ShortfallResponse]


class LotResponse(ResponseBody):
    """An open lot; `cost` includes fees."""

    account: str
    acquired_at: ShownTime
    acquisition_id: str
    quantity: DecimalText
    cost: DecimalText


class DisposalResponse(ResponseBody):
    """One lot's share of a disposal. `gain` is `proceeds` less `cost`."""

    disposal_id: str
    disposed_at: ShownTime
    account: str
    asset: str
    reason: Literal["sale", "fee"]
    quantity: DecimalText
    proceeds: DecimalText
    cost: DecimalText
    gain: DecimalText
    acquired_at: ShownTime
    acquisition_id: str


class AssetCostBasisResponse(ResponseBody):
    """A user's cost basis in one asset: sums, the oldest thousand open lots, and a page of disposals, newest first."""

    user_id: str
    asset: str
    currency: str
    quantity: DecimalText
    cost: DecimalText
    lot_count: int
    lots: list[LotResponse]
    gains: list[YearResponse]
    disposals: list[DisposalResponse]


class RefusalReasonResponse(ResponseBody):
    """Why a line is refused. `field` is empty if the whole line is wrong."""

    field: str
    reason: str


class RefusedLine(ResponseBody):
    """A refused line of an import. In a JSON array, `line` is the element's place, from 1."""

    line: int
    external_id: str | None
    reasons: list[RefusalReasonResponse]


class UncoveredTransaction(ResponseBody):
    """A stored transaction that takes more than its account holds."""

    external_id: str
    reason: str


class ImportResponse(ResponseBody):
    """The report of an import: every refused line, and the first thousand stored transactions that are not covered."""

    user_id: str
    layout: str = Field(examples=["openspot", "coinbase", "kraken", "bitstamp", "mapping"])
    accepted: int
    repeated: int
    refused_count: int
    uncovered: list[UncoveredTransaction]
    refused: list[RefusedLine]
