"""Bodies of the staking routes."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from openspot.http.validation import Body, PositiveDecimal, ResponseBody, example

ProductName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9-]{1,64}$")]
BalanceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9]{1,40}$")]


class StakeBody(Body):
    """What to stake, in which product."""

    model_config = example({"productId": "usdt-flexible", "amount": "100"})

    product_id: ProductName
    amount: PositiveDecimal


class UnstakeBody(Body):
    """What to take back of a staking balance; without `amount` all of it."""

    model_config = example({"balanceId": "9FvT4qKxW2mZr7Hd", "amount": "25"})

    balance_id: BalanceName
    amount: PositiveDecimal | None = None


class ProductResponse(ResponseBody):
    """A product. `apr` is the yearly rate as a decimal; `remaining` is what all users can still stake."""

    id: str
    asset: str
    type: Literal["flexible", "locked"]
    apr: str
    lock_days: int
    unbonding_days: int
    minimum: str
    maximum: str
    remaining: str
    early_redemption: Literal["allowed", "forfeits_rewards", "not_allowed"]


class StakingBalanceResponse(ResponseBody):
    """A stake. `accrued` is the reward so far that no unstake has taken along yet.

    `pending`: the engine's answer is not known yet. `unbonding`: nothing earns any more. The first day that earns
    begins at `startsAt`. A locked stake ends at `endsAt`: it is taken back by itself then, and earns nothing after it.
    """

    id: str
    product_id: str
    asset: str
    type: Literal["flexible", "locked"]
    amount: str
    accrued: str
    status: Literal["pending", "failed", "active", "unbonding", "redeemed"]
    failure_code: str | None = Field(description="Why it failed, as the engine says")
    created_at: str
    starts_at: str | None
    ends_at: str | None


class UnstakeResponse(ResponseBody):
    """What is on its way back to the user, after the unbonding. It earns nothing."""

    id: str
    balance_id: str
    asset: str
    amount: str
    reward: str
    status: Literal["unbonding", "paying", "paid"]
    amount_paid: bool
    reward_paid: bool
    created_at: str
    available_at: str


class StakingEventResponse(ResponseBody):
    """One line of the history. `reward` is a day's accrual, `payout` and `reward_payout` reached the user's account."""

    id: str
    balance_id: str
    type: Literal["stake", "reward", "unstake", "reward_forfeited", "payout", "reward_payout"]
    asset: str
    amount: str
    created_at: str
