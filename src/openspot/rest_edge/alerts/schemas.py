"""Request and response bodies of price alerts."""

from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, StringConstraints, model_validator

from openspot.contracts.messages.message import Count, DecimalText, Message, TimeText, listed
from openspot.domain.fair_price.band import PriceReference
from openspot.http.validation import Body, NoBoolean, PositiveDecimal, Symbol, example, rule_broken
from openspot.rest_edge.alerts.rules import INTERVAL_S_MAX, INTERVAL_S_MIN, AlertState, PriceSide

NOTE_LENGTH_MAX = 200
ALERT_ID_PATTERN = r"^[A-Za-z0-9]{16}$"

Note = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=NOTE_LENGTH_MAX, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$"
    ),
]
IntervalS = Annotated[int, Field(ge=INTERVAL_S_MIN, le=INTERVAL_S_MAX), NoBoolean]


class PriceAlertBody(Body):
    """What you want to be told. A repeating alert needs `rearmDistance`, `minimumIntervalSeconds` or both.

    After it has fired it rests for `minimumIntervalSeconds` (60 if it is not given); with `rearmDistance` the price
    must also have gone back so far, in the quote currency, before it fires again.
    """

    model_config = example({"symbol": "BTC-USD", "direction": "above", "price": "70000", "note": "take profit"})

    symbol: Symbol
    source: PriceReference = PriceReference.LAST_TRADE
    direction: PriceSide
    price: PositiveDecimal
    note: Note | None = None
    repeat: StrictBool = False
    rearm_distance: PositiveDecimal | None = None
    minimum_interval_seconds: IntervalS | None = None


class PriceAlertChangeBody(Body):
    """What shall change. What is not given stays; null takes note, distance or interval away.

    An alert is armed again if anything but its note changes, or with `armed`.
    """

    model_config = example({"price": "71000"})

    source: PriceReference | None = None
    direction: PriceSide | None = None
    price: PositiveDecimal | None = None
    note: Note | None = None
    repeat: StrictBool | None = None
    rearm_distance: PositiveDecimal | None = None
    minimum_interval_seconds: IntervalS | None = None
    armed: Literal[True] | None = None

    @model_validator(mode="after")
    def says_what_changes(self) -> Self:
        """Refuse a change of nothing, and null where an alert needs a value."""
        if not self.model_fields_set:
            raise rule_broken("body must name something to change")
        for name in ("source", "direction", "price", "repeat", "armed"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise rule_broken(f"{name} must not be null")
        return self


class PriceAlert(Message, frozen=True):
    """A price alert. `fired_at` and `fired_price` are those of the last time, null if it never fired."""

    id: str
    symbol: str
    source: Annotated[str, listed(*PriceReference)]
    direction: Annotated[str, listed(*PriceSide)]
    price: DecimalText
    note: str | None
    repeat: bool
    rearm_distance: DecimalText | None
    minimum_interval_seconds: Count | None
    state: Annotated[str, listed(*AlertState)]
    times_fired: Count
    fired_at: TimeText | None
    fired_price: DecimalText | None
    created_at: TimeText


class DeletedPriceAlert(Message, frozen=True):
    """The price alert is deleted."""

    success: bool
