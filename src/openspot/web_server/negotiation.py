"""Chooses the variant of a file for a client, and finds whether the client has it (RFC 9110, 12.5.3 and 13.1.2)."""

from collections.abc import Sequence

from openspot.web_server.files import Variant

_HEADER_LENGTH_MAX = 1000


def accepted_encodings(header: str) -> dict[str, float]:
    """The content codings of an Accept-Encoding header, with their weights. Unreadable parts are left out."""
    weights = {}
    for item in header[:_HEADER_LENGTH_MAX].lower().split(","):
        coding, *parameters = (part.strip() for part in item.split(";"))
        weight = 1.0
        for parameter in parameters:
            name, _, value = parameter.partition("=")
            if name.strip() == "q":
                try:
                    weight = float(value)
                except ValueError:
                    weight = 0.0
        if coding and 0.0 <= weight <= 1.0:
            weights[coding] = weight
    return weights


def choose(variants: Sequence[Variant], accept_encoding: str | None) -> Variant:
    """The first of the variants that the client prefers. The last one, the plain file, suits every client."""
    if not accept_encoding:
        return variants[-1]
    weights = accepted_encodings(accept_encoding)
    anything = weights.get("*", 0.0)

    def weight(variant: Variant) -> float:
        # A client that names codings also takes the plain file, but prefers it less.
        return weights.get(variant.encoding, anything) if variant.encoding else 0.001

    return max(variants, key=weight)


def has_already(if_none_match: str | None, etag: str) -> bool:
    """Whether an If-None-Match header names this entity tag."""
    if not if_none_match:
        return False
    tags = {tag.strip().removeprefix("W/") for tag in if_none_match[:_HEADER_LENGTH_MAX].split(",")}
    return "*" in tags or etag in tags
