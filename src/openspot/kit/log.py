"""Structured logs: one JSON object a line on standard error, without secrets."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

from openspot.kit.settings import Settings

_SECRET_WORDS = ("password", "secret", "token", "authorization", "api_key", "cookie")
_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARNING": logging.WARNING, "ERROR": logging.ERROR}


def _hide_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key in event:
        if any(word in key.lower() for word in _SECRET_WORDS):
            event[key] = "***"
    return event


def configure_log(settings: Settings, service: str, output: TextIO = sys.stderr) -> None:
    """Set up logging of this process to `output`; every line names `service`."""
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
        logger_factory=structlog.WriteLoggerFactory(file=output),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(service=service)
    handler = logging.StreamHandler(output)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(processor=renderer, foreign_pre_chain=shared))
    logging.basicConfig(handlers=[handler], level=max(_LEVELS[settings.log_level], logging.WARNING), force=True)


def get_logger(name: str) -> Any:
    """A logger whose lines carry `module=name`."""
    return structlog.get_logger(module=name)
