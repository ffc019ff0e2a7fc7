"""Request and response bodies of drawings."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from openspot.contracts.messages.message import Count, DecimalText, Message, TimeText, listed
from openspot.http.validation import Body, NoBoolean, PositiveDecimal, example, rule_broken
from openspot.rest_edge.drawings.rules import MARKET_MAX, POINTS, PUT_MAX, DrawingColour, DrawingKind

TEXT_LENGTH_MAX = 200
_TIME_MS_MAX = 253_402_300_799_999
"""The end of the year 9999."""

DrawingId = Annotated[str, StringConstraints(strict=True, pattern=r"^[A-Za-z0-9_-]{1,36}$")]
DrawingText = Annotated[
    str,
    StringConstraints(
        strict=True, strip_whitespace=True, max_length=TEXT_LENGTH_MAX, pattern=r"^[^\x00-\x1f\x7f-\x9f]*$"
    ),
]


class DrawingPointBody(Body):
    """A place on the chart: milliseconds since 1970, and a price. It need not be in a candle."""

    time: Annotated[int, Field(ge=0, le=_TIME_MS_MAX), NoBoolean]
    price: PositiveDecimal


class DrawingBody(Body):
    """A drawing. You choose its `id`: to put it again replaces it.

    A horizontal line and a text have one point, the others two. `text` is what a text says; of another kind it is the
    name that you give it, and may be empty.
    """

    id: DrawingId
    kind: DrawingKind
    points: Annotated[list[DrawingPointBody], Field(min_length=1, max_length=2)]
    colour: DrawingColour = DrawingColour.BLUE
    width: Annotated[int, Field(ge=1, le=3), NoBoolean] = 2
    text: DrawingText = ""

    @model_validator(mode="after")
    def is_whole(self) -> Self:
        """Refuse another number of points than its kind has, and a text that says nothing."""
        if len(self.points) != POINTS[self.kind]:
            raise rule_broken(f"points must be {POINTS[self.kind]} of a {self.kind}")
        if self.kind is DrawingKind.TEXT and not self.text:
            raise rule_broken("text must not be empty of a text")
        return self


class DrawingsChangeBody(Body):
    """The drawings to add or to replace, and the ids of those to remove. Both may be repeated without harm."""

    model_config = example(
        {
            "put": [
                {
                    "id": "support-1",
                    "kind": "trend_line",
                    "points": [
                        {"time": 1767225600000, "price": "64000"},
                        {"time": 1767312000000, "price": "65500.5"},
                    ],
                    "colour": "blue",
                    "width": 2,
                    "text": "Support",
                }
            ],
            "remove": ["old-1"],
        }
    )

    put: Annotated[list[DrawingBody], Field(max_length=PUT_MAX)] = Field(default_factory=list)
    remove: Annotated[list[DrawingId], Field(max_length=MARKET_MAX)] = Field(default_factory=list)

    @model_validator(mode="after")
    def says_one_thing(self) -> Self:
        """Refuse a change of nothing, an id that is named twice, and one that is both put and removed."""
        if not self.model_fields_set:
            raise rule_broken("body must name something to change")
        put = [drawing.id for drawing in self.put]
        for name, ids in (("put", put), ("remove", self.remove)):
            if len(set(ids)) < len(ids):
                raise rule_broken(f"{name} must not name a drawing twice")
        both = sorted(set(put) & set(self.remove))
        if both:
            raise rule_broken(f"put and remove must not both name {both[0]}")
        return self


class DrawingPoint(Message, frozen=True):
    """A place on the chart. `time` is in milliseconds since 1970."""

    time: Count
    price: DecimalText


class Drawing(Message, frozen=True):
    """A drawing on the chart of a market."""

    id: str
    kind: Annotated[str, listed(*DrawingKind)]
    points: list[DrawingPoint]
    colour: Annotated[str, listed(*DrawingColour)]
    width: int
    text: str


class Drawings(Message, frozen=True):
    """Your drawings on the chart of a market, in the order in which they were first put."""

    symbol: str
    drawings: list[Drawing]


class DrawnMarket(Message, frozen=True):
    """A market that you have drawn on."""

    symbol: str
    count: Count
    updated_at: TimeText
