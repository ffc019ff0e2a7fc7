"""Every table says nothing about money, for a reason that is named here, or `openspot reconcile` compares it."""

import pytest

from openspot.reconcile.descriptor import DESCRIPTOR
from openspot.reconcile.money_checks import COPIED_TABLES, TRANSFER_TABLES
from openspot.up.services import DESCRIPTORS
from tests.contract.test_transfer_tables import TABLES

PEOPLE = "who somebody is and how they prove it"
OFFER = "an offer or a question: nothing has moved"
NEWS = "news of what other tables hold"
HISTORY = "who did or saw what, of amounts that other tables hold"
PROGRESS = "how far a reader has come"
OWN = "what somebody entered here: there is nothing to compare it with"
PRICES = "prices: what moves by them is compared"
REPORT = "sums of ledger entries and trades; `openspot reports rebuild` makes each again"
PROOF = "balances of the ledger at one event; its users check them, an auditor the whole"
WITHOUT_MONEY = {
    "audit_records": HISTORY,
    "api_keys": PEOPLE,
    "sealing_keys": PEOPLE,
    "idempotency_keys": "answers to requests, kept for a repeat",
    "users": PEOPLE,
    "refresh_tokens": PEOPLE,
    "login_attempts": PEOPLE,
    "user_networks": PEOPLE,
    "user_sessions": PEOPLE,
    "user_activity": HISTORY,
    "user_mfa": PEOPLE,
    "user_recovery_codes": PEOPLE,
    "mfa_challenges": PEOPLE,
    "mail_tokens": PEOPLE,
    "mail_outbox": NEWS,
    "check_ins": PEOPLE,
    "deleted_users": PEOPLE,
    "notification_settings": PEOPLE,
    "cancel_timers": PEOPLE,
    "price_alerts": PEOPLE,
    "watchlists": PEOPLE,
    "push_subscriptions": PEOPLE,
    "push_messages": PEOPLE,
    "chart_drawings": PEOPLE,
    "screen_layouts": PEOPLE,
    "price_alert_markets": "up to which trade alerts are judged: no money",
    "fill_notification_positions": "up to which trade users are told of filled orders: no money",
    "notifications": NEWS,
    "withdrawal_addresses": PEOPLE,
    "kyc_profiles": PEOPLE,
    "kyc_events": PEOPLE,
    "kyc_documents": PEOPLE,
    "operator_roles": PEOPLE,
    "operator_actions": HISTORY,
    "operator_action_origins": PEOPLE,
    "operator_views": PEOPLE,
    "listed_networks": OFFER,
    "listed_network_assets": OFFER,
    "transfer_pauses": "what operators have paused: nothing has moved",
    "custody_audit_origins": PEOPLE,
    "custody_trail_position": "how far custody's chain is followed",
    "engine_action_positions": "how far the engine's journal is followed",
    "withdrawal_assignments": "who is to decide: nothing has moved",
    "conversion_quotes": OFFER,
    "fee_quotes": OFFER,
    "user_locks": PEOPLE,
    "user_notes": PEOPLE,
    "user_limits": "what a user may do: nothing has moved",
    "operator_requests": "what an operator asked for; the rows made of it are compared",
    "download_links": "what a link is for, for a minute",
    "house_levels": "what an account should have: nothing has moved",
    "payment_events": "what the provider said of a payment, without amounts; payments are compared",
    "custody_addresses": "where deposits may come in",
    "custody_approvals": HISTORY,
    "custody_signatures": HISTORY,
    "custody_audit": "a chain of hashes that custody checks itself",
    "custody_chain_transactions": "the simulated chains themselves: the world outside",
    "report_movements": REPORT,
    "report_volumes": REPORT,
    "report_users": PEOPLE,
    "report_loans": "what margin_loans said at the end of a day",
    "report_reserves": "what custody said at the end of a day",
    "reserve_proofs": PROOF,
    "reserve_leaves": PROOF,
    "reserve_nodes": PROOF,
    "ledger_outbox": NEWS,
    "archive_batches": "files and their checksums; `openspot archive verify` compares what is in them",
    "margin_accounts": "states; what an account holds is with the engine, what it owes in margin_loans",
    "margin_changes": "a counter",
    "margin_reductions": "ids of requests",
    "margin_positions": "states and limits; what a position holds is the engine's balance of its account",
    "margin_liquidations": HISTORY,
    "market_candles": "`openspot market-data verify` makes each candle again",
    "fair_prices": PRICES,
    "fair_price_samples": PRICES,
    "operator_prices": PRICES,
    "owner_links": PEOPLE,
    "position_marks": PRICES,
    "position_snapshots": PRICES,
    "fifo_checkpoints": "results between, which the results that are compared were made from",
    "broker_reports": OWN,
    "broker_exceptions": OWN,
    "engine_order_ids": "a counter",
    "subscriptions": "states; what is paid for them are transfers",
    "subscription_charges": "a charge on its way; it moves money by a transfer",
}
COMPARED = set(DESCRIPTOR.tables.reads) | {each.table for each in COPIED_TABLES}
OWNED = sorted({table for each in DESCRIPTORS for table in each.tables.owns})


@pytest.mark.parametrize("table", OWNED)
def test_a_table_is_compared_or_says_nothing_about_money(table: str) -> None:
    assert (table in COMPARED) != (table in WITHOUT_MONEY), "compare it in reconcile/money_checks.py, or say why not"


def test_no_reason_is_given_for_a_table_that_is_gone() -> None:
    assert not WITHOUT_MONEY.keys() - set(OWNED)


def test_every_table_of_transfers_is_compared_by_reference() -> None:
    assert {table for _, table in TABLES} <= {each.table for each in TRANSFER_TABLES}
