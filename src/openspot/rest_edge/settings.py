"""Settings of the REST edge."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from openspot.engine_client.settings import EngineConnectionSettings
from openspot.http.api_keys.settings import ApiKeySettings
from openspot.http.edge_settings import (
    AlertServiceSettings,
    OperatorSettings,
    PageOriginSettings,
    RestAddressSettings,
)
from openspot.kit.settings import TOKEN_SECRET_LENGTH_MIN, Generated, OrderRulesSettings, UserTokenSettings
from openspot.market_data_client.settings import PriceBandSettings
from openspot.rest_edge.common.demo_account_names import DEMO_ACCOUNTS
from openspot.rest_edge.mail.settings import MailSettings
from openspot.rest_edge.push.settings import PushSettings


class RestSharedSettings(RestAddressSettings):
    """Settings that the REST edge shares with the demo market, its client within the platform."""

    demo: bool = Field(
        default=False,
        description="Run the demo market, as `openspot up --demo` does. The REST edge then keeps accounts for its bots "
        "and does not throttle them",
    )
    demo_password: Annotated[str, Generated(length_min=TOKEN_SECRET_LENGTH_MIN)] = Field(
        default="", description="Password of the demo market's accounts; empty: generated into the data directory"
    )


class RestEdgeSettings(
    EngineConnectionSettings,
    UserTokenSettings,
    ApiKeySettings,
    MailSettings,
    PushSettings,
    PageOriginSettings,
    PriceBandSettings,
    OrderRulesSettings,
    RestSharedSettings,
    OperatorSettings,
    AlertServiceSettings,
):
    """Settings of the REST edge."""

    throttle_enabled: bool = Field(default=True, description="Throttle the REST edge")
    throttle_exempt_users: str = Field(
        default="", description="Ids, with commas, of users that the REST edge does not throttle"
    )
    refresh_token_s: int = Field(default=2_592_000, ge=1, description="Life of a refresh token")
    body_bytes_max: int = Field(default=65_536, ge=1024, description="Largest request body")
    rest_requests_max: int = Field(default=4096, ge=1, description="Requests at a time; beyond it 503")
    audit_queue_max: int = Field(default=20_000, ge=1, description="Audit records waiting; beyond it requests wait")
    conversion_spread_bps: int = Field(
        default=50, ge=0, le=5000, description="Spread of a conversion, in basis points of what the user gives"
    )
    conversion_quote_s: int = Field(default=10, ge=1, le=60, description="Life of a quote of a conversion")
    conversion_standing_s: int = Field(
        default=10, ge=0, le=600, description="Orders count for conversions when they have stood for this long"
    )
    conversion_user_limit: int = Field(
        default=100_000, ge=0, le=10**12, description="US dollars that a user may convert within an hour"
    )
    conversion_asset_limit: int = Field(
        default=1_000_000, ge=0, le=10**12, description="… and that all users together may convert of one asset"
    )
    staking_file: str = Field(default="", description="Staking products (TOML); empty: those of the package")
    payments_file: str = Field(default="", description="Payment routes (TOML); empty: those of the package")
    payment_callback_secret: Annotated[str, Generated(length_min=32)] = Field(
        default="",
        description="Key of the signatures of payment callbacks; empty: generated into the data directory",
    )
    payments_open_max: int = Field(default=20, ge=1, le=10_000, description="Payments of one user that wait for money")
    payments_unpaid_kept_days: int = Field(
        default=90, ge=1, le=36_500, description="How long a payment without money is kept after its end"
    )
    payment_return_origins: str = Field(
        default="", description="Origins, with commas, that a payment may send its user back to"
    )
    price_alerts_user_max: int = Field(
        default=50, ge=1, le=1000, description="Price alerts of one user whose plan names none"
    )
    price_alerts_max: int = Field(default=100_000, ge=1, le=10**7, description="… and of all users together")
    fee_token: str = Field(
        default="", description="Asset whose holders have the token holder's rates in the fee lookup; empty: none"
    )
    fee_token_minimum: Decimal = Field(default=Decimal(1), gt=0, description="… and how much of it makes a holder")
    withdrawal_address_wait_s: int = Field(
        default=259_200, ge=0, description="How long a new saved withdrawal address waits until it can be used"
    )
    withdrawal_limit_none: int = Field(
        default=0, ge=0, le=10**12, description="US dollars that a user of verification level none may withdraw in 24 h"
    )
    withdrawal_limit_basic: int = Field(default=10_000, ge=0, le=10**12, description="… of level basic")
    withdrawal_limit_verified: int = Field(default=1_000_000, ge=0, le=10**12, description="… of level verified")
    kyc_provider: Literal["development", "operators", "none"] = Field(
        default="development",
        description="Who checks documents; development: `openspot kyc review` decides; operators: those of the "
        "exchange, in the console",
    )
    kyc_document_bytes_max: int = Field(
        default=8_388_608, ge=65_536, le=67_108_864, description="Largest document that a user uploads"
    )
    kyc_documents_user_max: int = Field(
        default=12, ge=1, le=100, description="Documents of one user that wait for a decision"
    )
    kyc_documents_user_bytes_max: int = Field(
        default=50_000_000,
        ge=65_536,
        le=10**12,
        description="Bytes of one user's documents that are kept, those that were decided on included",
    )
    kyc_documents_bytes_max: int = Field(
        default=50_000_000_000, ge=1_000_000, description="Bytes of all users' documents together; beyond it 503"
    )
    kyc_uploads_hour_max: int = Field(
        default=40, ge=1, le=10_000, description="Uploads that a user may begin within an hour"
    )
    kyc_documents_kept_days: int = Field(
        default=1826,
        ge=0,
        le=36_500,
        description="How long documents are kept after the decision; with their account they are deleted at once",
    )
    kyc_abandoned_days: int = Field(
        default=90,
        ge=0,
        le=36_500,
        description="After so many days in which nothing happened, an undecided check is closed and its documents "
        "are deleted; 0: never",
    )
    kyc_webhook_secret: Annotated[str, Generated(length_min=TOKEN_SECRET_LENGTH_MIN)] = Field(
        default="", description="Secret of the provider's webhook; empty: generated into the data directory"
    )
    operator_request_s: int = Field(
        default=86_400, ge=60, le=2_592_000, description="How long what one operator asks for waits for another"
    )
    adjustment_alone_limit: int = Field(
        default=1000, ge=0, le=10**12, description="US dollars that one operator may adjust within 24 h alone"
    )
    treasury_alone_limit: int = Field(
        default=10_000,
        ge=0,
        le=10**12,
        description="US dollars that one operator may move between the house's accounts within 24 h alone",
    )
    staking_balance_asset: str = Field(
        default="USDT",
        description="Asset whose active stakes access tokens state as `stakingBalance`, by which the subscription "
        "service gives its discount; empty: tokens state none",
    )

    @property
    def withdrawal_limits(self) -> tuple[int, int, int]:
        """The withdrawal limits of 24 hours in US dollars, for the levels none, basic and verified."""
        return self.withdrawal_limit_none, self.withdrawal_limit_basic, self.withdrawal_limit_verified

    @property
    def unthrottled_users(self) -> frozenset[str]:
        """Ids of users without a throttle: those of the setting, and the demo market's bots if it runs."""
        given = {user_id.strip() for user_id in self.throttle_exempt_users.split(",")} - {""}
        return frozenset(given | ({account.user_id for account in DEMO_ACCOUNTS} if self.demo else set()))
