"""The accounts of the demo market's bots. Their ids are fixed, so that settings can name them."""

from typing import NamedTuple


class DemoAccount(NamedTuple):
    """A bot's user. Nobody gets mail at the address: its domain does not exist (RFC 2606)."""

    user_id: str
    email: str


DEMO_MAKER = DemoAccount("demo-maker", "maker@demo.invalid")
DEMO_TAKER = DemoAccount("demo-taker", "taker@demo.invalid")
DEMO_ACCOUNTS = (DEMO_MAKER, DEMO_TAKER)
