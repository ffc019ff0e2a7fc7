"""The web server describes itself."""

from openspot.kit.description import Address, Descriptor, Listener, Process
from openspot.web_server.settings import WebServerSettings


def _trading_screen(settings: WebServerSettings) -> str:
    return _built(settings, "trade")


def _console(settings: WebServerSettings) -> str:
    return _built(settings, "console")


def _built(settings: WebServerSettings, name: str) -> str:
    address = f"{settings.web_url}/{name}/"
    if (settings.pages_folder / name / "index.html").exists():
        return address
    return f"{address} (not built: `python3 tools/web.py build` says why)"


DESCRIPTOR = Descriptor(
    name="web",
    title="Web server",
    settings=WebServerSettings,
    processes=(
        Process(
            name="web",
            title="Web server",
            module="openspot.web_server.service",
            host="web_host",
            listeners=(Listener("web_port", "pages"),),
        ),
    ),
    addresses=(
        Address("Trading screen", _trading_screen, is_for_users=True),
        Address("Operator console", _console, is_for_users=True),
    ),
)
