"""Structured logs: one JSON object a line on standard error, without secrets."""

import contextlib
import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO, cast

import structlog

from openspot.kit.settings import Settings

SECRET_WORDS = ("password", "secret", "token", "authorization", "api_key", "cookie")
"""A field of the log whose name has one of these words shows no value."""
_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARNING": logging.WARNING, "ERROR": logging.ERROR}


def _hide_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key in event:
        if any(word in key.lower() for word in SECRET_WORDS):
            event[key] = "***"
    return event


class TolerantOutput:
    """A text stream that drops what it cannot write. A full disk must not stop the work that wanted to tell of it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write `text`, or nothing."""
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what waits, or keep it for the next time."""
        with contextlib.suppress(OSError):
            self._stream.flush()


def configure_log(settings: Settings, service: str, output: TextIO = sys.stderr) -> None:
    """Set up logging of this process to `output`; every line names `service`."""
    tolerant = cast(TextIO, TolerantOutput(output))
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _hide_secrets,
        structlog.processors.format_exc_info,
    ]
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if settings.log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=output.isatty())
    )
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(_LEVELS[settings.log_level]),
        logger_factory=structlog.WriteLoggerFactory(file=tolerant),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(service=service)
    handler = logging.StreamHandler(tolerant)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=shared))
    logging.basicConfig(handlers=[handler], level=max(_LEVELS[settings.log_level], logging.WARNING), force=True)


def get_logger(name: str) -> Any:
    """A logger whose lines carry `module=name`."""
    return structlog.get_logger(module=name)
