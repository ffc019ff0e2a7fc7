"""The platform's replies about money that is not an order, typed as in `records`."""

from datetime import datetime
from decimal import Decimal

import msgspec

from openspot.client.records import Record


class DepositAddress(Record, frozen=True):
    """Where to send deposits of an asset. `simulated`: the chain is a simulation, so never send real money."""

    asset: str
    network: str
    address: str
    tag: str | None
    confirmations: int
    minimum: Decimal
    simulated: bool


class BankDetails(Record, frozen=True):
    """Where to send a bank transfer, and the reference that it must carry."""

    currency: str
    network: str
    bank_name: str
    account_name: str
    account: str
    reference: str
    minimum: Decimal
    simulated: bool


class Beneficiary(Record, frozen=True):
    """The owner of a withdrawal address that is not the user's."""

    name: str
    country: str
    vasp_id: str | None = None


class WithdrawalAddress(Record, frozen=True):
    """A saved address. It can be used from `available_at`."""

    id: str
    label: str
    asset: str
    network: str
    address: str
    tag: str | None
    is_own: bool
    beneficiary: Beneficiary | None
    available_at: datetime
    created_at: datetime
    simulated: bool


class Holding(Record, frozen=True):
    """The amount of one asset and its value, which is None without a price."""

    asset: str
    balance: Decimal
    price: Decimal | None
    value: Decimal | None


class PortfolioPoint(Record, frozen=True):
    """The user's holdings at one time. `value` leaves out the assets in `unpriced`."""

    timestamp: int
    value: Decimal
    unpriced: list[str]
    holdings: list[Holding]


class ConversionPair(Record, frozen=True):
    """A pair of assets that can be converted, with the limits of `from_asset`'s amount."""

    from_asset: str
    to_asset: str
    symbol: str
    minimum: Decimal
    maximum: Decimal


class ConversionQuote(Record, frozen=True):
    """A price for a whole amount, valid until `expires_at`."""

    quote_id: str
    from_asset: str
    to_asset: str
    from_amount: Decimal
    to_amount: Decimal
    price: Decimal
    inverse_price: Decimal
    spread_bps: int
    spread_amount: Decimal
    created_at: datetime
    expires_at: datetime


class Conversion(Record, frozen=True):
    """A conversion; `status` is `pending`, `completed` or `failed`."""

    id: str
    quote_id: str
    status: str
    from_asset: str
    to_asset: str
    from_amount: Decimal
    to_amount: Decimal
    spread_amount: Decimal
    price: Decimal
    failure_code: str | None
    created_at: datetime
    completed_at: datetime | None


class StakingProduct(Record, frozen=True):
    """A staking product; `type` is `flexible` or `locked`."""

    id: str
    asset: str
    type: str
    apr: Decimal
    lock_days: int
    unbonding_days: int
    minimum: Decimal
    maximum: Decimal
    remaining: Decimal
    early_redemption: str


class Stake(Record, frozen=True):
    """A stake and its rewards so far."""

    id: str
    product_id: str
    asset: str
    type: str
    amount: Decimal
    accrued: Decimal
    status: str
    failure_code: str | None
    created_at: datetime
    starts_at: datetime | None
    ends_at: datetime | None


class StakingEvent(Record, frozen=True):
    """Something that happened to a stake."""

    id: str
    balance_id: str
    type: str
    asset: str
    amount: Decimal
    created_at: datetime


class Unstake(Record, frozen=True):
    """An amount that was taken back from a stake. It is paid at `available_at` or soon after."""

    id: str
    balance_id: str
    asset: str
    amount: Decimal
    reward: Decimal
    status: str
    amount_paid: bool
    reward_paid: bool
    created_at: datetime
    available_at: datetime


class PaymentRoute(Record, frozen=True):
    """A way to pay in. `fee_bps` is in basis points of the amount, `fee_fixed` is added."""

    id: str
    name: str
    currency: str
    provider: str
    minimum: Decimal
    maximum: Decimal
    fee_bps: int
    fee_fixed: Decimal
    simulated: bool


class PaymentSession(Record, frozen=True):
    """An opened payment; the payer goes to `url`."""

    id: str
    url: str
    status: str
    payment_status: str
    expires_at: datetime


class Payment(Record, frozen=True):
    """A payment. The status `credited` says that its net amount is in the balance."""

    id: str
    route_id: str
    currency: str
    amount: Decimal
    fee: Decimal
    net_amount: Decimal
    status: str
    payment_status: str
    credited: bool
    url: str
    return_url: str | None
    created_at: datetime
    expires_at: datetime
    completed_at: datetime | None


class FeeTier(Record, frozen=True):
    """The fee rates of users with at least this volume, as fractions of the notional."""

    name: str
    volume_min: Decimal
    maker_rate: Decimal
    taker_rate: Decimal


class TokenHolderFees(Record, frozen=True):
    """The rates of those who hold `minimum` of an asset; `asset` is None if the platform has none."""

    asset: str | None
    minimum: Decimal
    maker_rate: Decimal
    taker_rate: Decimal
    is_holder: bool


class TradingFees(Record, frozen=True):
    """The user's rates, and all tiers. `volume_30d` is the user's traded volume of thirty days."""

    tier: str
    volume_30d: Decimal = msgspec.field(name="volume30D")
    maker_rate: Decimal
    taker_rate: Decimal
    token_holder: TokenHolderFees
    tiers: list[FeeTier]


class NetworkFee(Record, frozen=True):
    """The fee of a withdrawal, and the smallest amount. An amount may have `places` decimal places.

    `fiat` says that the network is a bank network.
    """

    asset: str
    network: str
    fee: Decimal
    minimum: Decimal
    places: int
    fiat: bool


class NetworkFeeQuote(Record, frozen=True):
    """The fee of a withdrawal of this amount. It holds until `expires_at` for a withdrawal with `fee_quote_id`."""

    asset: str
    network: str
    amount: Decimal
    fee: Decimal
    minimum: Decimal
    net_amount: Decimal
    fee_quote_id: str
    expires_at: datetime


class PaymentFee(Record, frozen=True):
    """The fee of a way to pay in."""

    route_id: str
    currency: str
    fee_bps: int
    fee_fixed: Decimal


class OrderEstimate(Record, frozen=True):
    """The estimated cost or proceeds of an order."""

    symbol: str
    side: str
    price: Decimal
    quantity: Decimal
    subtotal: Decimal
    fee: Decimal
    fee_rate: Decimal
    total: Decimal
    spend_asset: str
    receive_asset: str
