"""Addresses with passwords in them, checked when settings are read. Pure.

Each library reads an unsound address in its own way, and quotes a part of it in its error: `se` of a password `se/cret`
as a port, or all of it. So what could be read in two ways is refused before, in words that quote nothing.
"""

import re
from collections.abc import Callable, Collection
from typing import Any

_ESCAPES = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNSEEN = re.compile(r"[\s\x00-\x1f\x7f\\]")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+(%[0-9A-Za-z%]+)?\]|[^\[\]:]*)(:[0-9]{0,5})?")
_PORT_MAX = 65_535
_ENCODE = "user and password must be percent-encoded (/ is %2F, ? is %3F, # is %23, @ is %40, a comma %2C)"


def address_fault(address: str, schemes: Collection[str]) -> str:
    """Why an address cannot be used, without quoting it; empty if it can."""
    scheme, found, rest = address.partition("://")
    if not found or scheme not in schemes:
        return f"must begin with {' or '.join(f'{each}://' for each in schemes)}"
    if _UNSEEN.search(address):
        return f"must have no blank, control character or backslash; {_ENCODE}"
    if _ESCAPES.search(rest):
        return f"has a % without two hexadecimal digits behind it: % itself is %25; {_ENCODE}"
    end = min(place for sign in "/?" if (place := (rest + "/?").find(sign)) >= 0)
    user, _, hosts = rest[:end].rpartition("@")
    path, _, query = rest[end:].partition("?")
    values = [each for each in query.split("&") if not each.startswith("host=")]
    if "#" in rest or "@" in path or any("@" in each for each in values) or any(sign in user for sign in "@,[]"):
        return _ENCODE
    for host in hosts.split(","):
        parts = _HOST.fullmatch(host)
        if parts is None or int((parts[3] or ":0")[1:] or 0) > _PORT_MAX:
            return f"must have a host and, behind a colon, a port up to {_PORT_MAX}; {_ENCODE}"
    if query and not all("=" in each for each in query.split("&")):
        return "must have name=value behind the question mark, with & between them; & in a value is %26"
    return ""


def with_whole_scheme(address: Any) -> Any:
    """An address of PostgreSQL with the scheme that every library knows; some hosts print `postgres://`."""
    is_short = isinstance(address, str) and address.startswith("postgres://")
    return f"postgresql://{address.removeprefix('postgres://')}" if is_short else address


def sound_address(*schemes: str) -> Callable[[str], str]:
    """A check of a setting that is an address with one of these schemes, or empty. Raises ValueError."""

    def check(address: str) -> str:
        if address and (fault := address_fault(address, schemes)):
            raise ValueError(fault)
        return address

    return check


def sound_addresses(*schemes: str) -> Callable[[str], str]:
    """As `sound_address`, for addresses with commas between them. One without a scheme is of the first."""

    def check(addresses: str) -> str:
        for address in filter(None, (each.strip() for each in addresses.split(","))):
            fault = address_fault(address if "://" in address else f"{schemes[0]}://{address}", schemes)
            if fault:
                raise ValueError(fault)
        return addresses

    return check
