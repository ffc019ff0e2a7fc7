"""The base of all payloads."""

import msgspec


class Message(msgspec.Struct, rename="camel", frozen=True, omit_defaults=False):
    """A payload on the bus: JSON, camelCase."""
