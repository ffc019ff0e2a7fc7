"""Listing a market at the engine: one entry of the journal, followed by its services, changed with reasons."""

import asyncio
import time
from copy import deepcopy
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from openspot.contracts.gen.exchange.v1 import orders_pb2 as pb
from openspot.engine.admin.market_listing_routes import WAIT_S_MAX
from openspot.engine.journal.inspection import verify
from openspot.kit.disk import Disk
from openspot.kit.settings import Settings
from tests.support.admin_client import AdminClient
from tests.support.coin_pictures import SVG, brand_with_coins
from tests.support.engine_client import EngineClient, order, running_engine
from tests.support.engine_faults import KILLED_AFTER_COMMIT, KILLED_BEFORE_COMMIT, tell_to_die
from tests.support.engine_nursery import Nursery, forked_engine
from tests.support.waiting import eventually

LISTINGS = "/api/v1/admin/listings"
DOGE_USD: dict[str, Any] = {
    "symbol": "DOGE-USD",
    "asset": {"currency": "DOGE", "name": "Dogecoin", "places": 8, "logo": "doge"},
    "name": "Dogecoin / US dollar",
    "announcement": "Trading begins soon.",
    "tickSize": "0.0001",
    "lotSize": "0.1",
    "takerFee": 25,
    "makerFee": 15,
    "quantityMin": "1",
    "quantityMax": "1000",
    "notionalMin": "1",
    "notionalMax": "5000",
    "deviationBpsMax": 2000,
    "slippageBpsMax": 500,
    "status": "open",
    "reason": "asked for by many",
}
AS_CAROL = {"X-Operator": "user:carol"}


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    """An engine under the complete rules, whose markets have phases, and whose services follow its list."""
    brand = brand_with_coins(tmp_path, doge_svg=SVG, text_svg=b"a text")
    return settings.model_copy(update={"rules": "complete", "markets": "live", "brand_folder": brand})


async def call(
    engine: EngineClient, method: str, path: str, body: Any = None, expected: int = 200, **headers: str
) -> Any:
    status, reply = await engine.request(method, f"{LISTINGS}{path}", body, engine.headers | AS_CAROL | headers)
    assert status == expected, reply
    return reply


async def list_doge(engine: EngineClient, **changes: Any) -> Any:
    return await call(engine, "POST", "", DOGE_USD | changes, 201)


async def listed(engine: EngineClient, version: str = "", wait: int = 0) -> Any:
    status, body = await engine.request("GET", f"/api/v1/listings?version={version}&wait={wait}")
    return body if status == 200 else None


async def market(engine: EngineClient, symbol: str = "DOGE-USD") -> Any:
    found = [row for row in (await listed(engine))["markets"] if row["symbol"] == symbol]
    return found[0] if found else None


async def status_of(engine: EngineClient) -> str:
    return str((await market(engine))["terms"]["status"])


async def buy(engine: EngineClient, quantity: int = 100, **fields: Any) -> pb.PlaceOrderResponse:
    """10 DOGE at 0.1 by default: tick 0.0001, lot 0.1."""
    return await engine.place(symbol="DOGE-USD", price=1_000, quantity=quantity, **fields)


async def schedule_delisting(engine: EngineClient, symbol: str, in_ms: int = 3_600_000) -> Any:
    """The market, whose delisting is scheduled from now on."""
    schedule = [{"status": "delisting", "at": int(time.time() * 1000) + in_ms}]
    return await call(engine, "PATCH", f"/{symbol}", {"schedule": schedule, "reason": "it ends"})


async def delist_on_margin(engine: EngineClient, symbol: str) -> None:
    """Delist a market that margin offers, as a caller who has asked margin."""
    version = (await schedule_delisting(engine, symbol))["version"]
    body = {"status": "delisting", "reason": "it ends", "version": version, "marginAsked": True}
    await call(engine, "PUT", f"/{symbol}/status", body)


async def test_a_coin_and_its_market_are_listed_in_one_step_and_trade_at_once(engine: EngineClient) -> None:
    before = await listed(engine)
    body = await list_doge(engine)
    assert (body["symbol"], body["active"], body["terms"]["status"]) == ("DOGE-USD", True, "open")
    after = await listed(engine)
    assert after["version"] != before["version"]
    assert after["currencies"][-1] == {
        "currency": "DOGE", "currencyId": 8, "name": "Dogecoin", "places": 8, "logo": "doge",
    }  # fmt: skip
    assert after["markets"][:-1] == before["markets"]
    assert after["markets"][-1]["terms"] == {
        "quantityMin": "1", "quantityMax": "1000", "notionalMin": "1", "notionalMax": "5000",
        "deviationBpsMax": 2000, "slippageBpsMax": 500, "status": "open", "name": "Dogecoin / US dollar",
        "announcement": "Trading begins soon.", "schedule": [], "offers": [],
    }  # fmt: skip
    await engine.fund("alice", USD="100")
    assert (await buy(engine)).status == pb.ACCEPTED
    _, markets = await engine.request("GET", "/api/v1/markets")
    (shown,) = (row for row in markets if row["symbol"] == "DOGE-USD")
    assert (shown["logo"], shown["terms"]["name"]) == ("doge", "Dogecoin / US dollar")
    assert all("terms" not in row for row in markets if row["symbol"] != "DOGE-USD")


@pytest.mark.parametrize(
    ("logo", "fault"),
    [
        ("../logo", "asset.logo must be 1 to 32 small letters, digits or -"),
        ("pepe", "asset.logo must name a picture: there is no pepe.svg and no pepe.png in "),
        ("text", "text.svg is no SVG file"),
    ],
)
async def test_a_coin_is_not_listed_with_a_logo_that_is_no_picture(engine: EngineClient, logo: str, fault: str) -> None:
    body = DOGE_USD | {"asset": DOGE_USD["asset"] | {"logo": logo}}
    (message,) = (await call(engine, "POST", "", body, 400))["message"]
    assert message.startswith("asset.logo ")
    assert fault in message
    (check,) = [check for check in await call(engine, "POST", "/checks", body) if check["fault"]]
    assert (check["field"], check["field"] + " " + check["fault"]) == ("asset.logo", message)


async def test_a_coin_gets_a_logo_later_and_loses_it_again(engine: EngineClient) -> None:
    path = "/api/v1/admin/currencies/BTC"

    async def shown() -> Any:
        _, markets = await engine.request("GET", "/api/v1/markets")
        return {row["symbol"]: (row.get("logo"), row.get("quoteLogo")) for row in markets}

    assert set((await shown()).values()) == {(None, None)}
    status, refusal = await engine.request("PATCH", path, {"logo": "pepe"})
    assert status == 400
    assert refusal["message"].startswith("logo must name a picture: there is no pepe.svg and no pepe.png in ")
    status, changed = await engine.request("PATCH", path, {"logo": "doge"})
    assert (status, changed["logo"], changed["name"]) == (200, "doge", "BTC")
    logos = await shown()
    assert logos["BTC-USD"] == ("doge", None)
    assert ("doge", None) != logos["ETH-BTC"] == (None, "doge")
    # A picture that is gone hinders no other change.
    (Path(engine.settings.brand_folder) / "coins/doge.svg").unlink()
    assert (await engine.request("PATCH", path, {"name": "Bitcoin!", "logo": "doge"}))[1]["name"] == "Bitcoin!"
    assert (await engine.request("PATCH", path, {"logo": ""}))[1]["logo"] == ""
    assert set((await shown()).values()) == {(None, None)}


async def test_a_symbol_that_was_created_alone_is_listed_and_trades_then(engine: EngineClient) -> None:
    coin = {"currency": "DOGE", "currencyId": 50, "name": "Dogecoin", "places": 8}
    assert (await engine.request("POST", "/api/v1/admin/currencies", coin))[0] == 201
    alone = {"symbol": "DOGE-USD", "tickSize": "0.0001", "lotSize": "0.1", "takerFee": 10, "makerFee": 5}
    status, created = await engine.request("POST", "/api/v1/admin/symbols", alone, engine.headers | AS_CAROL)
    assert status == 201, created
    assert (await market(engine))["terms"] is None
    # Services take no orders for it, and what changes a listing says what is missing.
    refused = await call(engine, "PUT", "/DOGE-USD/status", {"status": "open", "reason": "tried"}, 400)
    assert "was created without bounds and is no market yet: list it" in refused["message"]
    body = {name: value for name, value in DOGE_USD.items() if name != "asset"}
    wrong = await call(engine, "POST", "", body | {"tickSize": "0.001"}, 400)
    assert wrong["message"] == ["tickSize must be 0.0001, with which the symbol was created"]
    listing = await call(engine, "POST", "", body, 201)
    assert (listing["takerFee"], listing["makerFee"], listing["terms"]["status"]) == (25, 15, "open")
    assert (await market(engine))["terms"]["quantityMax"] == "1000"
    assert (await engine.request("GET", "/api/v1/admin/symbols/DOGE-USD", None, engine.headers))[1][
        "symbolId"
    ] == created["symbolId"]
    await engine.fund("alice", USD="100")
    assert (await buy(engine)).status == pb.ACCEPTED
    [change] = (await call(engine, "GET", "/DOGE-USD/changes"))["changes"]
    assert (change["action"], change["operator"], change["reason"]) == ("list", "user:carol", "asked for by many")
    # A market is not listed twice.
    again = await call(engine, "POST", "", body, 400)
    assert again["message"] == ["symbol DOGE-USD exists already"]


async def test_every_fault_of_a_proposal_is_named_before_and_by_the_refusal(engine: EngineClient) -> None:
    wrong = deepcopy(DOGE_USD) | {
        "symbol": "DOGE-EUR", "takerFee": 2000, "quantityMin": "1.05", "quantityMax": "0.5", "slippageBpsMax": 0,
        "schedule": [{"status": "open", "at": 1}],
    }  # fmt: skip
    checks = await call(engine, "POST", "/checks", wrong)
    faults = {f"{check['field']} {check['fault']}" for check in checks if check["fault"]}
    refusal = await call(engine, "POST", "", wrong, 400)
    assert refusal["code"] == "VALIDATION_FAILED"
    assert set(refusal["message"]) == faults == {
        "symbol there is no asset EUR",
        "takerFee must be between 0 and 1000",
        "quantityMax must not be below quantityMin",
        "quantityMin quantityMin and quantityMax must be multiples of lotSize",
        "slippageBpsMax must be between 1 and 10000",
        "schedule must be in the future",
        "schedule open cannot follow open",
    }  # fmt: skip
    assert not any(check["fault"] for check in await call(engine, "POST", "/checks", DOGE_USD))
    assert "DOGE" not in {row["currency"] for row in (await listed(engine))["currencies"]}


async def test_a_change_is_kept_with_who_when_before_after_and_why(engine: EngineClient) -> None:
    await list_doge(engine)
    began = time.time() * 1000
    await call(engine, "PATCH", "/DOGE-USD", {"takerFee": 30, "quantityMax": "2000", "reason": "more is asked for"})
    (change, first) = (await call(engine, "GET", "/DOGE-USD/changes"))["changes"]
    assert abs(change.pop("timestamp") - began) < 60_000
    assert change == {
        "operator": "user:carol", "action": "change", "reason": "more is asked for",
        "before": {"quantityMax": "1000", "takerFee": "25"}, "after": {"quantityMax": "2000", "takerFee": "30"},
    }  # fmt: skip
    assert (first["action"], first["before"], first["after"]["makerFee"]) == ("list", {}, "15")
    # The bounds count at once: the engine takes ten times the largest quantity.
    await engine.fund("alice", USD="1000000")
    assert (await buy(engine, 2_000 * 10 * 10)).status == pb.ACCEPTED
    assert (await buy(engine, 2_000 * 10 * 10 + 1)).result_code == "MAX_ORDER_SIZE"


async def test_fees_that_the_page_of_symbols_changes_stand_in_the_history(engine: EngineClient) -> None:
    await list_doge(engine)
    path = "/api/v1/admin/symbols/DOGE-USD"
    assert (await engine.request("PATCH", path, {"makerFee": 20, "active": False}))[0] == 200
    changes = (await call(engine, "GET", "/DOGE-USD/changes"))["changes"]
    assert (changes[0]["before"], changes[0]["after"]) == ({"makerFee": "15"}, {"makerFee": "20"})
    assert changes[0]["reason"] == "no reason given, on the page of symbols" and changes[0]["operator"]
    shown = await call(engine, "GET", "/DOGE-USD")
    assert (shown["makerFee"], shown["active"]) == (20, False)
    # What changes no fee, or breaks a rule, leaves the history as it is.
    assert (await engine.request("PATCH", path, {"active": True}))[0] == 200
    assert (await engine.request("PATCH", path, {"makerFee": 20}))[0] == 200
    assert (await engine.request("PATCH", path, {"takerFee": 10**6}))[0] == 400
    assert (await call(engine, "GET", "/DOGE-USD/changes"))["changes"] == changes


async def test_a_market_of_the_seed_keeps_its_terms_until_they_are_changed(engine: EngineClient) -> None:
    seeded = (await market(engine, "BTC-USD"))["terms"]
    assert (seeded["quantityMin"], seeded["status"], seeded["deviationBpsMax"]) == ("0.00001", "open", 2000)
    await call(engine, "PATCH", "/BTC-USD", {"announcement": "A short halt at noon.", "reason": "maintenance"})
    assert (await market(engine, "BTC-USD"))["terms"] == seeded | {"announcement": "A short halt at noon."}


async def test_whoever_waits_hears_of_a_change_and_otherwise_of_none(engine: EngineClient) -> None:
    version = (await listed(engine))["version"]
    assert await listed(engine, version) is None
    waiting = asyncio.create_task(listed(engine, version, 20))
    await list_doge(engine)
    heard = await waiting
    assert heard is not None
    assert heard["markets"][-1]["symbol"] == "DOGE-USD"


async def test_an_announced_market_opens_by_its_schedule_through_all_phases(engine: EngineClient) -> None:
    now = int(time.time() * 1000)
    schedule = [
        {"status": "post-only", "at": now + 300},
        {"status": "auction", "at": now + 600},
        {"status": "open", "at": now + 900},
    ]
    body = await list_doge(engine, status="announced", schedule=schedule)
    assert (body["active"], body["terms"]["schedule"]) == (False, schedule)
    await engine.fund("alice", USD="1000", DOGE="1000")
    await engine.fund("bob", USD="1000", DOGE="1000")
    assert (await buy(engine)).result_code == "SYMBOL_INACTIVE"

    async def is_in_auction() -> bool:
        return await status_of(engine) == "auction"

    async def is_open() -> bool:
        return await status_of(engine) == "open"

    await eventually(is_in_auction)
    changes = (await call(engine, "GET", "/DOGE-USD/changes"))["changes"]
    assert [change["after"]["status"] for change in changes][:2] == ["auction", "post-only"]
    assert {change["operator"] for change in changes[:2]} == {"engine"}
    await eventually(is_open)
    assert (await market(engine))["terms"]["schedule"] == []
    assert (await buy(engine)).status == pb.ACCEPTED
    sold = await engine.place("sell", "1", "1", "bob", symbol="DOGE-USD", price=1_000, quantity=100)
    assert sold.filled_quantity == 100


async def test_a_status_that_was_due_while_the_disk_was_full_is_given_once_there_is_space(
    engine: EngineClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    due = int(time.time() * 1000) + 1000
    refusals: list[str] = []

    def refusal(_: Disk) -> str:
        if time.time() * 1000 < due:
            return ""
        refusals.append("the disk is full")
        return refusals[-1]

    with monkeypatch.context() as patch:
        patch.setattr(Disk, "refusal", property(refusal))
        await list_doge(engine, status="announced", schedule=[{"status": "post-only", "at": due}])
        await eventually(lambda: len(refusals) > 2)
        assert await status_of(engine) == "announced"

    async def takes_orders() -> bool:
        return await status_of(engine) == "post-only"

    await eventually(takes_orders)


async def test_delisting_ends_orders_first_and_leaves_book_trades_and_balances(engine: EngineClient) -> None:
    await list_doge(engine)
    await engine.fund("alice", USD="1000", DOGE="1000")
    resting = [await buy(engine) for _ in range(3)]
    await call(engine, "PUT", "/DOGE-USD/status", {"status": "delisting", "reason": "the coin has ended"})

    async def is_delisted() -> bool:
        return await status_of(engine) == "delisted"

    await eventually(is_delisted)
    assert (await buy(engine)).result_code == "SYMBOL_INACTIVE"
    assert (await engine.balances())["USD"].locked == "0"
    assert {(await engine.find(one.order_id)).status for one in resting} == {"CANCELLED"}
    status, book = await engine.request("GET", "/api/v1/marketdata/orderbook/DOGE-USD")
    assert (status, book["bids"]) == (200, [])
    reserved = await engine.balances()
    assert reserved["DOGE"].available == "1000"
    refusal = await call(engine, "PUT", "/DOGE-USD/status", {"status": "open", "reason": "it is back"}, 400)
    assert refusal["message"] == ["status open cannot follow delisted: announced can"]


async def test_delisting_ends_waiting_orders_and_whole_lists_and_frees_their_funds(engine: EngineClient) -> None:
    await engine.fund("alice")
    stop = {"trigger": pb.TRIGGER_FIXED, "trigger_value": 9_000, "trigger_direction": pb.TRIGGER_AT_OR_BELOW}
    bracket = [
        order("buy", "100", "3", order_id=11),
        order("sell", "110", "3", order_id=12),
        order("sell", "85", "3", order_id=13, **stop),
    ]
    listed_orders = pb.PlaceOrderListRequest(list_id=7, type=pb.BRACKET, orders=bracket)
    assert (await engine.orders.PlaceOrderList(listed_orders)).status == pb.ACCEPTED
    await engine.place("sell", "85", "1", order_id=21, **stop)
    await engine.place("buy", "99", "1", order_id=22)
    await delist_on_margin(engine, "BTC-USD")

    async def is_delisted() -> bool:
        return bool((await market(engine, "BTC-USD"))["terms"]["status"] == "delisted")

    await eventually(is_delisted)
    assert {(await engine.find(number)).status for number in (11, 12, 13, 21, 22)} == {"CANCELLED"}
    balances = await engine.balances()
    held = {asset: (row.locked, row.reserved) for asset, row in balances.items()}
    assert held == {"USD": ("0", "0"), "BTC": ("0", "0")}


async def test_a_market_of_margin_is_delisted_only_for_who_asked_margin_about_it_as_it_is(engine: EngineClient) -> None:
    path, wanted = "/BTC-USD/status", {"status": "delisting", "reason": "it ends", "marginAsked": True}
    seen = (await call(engine, "GET", "/BTC-USD"))["version"]
    refusal = await call(engine, "PUT", path, wanted | {"version": seen}, 409)
    assert (refusal["code"], "schedule its delisting first" in refusal["message"]) == ("DELISTING_NOT_SCHEDULED", True)
    scheduled = await schedule_delisting(engine, "BTC-USD")
    unasked = {"status": "delisting", "reason": "it ends", "version": scheduled["version"]}
    # Whoever names no version asked about a market of any other time.
    for body in (unasked, unasked | {"marginAsked": False}, wanted):
        assert (await call(engine, "PUT", path, body, 409))["code"] == "MARGIN_NOT_ASKED"
    # Margin offered it for a moment in between: what margin said before that is worth nothing.
    entries = {"schedule": scheduled["terms"]["schedule"], "reason": "it ends"}
    await call(engine, "PATCH", "/BTC-USD", {"schedule": [], "reason": "it goes on"})
    again = await call(engine, "PATCH", "/BTC-USD", entries)
    assert again["terms"] == scheduled["terms"]
    stale = await call(engine, "PUT", path, wanted | {"version": scheduled["version"]}, 409)
    assert stale["code"] == "MARKET_CHANGED"
    assert (await market(engine, "BTC-USD"))["terms"]["status"] == "open"
    refused = await engine.request("DELETE", "/api/v1/admin/symbols/BTC-USD", None, engine.headers)
    assert (refused[0], refused[1]["message"]) == (400, "symbol: BTC-USD is offered on margin: delist it first")
    ended = await call(engine, "PUT", path, wanted | {"version": again["version"]})
    assert ended["terms"]["status"] == "delisting"


async def test_the_engine_delists_a_market_of_margin_never_by_itself(engine: EngineClient) -> None:
    await list_doge(engine)
    await schedule_delisting(engine, "BTC-USD", 300)
    await schedule_delisting(engine, "DOGE-USD", 900)

    async def doge_is_delisted() -> bool:
        return await status_of(engine) == "delisted"

    # The schedule worked on after the time of the first one.
    await eventually(doge_is_delisted)
    waiting = (await market(engine, "BTC-USD"))["terms"]
    assert (waiting["status"], [entry["status"] for entry in waiting["schedule"]]) == ("open", ["delisting"])


async def test_only_services_and_administrators_change_a_listing(engine: EngineClient) -> None:
    assert (await engine.request("POST", LISTINGS, DOGE_USD, {}))[0] == 401
    assert (await engine.request("POST", LISTINGS, DOGE_USD, {"Authorization": "Bearer nothing"}))[0] == 401
    assert (await engine.request("POST", LISTINGS, DOGE_USD))[0] == 201
    (change,) = (await call(engine, "GET", "/DOGE-USD/changes"))["changes"]
    assert change["operator"] == "service"


async def test_fixed_markets_cannot_be_changed(settings: Settings) -> None:
    async with running_engine(settings.model_copy(update={"markets": "fixed"})) as engine:
        refusal = await call(engine, "POST", "", DOGE_USD, 400)
        assert (refusal["code"], refusal["message"]) == (
            "UNSUPPORTED_COMMAND", "the markets are fixed: OPENSPOT_MARKETS=live lets operators list others",
        )  # fmt: skip
        await call(engine, "PATCH", "/BTC-USD", {"takerFee": 1, "reason": "cheaper"}, 400)
        await call(engine, "PUT", "/BTC-USD/status", {"status": "delisting", "reason": "it ends"}, 400)
        assert (await market(engine, "BTC-USD"))["takerFee"] == 25


async def test_a_session_of_the_engine_lists_under_its_own_name(settings: Settings) -> None:
    with_password = settings.model_copy(update={"admin_password": "a-long-password"})
    async with running_engine(with_password) as engine:
        admin = await AdminClient(engine, "connect").login()
        headers = {"Authorization": f"Bearer {admin.token}", "X-Operator": "user:somebody-else"}
        assert (await engine.request("POST", LISTINGS, DOGE_USD, headers))[0] == 201
        (change,) = (await call(engine, "GET", "/DOGE-USD/changes"))["changes"]
        assert change["operator"] == "engine:admin"


async def test_a_reason_is_needed(engine: EngineClient) -> None:
    refusal = await call(engine, "POST", "", DOGE_USD | {"reason": " a "}, 400)
    assert any("reason" in message for message in refusal["message"])


async def test_a_restart_and_a_replay_know_the_same_list(settings: Settings, tmp_path: Path) -> None:
    async with running_engine(settings) as engine:
        await list_doge(engine)
        await call(engine, "PATCH", "/DOGE-USD", {"makerFee": 5, "reason": "cheaper for makers"})
        before = await listed(engine)
        changes = await call(engine, "GET", "/DOGE-USD/changes")
    async with running_engine(settings) as engine:
        assert await listed(engine) == before
        assert await call(engine, "GET", "/DOGE-USD/changes") == changes
    for snapshot in (tmp_path / "engine" / "snapshots").glob("*"):
        snapshot.unlink()
    async with running_engine(settings) as engine:
        assert await listed(engine) == before
        assert await call(engine, "GET", "/DOGE-USD/changes") == changes
    assert verify(tmp_path / "engine" / "journal.sqlite").sound


@pytest.mark.parametrize(("moment", "survives"), [(KILLED_BEFORE_COMMIT, False), (KILLED_AFTER_COMMIT, True)])
async def test_a_kill_leaves_the_whole_market_or_nothing_of_it(
    settings: Settings, nursery: Nursery, moment: str, survives: bool
) -> None:
    async with forked_engine(settings, nursery, moment) as (child, engine):
        before = await listed(engine)
        tell_to_die(settings)
        with pytest.raises(aiohttp.ClientError):
            await list_doge(engine)
        assert child.wait() == -9
        child.start()
        await child.ready(engine)
        if survives:
            assert (await market(engine))["terms"]["name"] == "Dogecoin / US dollar"
            assert (await listed(engine))["currencies"][-1]["currency"] == "DOGE"
        else:
            assert await listed(engine) == before
            await list_doge(engine)
        await engine.fund("alice", USD="100")
        assert (await buy(engine)).status == pb.ACCEPTED


async def test_a_kill_in_a_delisting_goes_on_with_it(settings: Settings, nursery: Nursery) -> None:
    async with forked_engine(settings, nursery, KILLED_AFTER_COMMIT) as (child, engine):
        await list_doge(engine)
        await engine.fund("alice", USD="1000")
        await buy(engine)
        tell_to_die(settings)
        with pytest.raises(aiohttp.ClientError):
            await call(engine, "PUT", "/DOGE-USD/status", {"status": "delisting", "reason": "the coin has ended"})
        assert child.wait() == -9
        child.start()
        await child.ready(engine)

        async def is_delisted() -> bool:
            return await status_of(engine) == "delisted"

        await eventually(is_delisted)
        assert (await engine.balances())["USD"].locked == "0"


async def test_whoever_waits_for_a_change_has_an_answer_when_the_engine_stops(settings: Settings) -> None:
    """Otherwise the request is cancelled after the time that a server has to stop, and the log shows a traceback."""
    async with aiohttp.ClientSession() as session:
        async with running_engine(settings) as client:
            version = (await listed(client))["version"]
            url = f"{client.settings.engine_url}/api/v1/listings?version={version}&wait={WAIT_S_MAX}"
            waiting = asyncio.create_task(session.get(url))
            # The engine has it as soon as a later request on another connection is answered.
            await client.request("GET", "/ready")
            assert not waiting.done()
        assert (await waiting).status == 204
