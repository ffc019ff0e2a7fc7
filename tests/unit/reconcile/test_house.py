"""The accounts of the house stand in every report, named for what they are."""

import json
from decimal import Decimal

import msgspec

from openspot.domain.ids import HOUSE_ACCOUNT_PURPOSES
from openspot.reconcile.house import house_accounts
from openspot.reconcile.report import ReconcileReport, format_report, report_json
from openspot.reconcile.tables import HouseBalance

AGREES = ReconcileReport(
    epoch="abc", first_sequence=1, engine_sequence=9, rows_sequence=9, settled_sequence=9, caught_up=True,
    accounts=3, orders=1, trades=1, entries=8, adjustments=0, seconds=0.1, differences=[],
)  # fmt: skip
BALANCES = [
    HouseBalance("house:external", "USD", None, Decimal("-100")),
    HouseBalance("house:fees", "BTC", Decimal("0.10"), Decimal("0.1")),
    HouseBalance("house:fees", "USD", Decimal("2.5"), Decimal("2")),
    HouseBalance("house:staking", "USD", Decimal(40), None),
    HouseBalance("house:surprise", "USD", Decimal(1), Decimal(1)),
]


def test_every_account_of_the_house_is_listed_when_nothing_differs() -> None:
    listed = {account.account: account for account in house_accounts([])}
    assert {name: account.purpose for name, account in listed.items()} == HOUSE_ACCOUNT_PURPOSES
    assert all(account.holdings == [] for account in listed.values())


def test_the_text_says_what_each_is_for_and_what_it_holds_on_either_side() -> None:
    told = format_report(msgspec.structs.replace(AGREES, house_accounts=house_accounts(BALANCES))).splitlines()
    assert told[2:] == [
        "house accounts        house:fees (trading fees and rebates): 0.1 BTC, 2.5 USD (2 in the ledger)",
        "                      house:external (the outside world): -100 USD",
        "                      house:conversions (conversions): nothing",
        "                      house:staking (staked funds): 40 USD (nothing in the ledger)",
        "                      house:rewards (rewards): nothing",
        "                      house:payments (payments): nothing",
        "                      house:lending (margin lending pool): nothing",
        "                      house:interest (margin interest): nothing",
        "                      house:insurance (margin insurance): nothing",
        "                      house:subscriptions (subscriptions): nothing",
        "                      house:adjustments (adjustments by operators): nothing",
        "                      house:surprise (no known purpose): 1 USD",
        "differences           none",
    ]


def test_json_has_them_too() -> None:
    report = msgspec.structs.replace(AGREES, house_accounts=house_accounts(BALANCES))
    first, external, *_ = json.loads(report_json(report))["houseAccounts"]
    assert first == {
        "account": "house:fees",
        "purpose": "trading fees and rebates",
        "holdings": [
            {"asset": "BTC", "engine": "0.1", "ledger": "0.1"},
            {"asset": "USD", "engine": "2.5", "ledger": "2"},
        ],
    }
    assert external["holdings"] == [{"asset": "USD", "engine": None, "ledger": "-100"}]
