"""Mails in the operator's words: what a template may hold, and how it becomes a mail."""

from pathlib import Path

import pytest

from openspot.http.brand import Brand, read_brand
from openspot.http.brand_mails import MAIL_LANGUAGES, MAIL_NAMES, BrandError, MailTemplate, read_mail_templates
from openspot.rest_edge.languages.catalogue import Language
from openspot.rest_edge.mail.texts import TOKEN_OF, MailFacts, MailKind, compose

RESET = "A new password for {name}\n\nDear customer,\n\nopen {link} within 30 minutes. {brackets stay}\n"


def mails_with(folder: Path, name: str, content: str | bytes) -> Path:
    """A brand's folder of mails with one file."""
    mails = folder / "mails"
    mails.mkdir()
    (mails / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return mails


def test_kinds_languages_and_links_are_those_of_the_edge() -> None:
    assert set(MAIL_NAMES) == {kind.value for kind in MailKind}
    assert {kind for kind, names in MAIL_NAMES.items() if "link" in names} == {kind.value for kind in TOKEN_OF}
    assert set(MAIL_LANGUAGES) == {language.value for language in Language}


def test_a_mail_has_the_words_of_its_template_in_its_language_alone(tmp_path: Path) -> None:
    mails_with(tmp_path, "reset_password.de.txt", RESET)
    (tmp_path / "brand.toml").write_text('name = "Example"', "utf-8")
    brand = read_brand(tmp_path)
    facts = MailFacts("my code", "abc", link_base="https://x.org", language=Language.GERMAN)
    mail = compose(MailKind.RESET_PASSWORD, "ada@example.org", facts, brand)
    assert mail.subject == "A new password for Example"
    assert mail.text == (
        "Ihr Anti-Phishing-Code: my code\n\nDear customer,\n\nopen https://x.org/reset-password#token=abc within 30 "
        "minutes. {brackets stay}\n\nExample\n"
    )
    assert compose(MailKind.RESET_PASSWORD, "ada@example.org", MailFacts(), brand).subject == "Reset your password"


def test_what_a_notification_says_fills_its_template_and_is_not_filled_in_itself() -> None:
    brand = Brand("Example", "Bye", mails={("notification", "en"): MailTemplate("{name}: {title}", "{text}")})
    facts = MailFacts(token="secret", detail="{link} {text}\nOne {name}\nTwo")
    mail = compose(MailKind.NOTIFICATION, "ada@example.org", facts, brand)
    assert (mail.subject, mail.text) == ("Example: {link} {text}", "One {name}\nTwo\n\nBye\n")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("welcome.en.txt", RESET, "must be named <kind>.<language>.txt; kinds are verify_email, registered_already"),
        ("reset_password.fr.txt", RESET, "languages en, de, es, pt"),
        ("reset_password.en.html", RESET, "must be named <kind>"),
        ("reset_password.en.txt", b"\xff\n\n{link}", "cannot be read as UTF-8"),
        ("reset_password.en.txt", "\n\n{link}", "must begin with a subject"),
        ("reset_password.en.txt", f"{'x' * 151}\n\n{{link}}", "a subject of at most 150 printable characters"),
        ("reset_password.en.txt", "Reset\x07\n\n{link}", "must begin with a subject"),
        ("reset_password.en.txt", "Reset\n\n", "must have a printable text below the subject"),
        ("reset_password.en.txt", "Reset\n\n{link}\x00", "must have a printable text below the subject"),
        ("reset_password.en.txt", "Reset {link}\n\n{link}", r"the subject takes {name}, and not {link}"),
        ("reset_password.en.txt", "Reset\n\n{link} {token}", r"the text takes {name}, {link}, and not {token}"),
        ("reset_password.en.txt", "Reset\n\nNo way to do it.", r"the text must have {link}"),
        ("notification.en.txt", "News\n\n{title}", r"the text must have {text}"),
        ("reset_password.en.txt", f"Reset\n\n{{link}}{'x' * 20_000}", "has more than 20000 characters"),
    ],
)
def test_a_fault_is_refused_with_its_file_and_reason(
    tmp_path: Path, name: str, content: str | bytes, reason: str
) -> None:
    with pytest.raises(BrandError, match=reason) as raised:
        read_mail_templates(mails_with(tmp_path, name, content))
    assert name in str(raised.value)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mails").write_text("x", "utf-8")
    with pytest.raises(BrandError, match="mails: must be a folder"):
        read_mail_templates(tmp_path / "mails")
