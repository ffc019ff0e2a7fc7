"""The settings of the running edge that concern clients."""

from collections.abc import Sequence

from openspot import __version__
from openspot.http.lists import LIMIT_DEFAULT, LIMIT_MAX
from openspot.http.throttle import Tier
from openspot.kit.clock import Clock, iso_of, utc_datetime
from openspot.rest_edge.funds.fees.network_fees import QUOTE_LIFE
from openspot.rest_edge.products.payments.service import SESSION_LIFE
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.rest_edge.site_settings.schemas import SystemResponse, ThrottleTierResponse


class SystemSettings:
    """Reads the settings of this edge."""

    def __init__(self, settings: RestEdgeSettings, tiers: Sequence[Tier], clock: Clock) -> None:
        self._settings = settings
        self._tiers = tuple(tiers)
        self._clock = clock

    def current(self) -> SystemResponse:
        """The settings, and the edge's time."""
        settings = self._settings
        return SystemResponse(
            version=__version__,
            server_time=iso_of(utc_datetime(self._clock)),
            throttling_enabled=settings.throttle_enabled,
            throttle_tiers=[
                ThrottleTierResponse(name=tier.name, requests=tier.requests_max, seconds=tier.window_s)
                for tier in (self._tiers if settings.throttle_enabled else ())
            ],
            body_bytes_max=settings.body_bytes_max,
            list_limit_default=LIMIT_DEFAULT,
            list_limit_max=LIMIT_MAX,
            access_token_seconds=settings.access_token_s,
            refresh_token_seconds=settings.refresh_token_s,
            conversion_spread_bps=settings.conversion_spread_bps,
            conversion_quote_seconds=settings.conversion_quote_s,
            payment_session_seconds=round(SESSION_LIFE.total_seconds()),
            network_fee_quote_seconds=round(QUOTE_LIFE.total_seconds()),
        )
