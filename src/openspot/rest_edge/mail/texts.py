"""The texts of the mails: in English here, in other languages in `rest_edge/languages`. Pure.

What the operator's brand has a template for is in the operator's words.
Every mail shows the user's anti-phishing code, if there is one. So a user can tell a forged mail by its absence.
"""

import textwrap
from dataclasses import dataclass
from enum import StrEnum

from openspot.http.brand import Brand
from openspot.http.brand_mails import MailTemplate, filled_in
from openspot.kit.mail.message import Mail
from openspot.rest_edge.languages.catalogue import Language, translated


class MailKind(StrEnum):
    """The kinds of mail."""

    VERIFY_EMAIL = "verify_email"
    REGISTERED_ALREADY = "registered_already"
    RESET_PASSWORD = "reset_password"  # noqa: S105
    TOO_MANY_FAILURES = "too_many_failures"
    ACCOUNT_DELETED = "account_deleted"
    NOTIFICATION = "notification"


class TokenKind(StrEnum):
    """The purposes of a token in a mail."""

    VERIFY_EMAIL = "verify_email"
    RESET_PASSWORD = "reset_password"  # noqa: S105
    REGISTERED_ALREADY = "registered_already"
    """No mail shows this one, and it opens nothing: its row tells when such a mail was sent."""


SECURITY_KINDS = frozenset({MailKind.TOO_MANY_FAILURES, MailKind.ACCOUNT_DELETED})
"""These may take the reserved share of the outbox: they tell the owner of an account what somebody did to it."""

TOKEN_OF = {
    MailKind.VERIFY_EMAIL: TokenKind.VERIFY_EMAIL,
    MailKind.RESET_PASSWORD: TokenKind.RESET_PASSWORD,
    MailKind.TOO_MANY_FAILURES: TokenKind.RESET_PASSWORD,
}
"""The kind of token that each kind of mail carries."""

PAGE_OF = {
    MailKind.VERIFY_EMAIL: "verify-email",
    MailKind.RESET_PASSWORD: "reset-password",
    MailKind.TOO_MANY_FAILURES: "reset-password",
}
"""The page that takes the token of each kind of mail."""


LINE_LENGTH = 112
"""The letters of a line of a translated mail; a longer word, such as a link, has a line of its own."""


@dataclass(frozen=True, slots=True)
class MailFacts:
    """The facts that a mail may mention, and its language.

    `link_base` is the address of the web pages, empty if there are none. The detail of a notification is in the user's
    language already.
    """

    anti_phishing_code: str | None = None
    token: str = ""
    detail: str = ""
    link_base: str = ""
    language: Language = Language.ENGLISH


def notification_detail(title: str, text: str) -> str:
    """The detail of a notification's row in the outbox: the title as the first line, then the text."""
    return f"{title}\n{text}"


def compose(kind: MailKind, recipient: str, facts: MailFacts, brand: Brand) -> Mail:
    """Compose a mail of the brand's exchange. It shows the anti-phishing code and ends with the signature."""
    template = brand.mails.get((kind.value, facts.language.value))
    subject, lines = _content(kind, facts) if template is None else _branded(template, kind, facts, brand)
    if template is None and facts.language is not Language.ENGLISH and kind is not MailKind.NOTIFICATION:
        subject, lines = translated(subject, facts.language), _translated_lines(lines, facts.language)
    if facts.anti_phishing_code:
        code = translated(f"Your anti-phishing code: {facts.anti_phishing_code}", facts.language)
        lines = [code, "", *lines]
    return Mail(recipient, subject, "\n".join([*lines, "", brand.mail_signature, ""]))


def _branded(template: MailTemplate, kind: MailKind, facts: MailFacts, brand: Brand) -> tuple[str, list[str]]:
    title, _, text = facts.detail.partition("\n")
    values = {"name": brand.name, "title": title, "text": text}
    page = PAGE_OF.get(kind)
    if page is not None:
        values["link"] = translated(_use(facts, page), facts.language)
    return filled_in(template.subject, values), filled_in(template.text, values).split("\n")


def _translated_lines(lines: list[str], language: Language) -> list[str]:
    """The lines in another language: each paragraph is translated as a whole, and divided into lines again."""
    paragraphs = "\n".join(lines).split("\n\n")
    found: list[str] = []
    for paragraph in paragraphs:
        text = translated(paragraph.replace("\n", " "), language)
        found += ["", *textwrap.wrap(text, LINE_LENGTH, break_long_words=False, break_on_hyphens=False)]
    return found[1:]


def _content(kind: MailKind, facts: MailFacts) -> tuple[str, list[str]]:
    match kind:
        case MailKind.VERIFY_EMAIL:
            return "Confirm your email address", [
                "Confirm that this is your email address. It works once, within 24 hours.",
                "",
                "Did you not register here? Then do not confirm it: somebody else knows the password. If you want the",
                "account, reset the password, which removes what they left in it.",
                "",
                _use(facts, PAGE_OF[kind]),
            ]
        case MailKind.REGISTERED_ALREADY:
            return "You have an account already", [
                "Somebody, perhaps you, tried to register with this email address, which has an account already.",
                "Log in with it, or reset the password if you do not know it any more.",
            ]
        case MailKind.RESET_PASSWORD:
            return "Reset your password", [
                "Choose a new password. This works once, within 30 minutes. Did you not ask for it? Do nothing.",
                "",
                _use(facts, PAGE_OF[kind]),
            ]
        case MailKind.TOO_MANY_FAILURES:
            return "Too many failed logins: choose a new password", [
                "100 logins in a row have failed. Until you choose a new password, logins from there are refused.",
                "Networks that you have logged in from count on their own. This works once, within 30 minutes; you",
                "can ask for another mail.",
                "",
                _use(facts, PAGE_OF[kind]),
            ]
        case MailKind.ACCOUNT_DELETED:
            return "Your account is deleted", [
                "Your account and your personal data are deleted. Records of trades and payments stay, without your",
                "name.",
            ]
        case MailKind.NOTIFICATION:
            return _notification_content(facts.detail)


def _notification_content(detail: str) -> tuple[str, list[str]]:
    title, _, text = detail.partition("\n")
    return title, text.split("\n")


def _use(facts: MailFacts, page: str) -> str:
    if facts.link_base:
        return f"{facts.link_base.rstrip('/')}/{page}#token={facts.token}"
    return f"Token: {facts.token}"
