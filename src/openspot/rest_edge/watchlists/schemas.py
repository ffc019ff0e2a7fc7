"""Request and response bodies of watchlists."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from openspot.contracts.messages.message import Message, TimeText
from openspot.http.validation import Body, Symbol, example, rule_broken
from openspot.rest_edge.watchlists.rules import MARKETS_MAX

WATCHLIST_NAME_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,31}$"

Symbols = Annotated[list[Symbol], Field(max_length=MARKETS_MAX)]


class WatchlistChangeBody(Body):
    """The markets to add, behind those that are there, and to remove. Both may be repeated without harm."""

    model_config = example({"add": ["BTC-USD", "ETH-USD"], "remove": ["LTC-USD"]})

    add: Symbols = Field(default_factory=list)
    remove: Symbols = Field(default_factory=list)

    @model_validator(mode="after")
    def says_one_thing(self) -> Self:
        """Refuse a change of nothing, a market that is named twice, and one that is both added and removed."""
        if not self.model_fields_set:
            raise rule_broken("body must name something to change")
        for name, symbols in (("add", self.add), ("remove", self.remove)):
            if len(set(symbols)) < len(symbols):
                raise rule_broken(f"{name} must not name a market twice")
        both = sorted(set(self.add) & set(self.remove))
        if both:
            raise rule_broken(f"add and remove must not both name {both[0]}")
        return self


class WatchlistNameBody(Body):
    """The name that a watchlist is to have."""

    model_config = example({"name": "long-term"})

    name: str = Field(pattern=WATCHLIST_NAME_PATTERN)


class Watchlist(Message, frozen=True):
    """A watchlist. `symbols` are in the order in which they were added."""

    name: str
    symbols: list[str]
    updated_at: TimeText


class DeletedWatchlist(Message, frozen=True):
    """The watchlist is deleted."""

    success: bool
