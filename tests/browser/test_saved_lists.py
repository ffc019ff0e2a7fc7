"""Lists that operators narrow, take along as files, and keep as views: those of one user, reports, the treasury."""

import itertools
import json
import re
import secrets
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import NamedTuple

import asyncpg
import pyarrow.parquet
import pytest
from playwright.sync_api import expect

from openspot.http.lists import encode_cursor
from openspot.up.child_platform import ChildPlatform
from tests.support.console import OPPOSITE_LOOKS, Console
from tests.support.own_thread import in_own_thread
from tests.support.trading_screen import Exchange, Trader

pytestmark = pytest.mark.proof

BEFORE = "2020-01-01"
"""A day on which nothing happened yet."""
_serial = itertools.count(1)


class Tab(NamedTuple):
    """A list on a user's page: its tab, its name at the edge, and what the page says if no row fits the days."""

    title: str
    name: str
    empty: str


TABS = (
    Tab("Movements", "transactions", "No movements"),
    Tab("Deposits", "deposits", "No deposits"),
    Tab("Withdrawals", "withdrawals", "No withdrawals"),
    Tab("Payments", "payments", "No payments"),
    Tab("Activity", "activity", "Nothing happened then"),
    Tab("Notices", "notifications", "The user was told nothing then"),
    Tab("Requests", "requests", "Nothing waits for another person"),
    Tab("Notes", "notes", "Nobody noted anything then"),
)


@pytest.fixture
def trader(exchange: Exchange) -> Trader:
    """A user who has logged in and got a deposit."""
    registered = exchange.register(f"{secrets.token_hex(6)}@example.com")
    exchange.deposit([(registered, "SOL", "12.345")])
    return registered


def stored(platform: ChildPlatform, query: str, name: str) -> str:
    """The value that the database has for a name."""

    async def read() -> str:
        connection = await asyncpg.connect(platform.settings.database_url)
        value: str = await connection.fetchval(query, name)
        await connection.close()
        return value

    return in_own_thread(read)


def noted(platform: ChildPlatform, name: str) -> dict[str, str | None]:
    """What the trail says of the list's last file."""
    query = "SELECT after FROM operator_actions WHERE action = $1 ORDER BY entry_number DESC LIMIT 1"
    found: dict[str, str | None] = json.loads(stored(platform, query, f"{name}.exported"))
    return found


def page_of_view(platform: ChildPlatform, name: str) -> str:
    """The page that a view is saved for."""
    return stored(platform, "SELECT page FROM operator_views WHERE name = $1", name)


def test_each_list_of_a_user_is_narrowed_by_days_and_saved_as_a_file(
    console: Console, platform: ChildPlatform, trader: Trader
) -> None:
    page, user_id = console.page, trader.user_id
    console.open(f"/users/{user_id}", trader.email)
    for tab in TABS:
        page.get_by_role("tab", name=tab.title).click()
        page.get_by_label("To", exact=True).fill(BEFORE)
        expect(page.get_by_text(tab.empty, exact=True)).to_be_visible()
        file = console.save_as_file(f"{tab.name}-{user_id}.csv")
        assert len(file.read_text().splitlines()) == 1, tab.name
        # A list over all users would have those of everybody.
        filters = noted(platform, tab.name)
        assert (filters["user"], filters["to"]) == (user_id, "2020-01-02T00:00:00+00:00"), tab.name
        page.get_by_role("button", name="Clear filters").click()
        expect(page).not_to_have_url(re.compile("[?&]to="))
    page.get_by_role("tab", name="Movements").click()
    expect(console.row("Movements", "deposit", "12.345")).to_be_visible()
    movements = console.save_as_file(f"transactions-{user_id}.parquet", form="Parquet")
    assert [row["amount"] for row in pyarrow.parquet.read_table(movements).to_pylist()] == [Decimal("12.345")]
    console.look_over("movements of a user", OPPOSITE_LOOKS)
    page.get_by_role("tab", name="Activity").click()
    page.get_by_label("From", exact=True).fill(f"{datetime.fromtimestamp(0, UTC):%Y-%m-%d}")
    expect(console.row("Activity", "logged in")).to_be_visible()
    assert ",logged_in," in console.save_as_file(f"activity-{user_id}.csv").read_text()


def test_a_view_of_one_users_page_opens_on_that_of_another(
    console: Console, exchange: Exchange, trader: Trader
) -> None:
    page, view = console.page, f"Movements {secrets.token_hex(4)}"
    # An address that opens a dialog leaves no trace of it in the view.
    console.open(f"/users/{trader.user_id}?do=adjust", trader.email)
    console.dialog("Adjust the balance?").get_by_role("button", name="Cancel").click()
    page.get_by_role("tab", name="Movements").click()
    page.get_by_label("From", exact=True).fill(BEFORE)
    console.save_view(view)
    other = exchange.register(f"{secrets.token_hex(6)}@example.com")
    console.open(f"/users/{other.user_id}", other.email)
    console.open_view(view)
    expect(page).to_have_url(re.compile(rf"/users/{other.user_id}\?tab=movements&from={BEFORE}$"))
    expect(console.heading(other.email)).to_be_visible()
    expect(page.get_by_text("No movements", exact=True)).to_be_visible()
    expect(page.get_by_label("From", exact=True)).to_have_value(BEFORE)


def test_a_view_opens_at_the_beginning_of_its_list(console: Console, platform: ChildPlatform) -> None:
    page, view = console.page, f"Own {secrets.token_hex(4)}"
    console.open(f"/trail?first=2020-01-01&after={encode_cursor([3])}", "Audit trail")
    console.save_view(view)
    query = "SELECT query FROM operator_views WHERE name = $1"
    assert stored(platform, query, view) == "first=2020-01-01"
    # As views were saved before.
    stored(platform, "UPDATE operator_views SET query = query || '&after=3' WHERE name = $1 RETURNING query", view)
    console.open("/trail", "Audit trail")
    console.open_view(view)
    expect(page).to_have_url(re.compile(r"/trail\?first=2020-01-01$"))


def test_the_treasury_is_kept_as_a_view(console: Console, platform: ChildPlatform) -> None:
    page, view = console.page, f"Outside {secrets.token_hex(4)}"
    console.open("/treasury", "Treasury")
    page.get_by_role("tab", name="From and to outside").click()
    page.get_by_label("To", exact=True).fill(BEFORE)
    console.save_view(view)
    assert page_of_view(platform, view) == "treasury"
    console.look_over("the treasury with a view", OPPOSITE_LOOKS)
    console.open("/treasury", "Treasury")
    console.open_view(view)
    expect(page.get_by_role("tab", name="From and to outside")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_label("To", exact=True)).to_have_value(BEFORE)
    expect(page.get_by_text("Nothing was recorded then")).to_be_visible()


@pytest.fixture
def market(platform: ChildPlatform) -> str:
    """A market that was traded on three days of two months, which are closed."""
    symbol = f"RPT{next(_serial)}-USD"

    async def write() -> None:
        connection = await asyncpg.connect(platform.settings.database_url)
        for day, trades, base, quote in (
            (date(2020, 3, 30), 2, "1.5", "30"),
            (date(2020, 3, 31), 3, "0.25", "5.5"),
            (date(2020, 4, 1), 1, "4", "80"),
        ):  # fmt: skip
            await connection.execute(
                "INSERT INTO report_volumes (day, symbol, trades, base, quote) VALUES ($1, $2, $3, $4, $5)",
                day, symbol, trades, Decimal(base), Decimal(quote),
            )  # fmt: skip
        await connection.close()

    in_own_thread(write)
    return symbol


def test_a_report_by_month_adds_its_days_and_is_saved_and_kept(
    console: Console, platform: ChildPlatform, market: str
) -> None:
    page, view, span = console.page, f"Spring {secrets.token_hex(4)}", "2020-03-30-2020-04-01"
    title = "Save the report as a file?"
    console.open("/reports?report=volumes&from=2020-03-30&to=2020-04-01", "Reports")

    def shown(count: int) -> list[list[str]]:
        rows = console.row("Volumes", market)
        expect(rows).to_have_count(count)
        return [row.get_by_role("cell").all_inner_texts() for row in rows.all()]

    def saved() -> list[str]:
        lines = console.save_as_file(f"volumes-{span}.csv", title).read_text().splitlines()
        assert lines[0] == "period,symbol,trades,base,quote,note"
        return [line for line in lines if market in line]

    assert [row[0] for row in shown(3)] == ["2020-04-01", "2020-03-31", "2020-03-30"]
    assert saved() == [
        f"2020-03-30,{market},2,1.5,30,",
        f"2020-03-31,{market},3,0.25,5.5,",
        f"2020-04-01,{market},1,4,80,",
    ]
    console.choose("By", "By month")
    base = market.partition("-")[0]
    assert shown(2) == [
        ["2020-04", market, "1", f"4 {base}", "80 USD"], ["2020-03", market, "5", f"1.75 {base}", "35.5 USD"],
    ]  # fmt: skip
    assert saved() == [f"2020-03,{market},5,1.75,35.5,", f"2020-04,{market},1,4,80,"]
    parquet = console.save_as_file(f"volumes-{span}.parquet", title, form="Parquet")
    rows = [row for row in pyarrow.parquet.read_table(parquet).to_pylist() if row["symbol"] == market]
    assert [(row["period"], row["trades"], row["quote"]) for row in rows] == [
        ("2020-03", 5, Decimal("35.5")), ("2020-04", 1, Decimal("80")),
    ]  # fmt: skip
    console.save_view(view)
    assert page_of_view(platform, view) == "reports"
    console.look_over("a report by month", OPPOSITE_LOOKS)
    console.open("/reports", "Reports")
    console.open_view(view)
    expect(page.get_by_role("tab", name="Volumes")).to_have_attribute("aria-selected", "true")
    expect(console.row("Volumes", market, "2020-03")).to_have_count(1)
