"""Fair prices: the event `marketdata.fairprice.*`, and the request for all of them."""

from typing import Annotated

from openspot.contracts.messages.message import Count, DecimalText, Message, listed
from openspot.contracts.messages.reply import RefusableReply


class FairPriceEvent(Message, frozen=True):
    """Payload of `marketdata.fairprice.<SYMBOL>`: domain.fair_price.model.FairPrice on the wire.

    Only a market that ever had a price has one. `timestamp` is when the price was computed, in milliseconds since 1970.
    `is_confirmed` says that a venue or the operator is among the sources of a price that can be used.
    """

    symbol: str
    state: Annotated[str, listed("good", "thin", "stale", "disputed")]
    price: DecimalText
    low: DecimalText
    high: DecimalText
    day_median: DecimalText
    sellable: DecimalText
    buyable: DecimalText
    timestamp: Count
    reason: str = ""
    is_confirmed: bool = False


class GetFairPrices(Message, frozen=True):
    """Request `marketdata.fairprices.get`: the fair prices of all markets."""


class GetFairPricesReply(RefusableReply, frozen=True):
    """Reply of `marketdata.fairprices.get`, by symbol; a refusal has `error` and `code`."""

    NOTHING = ([],)

    prices: list[FairPriceEvent]
