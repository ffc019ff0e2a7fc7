"""JSON in and out, with one decoder for each type."""

from typing import Any

import msgspec

from openspot.kit.log import get_logger
from openspot.kit.metrics import BUS_MALFORMED

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a decoder raises for bytes that are not the expected JSON."""
_LOGGED_BYTES_MAX = 200

encode = msgspec.json.Encoder().encode

log = get_logger("bus")
_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


def decoder_of(message_type: Any) -> msgspec.json.Decoder[Any]:
    """The decoder of a message type, made once."""
    decoder = _decoders.get(message_type)
    if decoder is None:
        decoder = _decoders[message_type] = msgspec.json.Decoder(message_type)
    return decoder


def note_malformed(metric_subject: str, subject: str, data: bytes, error: Exception) -> None:
    """Count and log a message that cannot be read. `metric_subject` may be a pattern, to bound the metric's labels."""
    BUS_MALFORMED.labels(metric_subject).inc()
    log.warning("malformed message dropped", subject=subject, error=str(error), data=data[:_LOGGED_BYTES_MAX])
