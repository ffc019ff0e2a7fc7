"""Bodies of the settings routes."""

from typing import Literal

from openspot.contracts.messages.message import TimeText
from openspot.http.validation import ResponseBody


class CountryResponse(ResponseBody):
    """A country of ISO 3166-1."""

    code: str
    alpha3: str
    numeric: str
    name: str


class ProvinceResponse(ResponseBody):
    """A subdivision of ISO 3166-2. `parent` is the code of the subdivision above it."""

    code: str
    name: str
    type: str
    parent: str | None


class SsoResponse(ResponseBody):
    """Sign-in through other parties. The platform has none."""

    enabled: Literal[False]
    providers: list[str]


class ThrottleTierResponse(ResponseBody):
    """At most `requests` in any `seconds`."""

    name: str
    requests: int
    seconds: int


class SystemResponse(ResponseBody):
    """The settings of this edge that concern clients."""

    version: str
    server_time: TimeText
    throttling_enabled: bool
    throttle_tiers: list[ThrottleTierResponse]
    body_bytes_max: int
    list_limit_default: int
    list_limit_max: int
    access_token_seconds: int
    refresh_token_seconds: int
    conversion_spread_bps: int
    conversion_quote_seconds: int
    payment_session_seconds: int
    network_fee_quote_seconds: int
