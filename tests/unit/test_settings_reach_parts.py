"""A service gives each setting to the part whose rule it is: seen in what that part then does."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from openspot.demo import service as demo
from openspot.demo.inventory import InventoryTarget
from openspot.demo.settings import DemoSettings
from openspot.domain.market import load_markets
from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS
from openspot.domain.order import Side
from openspot.domain.partition import WHOLE
from openspot.http.brand import Brand
from openspot.http.errors import HttpError
from openspot.kit.disk import DiskState
from openspot.kit.intervals import Plan
from openspot.kit.service_frame import ServiceFrame
from openspot.kit.settings import Settings
from openspot.ledger import worker as ledger_worker
from openspot.ledger.settings import LedgerSettings
from openspot.margin import loans as margin_loans
from openspot.margin import positions as margin_positions
from openspot.margin import service as margin
from openspot.margin.lifecycle import MarginPositionStatus
from openspot.margin.opening import OpeningRequest
from openspot.margin.orders import MarginOrder, nothing_filled
from openspot.margin.records import MarginPositionRow
from openspot.margin.settings import MarginSettings
from openspot.market_data.leader_session import LeaderSession, StaleError
from openspot.market_data.settings import MarketDataSettings
from openspot.operator_alerts import service as operator_alerts
from openspot.operator_alerts.settings import OperatorAlertSettings
from openspot.positions import service as positions
from openspot.positions.settings import PositionSettings
from openspot.rest_edge.common.configuration import ConfigurationError
from openspot.rest_edge.funds import service as funds
from openspot.rest_edge.mail import service as mail
from openspot.rest_edge.mail.settings import MailSettings
from openspot.rest_edge.mail.texts import MailFacts, MailKind, compose
from openspot.rest_edge.products.service import make_product_services
from openspot.rest_edge.settings import RestEdgeSettings
from openspot.router import service as router
from openspot.router.settings import RouterSettings
from openspot.router.translation import translator as translation
from openspot.timetable import service as timetable
from openspot.timetable.settings import TimetableSettings
from openspot.web_server.settings import WebServerSettings
from tests.support.composition import Composed, StandInFrame

ANY: Any = SimpleNamespace()
BOTH = ["backup", "comparison"]


async def waits(work: Awaitable[Any]) -> bool:
    """Whether `work` does not end by itself. It is cancelled then."""
    task = asyncio.ensure_future(work)
    for _ in range(5):
        await asyncio.sleep(0)
    if task.done():
        task.result()
        return False
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    return True


# The platform


async def test_the_disk_is_full_when_less_than_the_setting_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = SimpleNamespace(f_bavail=512, f_blocks=10_000, f_frsize=1_048_576, f_flag=0)
    monkeypatch.setattr("openspot.kit.disk.os.statvfs", lambda _: free)
    for mebibytes, state in ((512, DiskState.LOW), (513, DiskState.FULL)):
        settings = Settings(data_dir=tmp_path, disk_reserve_mib=mebibytes)
        space = ServiceFrame("test", settings, asyncio.Event()).disk.space
        assert space is not None and space.state is state


def test_the_pages_lie_in_the_folder_and_ask_the_position_service_of_the_settings() -> None:
    assert WebServerSettings(web_folder="/srv/pages").pages_folder == Path("/srv/pages")
    assert WebServerSettings(web_folder="").pages_folder.parts[-2:] == ("web", "dist")
    told = WebServerSettings(given_positions_url="https://positions.example.org").page_config
    assert told.positions_url == "https://positions.example.org"
    assert WebServerSettings().page_config.positions_url == ""


async def test_the_ledgers_worker_listens_at_its_own_host_and_port(monkeypatch: pytest.MonkeyPatch) -> None:
    run_process = AsyncMock()
    monkeypatch.setattr(ledger_worker, "run_process", run_process)
    settings = LedgerSettings(
        ledger_worker_host="10.0.0.7", ledger_worker_port=4017, ledger_host="10.0.0.8", ledger_port=4007
    )
    await ledger_worker.run(settings, asyncio.Event())
    assert run_process.call_args.args[2:5] == ("ledger-worker", 4017, "10.0.0.7")


async def test_the_timetable_runs_what_has_an_interval_in_the_settings_and_listens_at_its_own_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for backup_every_s, reconcile_every_s, works in ((7, 0, ["backup"]), (0, 8, ["comparison"]), (7, 8, BOTH)):
        composed = Composed(monkeypatch, timetable, "Timetable")
        served = AsyncMock()
        monkeypatch.setattr(timetable, "serve_health", served)
        settings = TimetableSettings(
            data_dir=tmp_path, backup_every_s=backup_every_s, reconcile_every_s=reconcile_every_s,
            alert_backup_intervals=3, alert_reconcile_intervals=4, timetable_host="10.0.0.7", timetable_port=4016,
        )  # fmt: skip
        await timetable.run(settings, asyncio.Event())
        assert composed.frame.works == works
        (data_dir, work, plan, attempt, _), _ = composed.given["Timetable"]
        assert (data_dir, work.name) == (tmp_path, works[-1])
        assert plan == (Plan(8, 4) if work.name == "comparison" else Plan(7, 3))
        assert attempt.keywords["variables"]["OPENSPOT_DATA_DIR"] == str(tmp_path)
        assert (served.call_args.args[1], served.call_args.args[3]) == (4016, "10.0.0.7")


async def test_operators_alerts_are_late_after_the_intervals_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    composed = Composed(monkeypatch, operator_alerts, "Thresholds")
    settings = OperatorAlertSettings(
        backup_every_s=7, reconcile_every_s=8, alert_backup_intervals=3, alert_reconcile_intervals=4,
        alerts_secret="s" * 32,
    )  # fmt: skip
    monkeypatch.setattr(operator_alerts.aiohttp, "ClientSession", Mock())
    monkeypatch.setattr(StandInFrame, "enter", AsyncMock(), raising=False)
    monkeypatch.setattr(operator_alerts, "http_server", Mock())
    await operator_alerts.run(settings, asyncio.Event())
    made = composed.made["Thresholds"]
    assert (made.comparisons, made.backups) == (Plan(8, 4), Plan(7, 3))


# The demo


class MadeError(Exception):
    """What the test is about has been made."""


async def test_the_demos_bots_get_their_funds_sizes_and_pace_from_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    composed = Composed(monkeypatch, demo, "SimulatedPrices", "Treasury", "Maker")
    monkeypatch.setattr(demo, "Taker", lambda *_, **__: (_ for _ in ()).throw(MadeError))
    clients: list[Any] = [SimpleNamespace(tickers=AsyncMock(return_value=[])) for _ in range(2)]
    moves = []
    for quotes_per_s in (0.1, 10):
        settings = DemoSettings(
            demo_funds_dollars=Decimal(1_000_000), demo_inventory_band=Decimal("0.02"),
            demo_level_dollars=Decimal(700), demo_refresh_s=1.5, demo_quotes_per_s=quotes_per_s,
        )  # fmt: skip
        with pytest.raises(MadeError):
            await demo._trade(settings, ANY, clients, [], asyncio.Event())
        assert composed.given["Maker"][1] == {"level_dollars": Decimal(700), "refresh_s": 1.5}
        _, aims, _ = composed.given["Treasury"][0]
        assert aims["USD"] == InventoryTarget(Decimal(1_000_000), Decimal(20_000))
        prices = composed.made["SimulatedPrices"]
        seen = set()
        for tenth in range(1, 21):
            prices.advance(tenth / 10)
            seen.add(prices.mids["BTC-USD"])
        moves.append(len(seen))
    # A price that moves ten times a second is another one at nearly each look.
    assert moves[0] <= 3
    assert moves[1] >= 10


async def test_the_demo_is_not_ready_after_ten_silent_rounds_of_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for refresh_s, silence_s in ((1.5, 30.0), (4.0, 40.0)):
        composed = Composed(monkeypatch, demo)
        asked: list[float] = []
        monkeypatch.setattr(demo, "OpenSpotClient", lambda *_, **__: AsyncMock())
        bot = SimpleNamespace(check=asked.append, end=AsyncMock(), name="bot")

        async def trade(*arguments: Any, bot: Any = bot) -> None:
            arguments[3].append(bot)

        monkeypatch.setattr(demo, "_trade", trade)

        class Frame(StandInFrame):
            def start(self, name: str, work: Any, **_: Any) -> None:
                self.work = work

            async def until_stopped(self) -> None:
                await self.work
                await self.health.report(vital_only=False)

        monkeypatch.setattr(demo, "ServiceFrame", Frame)
        await demo.run(DemoSettings(demo_refresh_s=refresh_s, demo_take_s=0.2), asyncio.Event())
        assert asked == [silence_s], composed


# The position service


@pytest.fixture
async def position_parts(monkeypatch: pytest.MonkeyPatch) -> Composed:
    composed = Composed(monkeypatch, positions, "HoldingStore", "Snapshots", "FillValuation", "Services")
    monkeypatch.setattr(positions, "EndedSessionsFollower", lambda *_: AsyncMock())
    for name in ("make_app", "http_server"):
        monkeypatch.setattr(positions, name, lambda *_: None)
    settings = PositionSettings(
        position_mark_age_s_max=77, position_snapshots_kept_days=3, accounting_currency="EUR", position_imports_max=1,
        follow_fills=True, jwt_secret="s" * 32,
    )  # fmt: skip
    await positions.run(settings, asyncio.Event(), clock=lambda: 1_800_000_000 * 10**9)
    return composed


async def test_a_mark_price_counts_for_as_long_as_the_setting_says(position_parts: Composed) -> None:
    pool = position_parts.frame.pool
    pool.fetch.return_value = []
    await position_parts.made["HoldingStore"].marks()
    assert pool.fetch.call_args.args[1:] == (timedelta(seconds=77),)


async def test_snapshots_are_kept_for_the_days_of_the_setting(position_parts: Composed) -> None:
    store = position_parts.made["HoldingStore"]
    store.forget_snapshots = AsyncMock()
    await position_parts.made["Snapshots"].forget()
    store.forget_snapshots.assert_awaited_once_with(datetime(2027, 1, 12, 8, tzinfo=UTC))


async def test_costs_and_risk_are_counted_in_the_currency_of_the_setting(position_parts: Composed) -> None:
    services = position_parts.made["Services"]
    assert services.cost_basis.currency == "EUR"
    assert position_parts.given["FillValuation"][0][2] == "EUR"
    assert services.holdings._currency == "EUR"


async def test_as_many_imports_run_at_a_time_as_the_setting_says(position_parts: Composed) -> None:
    cost_basis = position_parts.made["Services"].cost_basis
    async with cost_basis.importing():
        with pytest.raises(HttpError) as refused:
            cost_basis.require_place()
    assert (refused.value.status_code, refused.value.code) == (503, "TOO_MANY_IMPORTS")
    cost_basis.require_place()


# The router


async def composed_router(monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Composed:
    parts = ("RecentOrders", "AvailableFunds", "LastTradePrices", "Symbols", "OrderIds", "OrderLookup")
    composed = Composed(monkeypatch, router, *parts)
    for name in ("EngineCommands", "EngineQueries"):
        engine = SimpleNamespace(
            close=AsyncMock(), symbols=AsyncMock(return_value={"BTC-USD": ANY}), session=None, check=AsyncMock(),
            place_orders=AsyncMock(),
        )  # fmt: skip
        monkeypatch.setattr(router, name, lambda _settings, engine=engine: engine)
    monkeypatch.setattr(
        router, "Translation", lambda **_: SimpleNamespace(check=AsyncMock(), prepare=AsyncMock(), run=AsyncMock())
    )
    await router.run(RouterSettings(**settings), asyncio.Event())
    return composed


async def test_a_router_keeps_and_believes_what_its_settings_say(monkeypatch: pytest.MonkeyPatch) -> None:
    composed = await composed_router(
        monkeypatch,
        known_orders_max=2,
        balance_check_timeout_s=0.25,
        reference_price_age_s_max=1.5,
        request_timeout_s=10,
    )
    recent = composed.made["RecentOrders"]
    for order_id in ("a", "b", "c"):
        recent.put(SimpleNamespace(order=SimpleNamespace(order_id=order_id)))
    assert [recent.get(order_id) is not None for order_id in ("a", "b", "c")] == [False, True, True]

    bus = composed.frame.bus
    bus.request.return_value = SimpleNamespace(error=None, balances=[])
    await composed.made["AvailableFunds"].available("u1", "USD", Decimal(0))
    assert bus.request.call_args.kwargs == {"timeout_s": 0.25}

    assert (composed.made["OrderIds"]._take_s_max, composed.made["OrderLookup"]._placement_s_max) == (3, 4)

    prices = composed.made["LastTradePrices"]
    prices.note("BTC-USD", Decimal(60_000), 1_000)
    assert prices.recent("BTC-USD", 2_500) == Decimal(60_000)
    assert prices.recent("BTC-USD", 2_501) is None


async def test_a_router_reloads_its_symbols_only_if_the_setting_says_how_often(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []

    async def pause(seconds: float) -> None:
        paused.append(seconds)
        raise asyncio.CancelledError

    for every_s in (0.0, 7.5):
        composed = await composed_router(monkeypatch, symbol_refresh_s=every_s)
        assert ("symbols" in composed.frame.works) is bool(every_s)
    symbols = composed.made["Symbols"]
    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "sleep", pause)
        with pytest.raises(asyncio.CancelledError):
            await symbols.keep_fresh(7.5)
    assert paused == [7.5]


async def test_events_wait_while_as_many_rows_as_the_setting_says_are_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    composed = Composed(monkeypatch, translation, "RowWriter")
    store = AsyncMock()
    store.of = lambda _: store
    store.division.begin.return_value = 1
    store.resumption.return_value = SimpleNamespace(position=None, held=[], earlier=())
    settings = RouterSettings(row_queue_max=2)
    translator = translation.Translator(
        settings=settings, bus=Mock(), store=store, session=ANY, engine_url="http://127.0.0.1:1", partition=WHOLE
    )
    monkeypatch.setattr(translation, "_LeaderSession", lambda **_: ANY)
    monkeypatch.setattr(translator, "_position", AsyncMock())
    monkeypatch.setattr(translator, "_follow", AsyncMock(side_effect=MadeError))
    monkeypatch.setattr(translator, "_lease", SimpleNamespace(is_held=False, check=lambda: None))
    with pytest.raises(MadeError):
        await translator._lead()
    assert composed.given["RowWriter"][0][3] == 2


# Margin


async def test_a_price_that_does_not_come_again_is_stale_for_margin_after_the_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    composed = Composed(monkeypatch, margin, "MarkPriceCache")
    for name in ("EngineCommands", "EngineQueries"):
        engine = SimpleNamespace(close=AsyncMock(), check=AsyncMock())
        monkeypatch.setattr(margin, name, lambda _settings, engine=engine: engine)
    await margin.run(MarginSettings(margin_mark_stale_s=0.5), asyncio.Event())
    _, valuation_asset, _, stale_s, *_ = composed.given["MarkPriceCache"][0]
    assert (valuation_asset, stale_s) == ("USD", 0.5)


class Dependencies(margin.Dependencies):
    """What margin's work needs, with BTC at 60,000 dollars and a taker fee of ten basis points."""

    def __init__(self, **settings: Any) -> None:
        prices = {"BTC": SimpleNamespace(price=60_000 * AMOUNT_SCALE), "USD": SimpleNamespace(price=AMOUNT_SCALE)}
        marks: Any = SimpleNamespace(current=lambda: prices)
        super().__init__(
            settings=MarginSettings(**settings), pool=ANY, bus=ANY, commands=ANY, queries=ANY, marks=marks,
            markets=load_markets(), clock=lambda: 1_800_000_000 * 10**9,
        )  # fmt: skip

    async def symbol(self, name: str) -> Any:
        """The market."""
        return SimpleNamespace(
            symbol=name, base="BTC", quote="USD", taker_fee_bps=10, lot=1, base_unit=1, tick=1, quote_scale_k=100
        )

    def smallest_quantity(self, spec: Any, price: int) -> int:
        """Any quantity will do."""
        return 1


@pytest.fixture
def account() -> Any:
    """An account that holds 30,000 dollars."""
    return SimpleNamespace(
        account_id="a1", connection=ANY, holdings=SimpleNamespace(loans=[], free=lambda _: 30_000 * AMOUNT_SCALE)
    )


async def test_a_new_loan_has_the_yearly_rate_of_the_setting(monkeypatch: pytest.MonkeyPatch, account: Any) -> None:
    added = AsyncMock()
    monkeypatch.setattr(margin_loans.loan_store, "add_loan", added)
    monkeypatch.setattr(margin_loans, "add_funding", AsyncMock())
    for rate in (Decimal("0.1"), Decimal("0.25")):
        loans = margin_loans.Loans(Dependencies(margin_yearly_rate=rate))
        await loans.add_loan(account, "l1", "USD", 8_760 * 60 * AMOUNT_SCALE)
        loan = added.call_args.args[1]
        assert loan.yearly_rate == rate
        # A year of 365 days has 8,760 hours of 60 minutes: each minute costs the rate of one dollar.
        now_ms = 1_800_000_000_000
        minutes = [loan.accrual.owed(now_ms + minute * 60_000) for minute in (1, 2)]
        assert minutes[1] - minutes[0] == int(rate * AMOUNT_SCALE)


@pytest.mark.parametrize(
    ("slippage_bps", "cost"),
    # 60,000 with the slippage, and then with the fee.
    [(0, "60060"), (50, "60360.3"), (500, "63063")],
)
async def test_an_order_for_a_position_may_slip_by_the_setting_and_the_funds_suffice(
    monkeypatch: pytest.MonkeyPatch, account: Any, slippage_bps: int, cost: str
) -> None:
    added, orders = AsyncMock(), AsyncMock(return_value=nothing_filled("nobody sells"))
    for name in ("add_position", "save_position", "touch"):
        monkeypatch.setattr(margin_positions.store, name, added if name == "add_position" else AsyncMock())
    monkeypatch.setattr(margin_positions, "outcome_of", orders)
    loans = SimpleNamespace(add_loan=AsyncMock())
    work = margin_positions.Positions(Dependencies(margin_slippage_bps=slippage_bps), loans)  # type: ignore[arg-type]
    request = OpeningRequest("BTC", "USD", Side.BUY, AMOUNT_SCALE, Decimal(4))
    await work._add(account, "p1", "BTC-USD", request, 0)
    position: MarginPositionRow = added.call_args.args[1]
    borrowed = loans.add_loan.call_args.args[3]
    assert Decimal(position.own_funds + borrowed) == Decimal(cost) * AMOUNT_SCALE

    position.loan_id, position.own_funds = None, position.own_funds + borrowed
    order_id = position.order_id
    await work._finish_opening(account, position, is_first=True)
    order: MarginOrder = orders.call_args.args[2]
    worst = 60_000 * AMOUNT_SCALE * (BASIS_POINTS + slippage_bps) // BASIS_POINTS
    assert order == MarginOrder(order_id, "a1", "BTC-USD", Side.BUY, AMOUNT_SCALE, worst)
    assert position.status is MarginPositionStatus.FAILED


# Market data


def session_of(**settings: Any) -> LeaderSession:
    around: Any = SimpleNamespace(
        settings=MarketDataSettings(**settings), store=AsyncMock(), fair_price_store=None, commands=None,
        queries=None, clock=lambda: 0, check=lambda: None, token=1, position=None,
    )  # fmt: skip
    return LeaderSession(around, around, around)


async def test_market_data_is_stale_when_it_was_behind_for_longer_than_the_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = session_of(market_data_stale_s=2.5)
    monkeypatch.setattr(session, "_fault", None)
    now = asyncio.get_running_loop().time()
    session._lag.note(3, now - 2)
    session.check_current()
    session._lag.note(0, now)
    session._lag.note(3, now - 2.6)
    with pytest.raises(StaleError, match="3 events behind the engine"):
        session.check_current()


async def test_events_wait_while_as_many_trades_as_the_setting_says_are_not_recorded() -> None:
    session = session_of(market_data_queue_max=2)

    async def never(*_: Any) -> None:
        await asyncio.Event().wait()

    session._sources.store.record.side_effect = never  # type: ignore[attr-defined]
    trade: Any = ANY
    waited = [await waits(session._recorder.put([trade], ANY)) for _ in range(4)]
    # One is being recorded, and two wait for it.
    assert waited == [False, False, False, True]


# The REST edge


def test_mails_link_to_the_pages_of_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    composed = Composed(monkeypatch, mail, "MailSender")
    monkeypatch.setattr(mail, "repeat", lambda *_: None)
    frame: Any = StandInFrame("test", Settings(), asyncio.Event())
    mail.make_mail_services(MailSettings(mail_link_base="https://exchange.example.org/"), frame.pool, frame)
    link_base = composed.given["MailSender"][1]["link_base"]
    written = compose(MailKind.RESET_PASSWORD, "ann@example.org", MailFacts("", "the-token", "", link_base), Brand())
    assert "\nhttps://exchange.example.org/reset-password#token=the-token\n" in written.text
    assert frame.works == ["send mails"]


@pytest.mark.parametrize(
    ("provider", "name"), [("development", "development"), ("operators", "operators"), ("none", None)]
)
async def test_identities_are_checked_by_the_provider_of_the_setting(
    monkeypatch: pytest.MonkeyPatch, provider: Any, name: str | None
) -> None:
    monkeypatch.setattr(funds, "repeat", lambda *_: None)
    settings = RestEdgeSettings(kyc_provider=provider, kyc_webhook_secret="k" * 32, sealing_secret="s" * 32)
    frame: Any = StandInFrame("test", settings, asyncio.Event())
    monkeypatch.setattr(funds.KycService, "seal_clear_information", AsyncMock())
    services = await funds.make_fund_services(
        settings, frame.pool, frame.bus, frame, engine=ANY, accounts=ANY, second_factor=ANY, fair_prices=ANY,
        configuration=load_markets(), payment_fees=list, networks={}, pauses=ANY, notifications=ANY, activity=ANY,
    )  # fmt: skip
    body: Any = SimpleNamespace(level="basic")
    if name is None:
        with pytest.raises(HttpError) as refused:
            await services.kyc.start("u1", body)
        assert (refused.value.status_code, refused.value.code) == (503, "KYC_PROVIDER_UNAVAILABLE")
    else:
        assert services.kyc._provider is not None
        assert services.kyc._provider.name == name


ROUTE = """
[routes.bank]
name = "Bank transfer"
currency = "USD"
provider = "development"
minimum = "10"
maximum = "100"
fee_bps = 0
fee_fixed = "1.50"
"""


def test_payments_have_the_routes_of_the_file_of_the_setting(tmp_path: Path) -> None:
    file = tmp_path / "payments.toml"
    file.write_text(ROUTE)
    make: Callable[..., Any] = lambda name: make_product_services(  # noqa: E731
        RestEdgeSettings(payments_file=name, payment_callback_secret="p" * 32), pool=ANY, bus=ANY, engine=ANY,
        transfers=ANY, fair_prices=ANY, configuration=load_markets(), clock=lambda: 0, further={},
    )  # fmt: skip
    (route,) = make(str(file)).payment_routes()
    assert (route.route_id, route.name, route.asset, route.minimum, route.maximum, route.fee(1)) == (
        "bank", "Bank transfer", "USD", 10 * AMOUNT_SCALE, 100 * AMOUNT_SCALE, 3 * AMOUNT_SCALE // 2,
    )  # fmt: skip
    assert [route.route_id for route in make("").payment_routes()] == ["development-brl", "development-usd"]
    with pytest.raises(ConfigurationError, match=r"missing\.toml cannot be read"):
        make(str(tmp_path / "missing.toml"))
