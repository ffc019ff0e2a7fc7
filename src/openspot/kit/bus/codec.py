"""Encodes and decodes JSON, with one decoder for each type."""

from typing import Any

import msgspec

from openspot.kit.log import get_logger
from openspot.kit.metrics import BUS_MALFORMED

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The exceptions of a decoder for bytes that are not the expected JSON."""
_LOGGED_BYTES_MAX = 200

encode = msgspec.json.Encoder().encode

log = get_logger("bus")
_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


def decoder_of(message_type: Any) -> msgspec.json.Decoder[Any]:
    """The decoder of a message type. It is created once."""
    decoder = _decoders.get(message_type)
    if decoder is None:
        decoder = _decoders[message_type] = msgspec.json.Decoder(message_type)
    return decoder


def note_malformed(metric_subject: str, subject: str, data: bytes, error: Exception) -> None:
    """Count and log an unreadable message. `metric_subject` may be a pattern, which bounds the metric's labels."""
    BUS_MALFORMED.labels(metric_subject).inc()
    log.warning("malformed message dropped", subject=subject, error=str(error), data=data[:_LOGGED_BYTES_MAX])
