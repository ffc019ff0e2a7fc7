"""Bodies of the staking routes."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from openspot.contracts.messages.message import DecimalText, TimeText
from openspot.http.validation import Body, PositiveDecimal, ResponseBody, example

ProductName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,64}$")]
BalanceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{1,40}$")]
Redemption = Literal["allowed", "forfeits_rewards", "not_allowed"]


class StakeBody(Body):
    """The product and the amount to stake."""

    model_config = example({"productId": "usdt-flexible", "amount": "100"})

    product_id: ProductName
    amount: PositiveDecimal


class UnstakeBody(Body):
    """The amount to take back from a staking balance. Without `amount`, all of it is taken back."""

    model_config = example({"balanceId": "9FvT4qKxW2mZr7Hd", "amount": "25"})

    balance_id: BalanceName
    amount: PositiveDecimal | None = None


class ProductResponse(ResponseBody):
    """A product. `apr` is the yearly rate as a decimal; all users together can still stake `remaining`."""

    id: str
    asset: str
    type: Literal["flexible", "locked"]
    apr: DecimalText
    lock_days: int
    unbonding_days: int
    minimum: DecimalText
    maximum: DecimalText
    remaining: DecimalText
    early_redemption: Redemption


class StakingBalanceResponse(ResponseBody):
    """A stake. `accrued` is the reward so far, without the rewards that unstakes have taken along.

    `pending` says that the engine's decision is not known yet, `unbonding` that the stake no longer earns. The first
    day with a reward begins at `startsAt`. A locked stake ends at `endsAt`: then it is taken back and earns no more.
    `earlyRedemption` and `unbondingDays` are those of its product when it was made.
    """

    id: str
    product_id: str
    asset: str
    type: Literal["flexible", "locked"]
    amount: DecimalText
    accrued: DecimalText
    unbonding_days: int
    early_redemption: Redemption
    status: Literal["pending", "failed", "active", "unbonding", "redeemed"]
    failure_code: str | None = Field(description="Why it failed, as the engine says")
    created_at: TimeText
    starts_at: TimeText | None
    ends_at: TimeText | None


class UnstakeResponse(ResponseBody):
    """An amount that is taken back. It is paid after the unbonding, and earns nothing until then."""

    id: str
    balance_id: str
    asset: str
    amount: DecimalText
    reward: DecimalText
    status: Literal["unbonding", "paying", "paid"]
    amount_paid: bool
    reward_paid: bool
    created_at: TimeText
    available_at: TimeText


class StakingEventResponse(ResponseBody):
    """An event of the history. `reward` is a day's accrual; `payout` and `reward_payout` are payments to the user."""

    id: str
    balance_id: str
    type: Literal["stake", "reward", "unstake", "reward_forfeited", "payout", "reward_payout"]
    asset: str
    amount: DecimalText
    created_at: TimeText
