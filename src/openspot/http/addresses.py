"""Whose address a request comes from."""

from collections.abc import Collection, Sequence


def client_address(peer: str, forwarded: Sequence[str], trusted: Collection[str]) -> str:
    """The address of the client behind `peer`.

    `forwarded` holds the X-Forwarded-For headers. They are read from the right, as long as proxies in `trusted` wrote
    them. The first address that is not a trusted proxy's is the client's.
    """
    address = peer
    chain = [part.strip() for header in forwarded for part in header.split(",") if part.strip()]
    while address in trusted and chain:
        address = chain.pop()
    return address
