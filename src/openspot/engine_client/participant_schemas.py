"""Bodies and responses of the routes that look over participants, those of the engine and those of the REST edge.

CamelCase names, decimals as strings.
"""

from typing import Annotated

from openspot.contracts.messages.message import Count, DecimalText, Message, listed
from openspot.engine_client.listing_schemas import ReasonedBody
from openspot.http.validation import example

LISTED_MAX = 1000
"""The most rows of one response."""

ACTIVE, FROZEN, INACTIVE = "active", "frozen", "inactive"
StateName = Annotated[str, listed(ACTIVE, FROZEN, INACTIVE)]


class FreezeBody(ReasonedBody):
    """Why a participant is frozen, or not any more."""

    model_config = example({"reason": "its orders look like those of a broken program"})


class ParticipantState(Message, frozen=True, kw_only=True):
    """Whether a participant may place orders.

    `frozen`: an operator has frozen it, and an operator may end that. `inactive`: an administrator of the engine has
    deactivated it, and only an administrator activates it.
    """

    participant_id: str
    state: StateName


class ParticipantView(ParticipantState, frozen=True, kw_only=True):
    """A participant. `name` is empty for one that a deposit created.

    `createdAt` is in milliseconds since 1970. `freezable` says whether an operator may freeze it.
    """

    name: str
    type: str
    stp_mode: str
    created_at: Count
    freezable: bool


class ParticipantPage(Message, frozen=True, kw_only=True):
    """Some participants in the order in which their accounts were made, and how many there are."""

    participants: list[ParticipantView]
    total: Count


class BalanceOfParticipant(Message, frozen=True, kw_only=True):
    """A balance at the engine: available = total - locked; `reserved` is held in addition."""

    participant_id: str
    currency: str
    total: DecimalText
    available: DecimalText
    locked: DecimalText
    reserved: DecimalText


class BalancesOfParticipants(Message, frozen=True, kw_only=True):
    """Some balances, and of how many these are."""

    balances: list[BalanceOfParticipant]
    total: Count


class BalancePage(Message, frozen=True, kw_only=True):
    """Some balances in the order in which their accounts were made, and the cursor of the next page if there is one.

    A page before the last may be shorter than it was asked to be, or empty.
    """

    balances: list[BalanceOfParticipant]
    next_cursor: str | None = None


class RiskMetric(Message, frozen=True, kw_only=True):
    """How much of a balance open orders lock. `freezable` says whether an operator may freeze the participant."""

    participant_id: str
    currency: str
    total: DecimalText
    locked: DecimalText
    utilisation_percent: DecimalText
    open_orders: Count
    state: StateName
    freezable: bool


class RiskMetrics(Message, frozen=True, kw_only=True):
    """The balances of which open orders lock the largest share, the largest first, and of how many these are."""

    metrics: list[RiskMetric]
    total: Count


class RiskPage(Message, frozen=True, kw_only=True):
    """Some balances with what open orders lock of them, in the order in which their accounts were made.

    `nextCursor` is the cursor of the next page if there is one. A page before the last may be shorter, or empty.
    """

    metrics: list[RiskMetric]
    next_cursor: str | None = None
