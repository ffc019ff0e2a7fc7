"""The accounts of the demo market's bots. Their ids are fixed, so that settings can name them."""

from typing import NamedTuple


class DemoAccount(NamedTuple):
    """A bot's user. Nobody gets mail at the address: its domain does not exist (RFC 2606)."""

    user_id: str
    email: str


DEMO_MAKER = DemoAccount("demo-maker", "maker@demo.invalid")
DEMO_TAKERS = (
    DemoAccount("demo-taker", "taker@demo.invalid"),
    DemoAccount("demo-taker-2", "taker-2@demo.invalid"),
    DemoAccount("demo-taker-3", "taker-3@demo.invalid"),
    DemoAccount("demo-taker-4", "taker-4@demo.invalid"),
    DemoAccount("demo-taker-5", "taker-5@demo.invalid"),
    DemoAccount("demo-taker-6", "taker-6@demo.invalid"),
)
"""A fair price is good if at least four owners traded with the maker, so that one of them may fall out."""
DEMO_ACCOUNTS = (DEMO_MAKER, *DEMO_TAKERS)
