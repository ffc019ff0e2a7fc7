"""A setting changes what its rule does: each one arrives, as itself, in its own unit, and as no other."""

import asyncio
import io
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import aiosmtplib
import pytest
import structlog

from openspot.custody.service import automatic_wallets
from openspot.custody.settings import CustodySettings
from openspot.custody.wallet_policy import Wallet
from openspot.demo.quoting import QuotingRules
from openspot.demo.settings import DemoSettings
from openspot.domain.fair_price.rules import FairPriceRules
from openspot.domain.ids import CONVERSIONS_ACCOUNT_ID, INSURANCE_ACCOUNT_ID, LENDING_ACCOUNT_ID, REWARDS_ACCOUNT_ID
from openspot.domain.money import AMOUNT_SCALE
from openspot.http.edge_settings import CustodyAddressSettings
from openspot.kit.clock import utc_now
from openspot.kit.log import configure_log, get_logger
from openspot.kit.mail.transports import MailboxTransport, make_transport
from openspot.kit.settings import Settings
from openspot.ledger.settings import LedgerSettings
from openspot.margin.service import run as run_margin
from openspot.margin.settings import MarginSettings
from openspot.market_data.settings import MarketDataSettings
from openspot.positions.settings import PositionSettings
from openspot.rest_edge.funds.withdrawals.limits import limit_in_cents
from openspot.rest_edge.identity.sessions.session_start import SessionStart
from openspot.rest_edge.mail.settings import MailSettings
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.router.settings import RouterSettings
from openspot.subscriptions.settings import SubscriptionSettings


def test_the_rules_of_the_fair_price_have_the_figures_of_the_settings() -> None:
    settings = MarketDataSettings(
        fair_price_parts=5, fair_price_part_s=70, fair_price_owner_part=2,
        fair_price_volume_dollars=Decimal("1000.5"), fair_price_thin_volume_dollars=Decimal(100),
        fair_price_owners_min=4, fair_price_parts_min=3, fair_price_standing_s=11, fair_price_depth_dollars=Decimal(13),
        fair_price_spread_bps=17, fair_price_hold_s=19, fair_price_venue_age_s=23, fair_price_difference_bps=29,
        fair_price_speed_bps=31, fair_price_thin_difference_bps=37, fair_price_unconfirmed_difference_bps=41,
        fair_price_absorbed_band_bps=43, fair_price_absorbed_share_bps=47,
    )  # fmt: skip
    assert settings.fair_price_rules == FairPriceRules(
        parts=5, part_ms=70_000, owner_part=2, volume_dollars=10_005 * AMOUNT_SCALE // 10,
        thin_volume_dollars=100 * AMOUNT_SCALE, owners_min=4, parts_min=3, standing_ms=11_000,
        depth_dollars=13 * AMOUNT_SCALE, spread_bps_max=17, hold_ms=19_000, venue_age_ms=23_000, difference_bps_max=29,
        speed_bps_max=31, thin_difference_bps_max=37, unconfirmed_difference_bps_max=41, absorbed_band_bps=43,
        absorbed_share_bps=47,
    )  # fmt: skip


def test_the_demos_maker_and_house_have_the_figures_of_the_settings() -> None:
    settings = DemoSettings(
        demo_levels=3, demo_half_spread_bps=Decimal(5), demo_gap_bps=Decimal(7), demo_tolerance_bps=Decimal(2),
        demo_order_age_s=11, demo_conversions_dollars=Decimal(13), demo_lending_dollars=Decimal(17),
        demo_insurance_dollars=Decimal(19), demo_rewards_dollars=Decimal(23),
    )  # fmt: skip
    assert settings.quoting == QuotingRules(
        levels=3, half_spread_bps=Decimal(5), gap_bps=Decimal(7), shift_bps=Decimal(1), tolerance_bps=Decimal(2),
        size_tolerance=Decimal("0.4"), age_s_max=11,
    )  # fmt: skip
    assert settings.house_dollars == {
        CONVERSIONS_ACCOUNT_ID: 13, LENDING_ACCOUNT_ID: 17, INSURANCE_ACCOUNT_ID: 19, REWARDS_ACCOUNT_ID: 23,
    }  # fmt: skip


def test_each_level_of_verification_has_the_withdrawal_limit_of_its_own_setting() -> None:
    settings = RestEdgeSettings(withdrawal_limit_none=1, withdrawal_limit_basic=20, withdrawal_limit_verified=300)
    assert [limit_in_cents(level, settings.withdrawal_limits) for level in range(3)] == [100, 2_000, 30_000]


class Sessions:
    """The store of sessions, with stakes of one user; it keeps which asset is asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def active_stake(self, user_id: str, asset: str) -> int:
        self.asked.append((user_id, asset))
        return 0


def test_a_refresh_token_lives_as_long_as_the_setting_says() -> None:
    nothing: Any = SimpleNamespace()
    start = SessionStart(RestEdgeSettings(refresh_token_s=77), nothing, nothing, nothing)
    assert start.refresh_life == timedelta(seconds=77)


@pytest.mark.parametrize(("asset", "asked"), [("BTC", [("u1", "BTC")]), ("", [])])
async def test_a_token_states_the_stake_of_the_settings_asset(asset: str, asked: list[tuple[str, str]]) -> None:
    sessions, nothing = Sessions(), Any
    settings = RestEdgeSettings(staking_balance_asset=asset, jwt_secret="s" * 32)
    start = SessionStart(settings, nothing, nothing, sessions.active_stake)  # type: ignore[arg-type]
    await start._staking_balance("u1")
    assert sessions.asked == asked


async def test_mail_is_sent_as_the_user_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []

    async def send(_message: Any, **how: Any) -> None:
        sent.append(how)

    monkeypatch.setattr(aiosmtplib, "send", send)
    message: Any = SimpleNamespace()
    for given in ({"smtp_user": "post", "smtp_password": "secret"}, {}):
        await make_transport(MailSettings(smtp_host="mail.example.org", smtp_port=2525, **given)).send(message)
    assert [(how["hostname"], how["port"], how["username"], how["password"]) for how in sent] == [
        ("mail.example.org", 2525, "post", "secret"), ("mail.example.org", 2525, None, None),
    ]  # fmt: skip
    assert isinstance(make_transport(MailSettings()), MailboxTransport)


@pytest.mark.parametrize(("log_format", "is_json"), [("json", True), ("console", False)])
def test_the_log_has_the_form_of_the_setting(log_format: Any, is_json: bool) -> None:
    output = io.StringIO()
    try:
        configure_log(Settings(log_format=log_format), "test", output)
        get_logger("a").info("hello", number=5)
    finally:
        structlog.contextvars.clear_contextvars()
    line = output.getvalue()
    assert line.startswith("{") is is_json
    if is_json:
        found = json.loads(line)
        assert (found["event"], found["service"], found["module"], found["number"]) == ("hello", "test", "a", 5)
        written = datetime.fromisoformat(found["timestamp"])
        assert written.astimezone(UTC) <= utc_now()


def test_the_wallets_of_the_setting_sign_by_themselves() -> None:
    settings = CustodySettings(custody_automatic_signers="hot, WARM")
    assert automatic_wallets(settings.custody_automatic_signers) == {Wallet.HOT, Wallet.WARM}
    assert automatic_wallets("") == frozenset()
    with pytest.raises(ValueError, match="OPENSPOT_CUSTODY_AUTOMATIC_SIGNERS: COOL is not one of HOT, WARM"):
        automatic_wallets("hot,cool")


async def test_margin_does_not_start_with_a_valuation_asset_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openspot.margin.service.with_secrets", lambda settings: settings)
    with pytest.raises(ValueError, match=r"OPENSPOT_MARGIN_VALUATION_ASSET must be one of .*BTC"):
        await run_margin(MarginSettings(margin_valuation_asset="XYZ"), asyncio.Event())


SERVICES: list[tuple[type[Settings], str, str, str]] = [
    (CustodySettings, "custody_host", "custody_port", "custody_url"),
    (DemoSettings, "demo_host", "demo_port", "demo_url"),
    (LedgerSettings, "ledger_host", "ledger_port", "ledger_url"),
    (MarginSettings, "margin_host", "margin_port", "margin_url"),
    (MarketDataSettings, "market_data_host", "market_data_port", "market_data_url"),
    (PositionSettings, "positions_host", "positions_port", "positions_url"),
    (RouterSettings, "router_host", "router_port", "router_url"),
    (SubscriptionSettings, "subscriptions_host", "subscriptions_port", "subscriptions_url"),
]


@pytest.mark.parametrize(("kind", "host", "port", "url"), SERVICES)
def test_a_service_is_found_at_its_own_host_and_port_and_else_at_the_platforms(
    kind: type[Settings], host: str, port: str, url: str
) -> None:
    shared: dict[str, Any] = {"host": "10.0.0.1", port: 4321}
    assert getattr(kind(**shared), url) == "http://10.0.0.1:4321"
    assert getattr(kind(**shared, **{host: "10.0.0.2"}), url) == "http://10.0.0.2:4321"


def test_the_web_server_finds_custody_where_it_is_told() -> None:
    settings = CustodyAddressSettings(given_custody_url="http://custody.example.org/", custody_host="10.0.0.2")
    assert settings.custody_url == "http://custody.example.org"
    assert CustodyAddressSettings(custody_host="10.0.0.2", custody_port=4001).custody_url == "http://10.0.0.2:4001"
