"""The addresses of the platform for the pages: /config.json, and the origins of the content security policy."""

import json
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from openspot.http.brand import Brand
from openspot.http.coin_pictures import CoinPictures
from openspot.web_server.branding import LEGAL, LOGO


class PageConfig(NamedTuple):
    """Addresses of the edges as a browser reaches them."""

    engine_url: str
    """The matching engine's HTTP interface."""
    rest_url: str
    """The REST edge, without the prefix."""
    ws_url: str
    """The WebSocket edge."""
    positions_url: str = ""
    """The position service, without the prefix; empty where it does not run."""
    subscriptions_url: str = ""
    """The subscription service; empty where it does not run."""
    simulates_deposits: bool = False
    """Whether the web server plays deposits."""
    brand: Brand = Brand()
    """Name, links and legal texts of the exchange."""
    coin_pictures: CoinPictures = CoinPictures("")
    """The pictures of coins."""

    def to_json(self) -> bytes:
        """The body of /config.json. It has no field for a service that does not run, nor for OpenSpot's own brand."""
        fields: dict[str, Any] = {"engineUrl": self.engine_url, "restUrl": self.rest_url, "wsUrl": self.ws_url}
        services = {"positionsUrl": self.positions_url, "subscriptionsUrl": self.subscriptions_url}
        fields |= {name: address for name, address in services.items() if address}
        if self.simulates_deposits:
            fields["simulatesDeposits"] = True
        if self.brand != Brand():
            fields["brand"] = self._shown_brand()
        return json.dumps(fields, separators=(",", ":")).encode()

    def _shown_brand(self) -> dict[str, Any]:
        legal = [{"title": text.title, "url": f"/{LEGAL}/{text.name}"} for text in self.brand.legal]
        shown: dict[str, Any] = {
            "name": self.brand.name,
            "links": [link._asdict() for link in self.brand.links],
            "legal": legal,
        }
        return shown | ({"logo": f"/{LOGO}"} if self.brand.logo else {})

    def origins(self) -> list[str]:
        """The origins that pages may connect to, each once. Raises ValueError that names a field without an address."""
        found = [
            origin_of("engine_url", self.engine_url, ("http", "https")),
            origin_of("rest_url", self.rest_url, ("http", "https")),
            origin_of("ws_url", self.ws_url, ("ws", "wss")),
        ]
        services = {"positions_url": self.positions_url, "subscriptions_url": self.subscriptions_url}
        found += [origin_of(name, address, ("http", "https")) for name, address in services.items() if address]
        return list(dict.fromkeys(found))


def origin_of(field: str, address: str, schemes: tuple[str, ...]) -> str:
    """Scheme, host and port of an address. Raises ValueError, naming the field, for anything else."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{field} is not an address: {error}") from error
    host = parts.hostname or ""
    # The origins go into a header, where a space or a semicolon would end them.
    if parts.scheme not in schemes or not host or not all(sign.isalnum() or sign in ".-:_" for sign in host):
        raise ValueError(f"{field} must be an address that begins with {'// or '.join(schemes)}://, not {address!r}")
    shown_host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown_host}" + (f":{port}" if port else "")
