"""Mails and notifications in other languages: every text has a translation, with its values and no other."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product

import pytest

from openspot.contracts.engine_events import UnarmedEvent
from openspot.contracts.messages import (
    DepositConfirmed,
    ExecutedTransfer,
    IncompleteOrder,
    MarginPositionClosed,
    MarginWarning,
    RiskCheckFailed,
    SendNotification,
    TransferMovement,
    WithdrawalOutcome,
    WithdrawalRequested,
)
from openspot.domain.money import AMOUNT_SCALE
from openspot.http.brand import Brand
from openspot.rest_edge.funds.addresses.notices import address_deleted, address_saved
from openspot.rest_edge.funds.documents.service import CLOSED_TEXT, CLOSED_TITLE
from openspot.rest_edge.funds.kyc import notices as kyc_notices
from openspot.rest_edge.identity.activity.log import NOTICES, Origin, login_notice
from openspot.rest_edge.languages.catalogue import CATALOGUES, Language, language_of, translated
from openspot.rest_edge.mail.texts import MailFacts, MailKind, compose
from openspot.rest_edge.notifications import templates
from openspot.rest_edge.push.service import TEST_TEXT, TEST_TITLE
from openspot.router.translation.order_lists import unarmed_notification
from openspot.subscriptions.charges import ChargeError, check_pays
from openspot.subscriptions.charging import failure_notice, refusal_text
from openspot.subscriptions.lifecycle import Subscription
from openspot.subscriptions.plans import Plan, PlanAccess
from openspot.subscriptions.store import PaymentDraft, PaymentKind
from tests.unit.rest_edge.test_withdrawal_operations import SAVED

OTHERS = tuple(CATALOGUES)
NAMES = re.compile(r"\{(\w+)\}")
MOVED = {
    "conversion": [("ada", "house:convert", "USD", "100"), ("house:convert", "ada", "BTC", "1")],
    "payment": [("house:payments", "ada", "USD", "100")],
    "unstaking": [("house:staking", "ada", "BTC", "1")],
    "reward": [("house:staking", "ada", "BTC", "1")],
    "adjustment": [("house:adjustments", "ada", "USD", "5")],
    "refund": [("house:subscriptions", "ada", "USD", "5")],
    "subscription": [("ada", "house:subscriptions", "USD", "5")],
}


def names(text: str) -> list[str]:
    return sorted(NAMES.findall(text))


def closed(side: str) -> MarginPositionClosed:
    return MarginPositionClosed(
        id="l1:p1",
        liquidation_id="l1",
        margin_account_id="margin:ada",
        user_id="ada",
        position_id="p1",
        symbol="ETH-USD",
        side=side,
        quantity="0.5",
        reason="liquidation",
        timestamp=1,
    )


def unarmed(code: str) -> SendNotification:
    return unarmed_notification("e", UnarmedEvent(9, 1, "BTC-USD", 3, "BRACKET", "ada", code, "1.5"), "list1")


def not_charged(reason: str) -> SendNotification:
    """The notification of a renewal that failed for a reason."""
    day = date(2026, 11, 1)
    own = Subscription("s1", "ada", "PRO", "USD", 1, day, AMOUNT_SCALE, past_due_since=day)
    payment = PaymentDraft(
        payment_id="p1",
        kind=PaymentKind.RENEWAL,
        plan_id="PRO",
        asset="USD",
        period_number=2,
        attempt=1,
        period=own.period,
        charge=None,
        reason=reason,
    )
    return failure_notice(payment, own, (1, 3), datetime.now(UTC))


def incomplete() -> Iterator[SendNotification | None]:
    """The notifications of orders that ended in part, or fired for nothing, with every reason."""
    for side, filled in product(("buy", "sell"), ("0", "0.5")):
        for reason in (*templates.WHY_ENDED, "NEW_CODE"):
            yield templates.order_incomplete(
                IncompleteOrder("o1", "ada", "BTC-USD", side, "1", filled, "50", reason, 1)
            )


def notified() -> list[SendNotification]:
    """A notification of each kind that the edge makes of an event about money, margin or an order."""
    withdrawal = WithdrawalOutcome("w1", "ada", "BTC", "0.5", tx_hash="beef")
    requested = WithdrawalRequested("w1", "ada", "BTC", "0.5", "bc1qx", "bitcoin")
    now = datetime.now(UTC)
    orders = [
        templates.FilledOrder("o1", "ada", "BTC-USD", side, quantity, Decimal(100), now, 7) for side, quantity in SIDES
    ]
    made = [
        templates.deposit_credited(DepositConfirmed("tx1", "ada", "BTC", "0.5"), {"BTC"}, 1),
        templates.withdrawal_requested(requested, 1),
        templates.withdrawal_requested(WithdrawalRequested("w1", "ada", "BTC", "0.5"), 1),
        templates.withdrawal_completed(withdrawal, 1),
        templates.withdrawal_completed(WithdrawalOutcome("w1", "ada", "BTC", "0.5"), 1),
        templates.withdrawal_failed(withdrawal, 1),
        templates.withdrawal_failed(WithdrawalOutcome("w1", "ada", "BTC", "0.5", cancelled=True), 1),
        *(
            templates.transfer_executed(ExecutedTransfer("t1", kind, [TransferMovement(*one) for one in moved], 7, 1))
            for kind, moved in MOVED.items()
        ),
        *(templates.order_filled(order) for order in orders),
        *incomplete(),
        templates.transfer_executed(
            ExecutedTransfer("t2", "adjustment", [TransferMovement("ada", "house:adjustments", "USD", "5")], 7, 1)
        ),
        *(unarmed(code) for code in ("RISK_NSF", "PARTICIPANT_INACTIVE", "PHASE_HALTED")),
        templates.order_refused(RiskCheckFailed("o1", "ada", "BTC-USD", "price_band", "the price is far", 1)),
        templates.orders_cancelled_by_timer("ada", 1, 2),
        templates.margin_warning(MarginWarning("w", "margin:ada", "ada", "1.42", "423.4", "1000", 1)),
        *(templates.margin_position_closed(closed(side)) for side in ("buy", "sell")),
    ]
    assert None not in made
    return [one for one in made if one is not None]


SIDES = (("buy", Decimal(1)), ("sell", Decimal(1)), ("buy", Decimal(0)), ("sell", Decimal(0)))


@pytest.mark.parametrize("language", OTHERS)
def test_every_catalogue_has_the_same_texts_with_the_same_values(language: Language) -> None:
    catalogue = CATALOGUES[language]
    assert set(catalogue) == set(CATALOGUES[Language.GERMAN])
    assert [english for english, text in catalogue.items() if names(text) != names(english)] == []
    assert [english for english, text in catalogue.items() if not text.strip() or "\n" in text] == []


@pytest.mark.parametrize("language", OTHERS)
def test_every_notification_has_a_translation_in_each_line(language: Language) -> None:
    notices = [*NOTICES.values(), login_notice(Origin("10.0.0.1", "Firefox")), login_notice(Origin("10.0.0.1"))]
    notices += [address_saved(replace(SAVED, tag="7")), address_deleted(SAVED)]
    texts = [text for one in [*notified(), *notices] for text in (one.title, *one.text.split("\n"))]
    texts += [TEST_TITLE, TEST_TEXT, CLOSED_TITLE, CLOSED_TEXT, kyc_notices.LOWERED]
    texts += [text for notice in kyc_notices.NOTICES.values() for text in notice]
    assert [text for text in texts if translated(text, language) == text] == []


@pytest.mark.parametrize("language", OTHERS)
def test_a_part_that_was_filled_is_told_by_its_own_template(language: Language) -> None:
    """The template of a whole fill would fit the text too, and leave its middle English."""
    text = "You bought 0.5 BTC of 1 BTC at 100 USD, and the order has ended."
    assert " of " not in translated(text, language)
    assert "ended" not in translated(text, language)


@pytest.mark.parametrize("language", OTHERS)
def test_every_mail_of_the_edge_has_a_translation_with_its_token(language: Language) -> None:
    brand = Brand(mail_signature="The Exchange")
    for kind in set(MailKind) - {MailKind.NOTIFICATION}:
        english = compose(kind, "ada@example.org", MailFacts("my code", "abc"), brand)
        mail = compose(kind, "ada@example.org", MailFacts("my code", "abc", language=language), brand)
        assert mail.subject != english.subject
        assert mail.text.splitlines()[0].endswith(": my code")
        assert ("Token: abc" in mail.text.splitlines()) == ("Token: abc" in english.text.splitlines())
        assert not set(mail.text.splitlines()) & {line for line in english.text.splitlines() if " " in line} - {
            "Token: abc",
            "The Exchange",
        }


@pytest.mark.parametrize("language", OTHERS)
def test_why_a_plan_was_not_charged_or_a_list_has_no_exits_has_a_translation(language: Language) -> None:
    plan = Plan("PRO", "Pro", 1, 1, True, {"USD": AMOUNT_SCALE}, PlanAccess(frozenset(), {}))
    with pytest.raises(ChargeError) as other_asset:
        check_pays("BTC", plan)
    reasons = [refusal_text("USD", AMOUNT_SCALE, code) for code in ("RISK_NSF", "PARTICIPANT_INACTIVE")]
    for reason in (*reasons, "plan PRO does not exist any more", str(other_asset.value)):
        first, _ = not_charged(reason).text.splitlines()
        assert translated(first, language) != first
    for code in ("RISK_NSF", "PARTICIPANT_INACTIVE"):
        assert "your account" not in translated(unarmed(code).text, language)


def test_a_translated_mail_keeps_its_link_whole() -> None:
    facts = MailFacts(token="t" * 150, link_base="https://x.org", language=Language.GERMAN)
    mail = compose(MailKind.RESET_PASSWORD, "ada@example.org", facts, Brand())
    assert f"https://x.org/reset-password#token={'t' * 150}" in mail.text.splitlines()


def test_a_mail_of_a_notification_is_as_the_notification_was_stored() -> None:
    facts = MailFacts(detail="Deposit credited\n1 BTC arrived and can be used.", language=Language.GERMAN)
    assert compose(MailKind.NOTIFICATION, "ada@example.org", facts, Brand()).subject == "Deposit credited"


def test_a_text_that_no_template_fits_stays_english_beside_lines_that_have_one() -> None:
    text = "Something new happened.\nWas it not you? Reset your password and end all sessions."
    assert translated(text, Language.GERMAN).splitlines() == [
        "Something new happened.",
        "Waren Sie das nicht? Setzen Sie Ihr Passwort zurück und beenden Sie alle Sitzungen.",
    ]
    assert translated(text, Language.ENGLISH) == text


def test_a_value_that_looks_like_a_name_or_a_pattern_is_shown_as_it_is() -> None:
    text = r"Somebody logged in from 10.0.0.1, with {address} \1 (.*)."
    assert translated(text, Language.SPANISH) == r"Alguien inició sesión desde 10.0.0.1, con {address} \1 (.*)."


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        ("de", Language.GERMAN),
        ("de-AT", Language.GERMAN),
        ("pt-BR", Language.PORTUGUESE),
        ("ES-419", Language.SPANISH),
        ("en-GB", Language.ENGLISH),
        ("fr", Language.ENGLISH),
        ("", Language.ENGLISH),
        (None, Language.ENGLISH),
    ],
)
def test_a_tag_asks_for_a_language(tag: str | None, language: Language) -> None:
    assert language_of(tag) is language
