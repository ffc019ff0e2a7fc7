"""The mails of the exchange in its operator's words: templates in the folder `mails` of the brand.

A file is named for the kind of mail and the language, for example `reset_password.de.txt`. Its first line is the
subject, the lines behind it are the text. Names in braces stand for what each mail says of its own.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

MAIL_NAMES: Mapping[str, tuple[str, ...]] = {
    "verify_email": ("link",),
    "registered_already": (),
    "reset_password": ("link",),
    "too_many_failures": ("link",),
    "account_deleted": (),
    "notification": ("title", "text"),
}
"""The kinds of mail, with the names that the text of each must have: without its link a mail is of no use."""
MAIL_LANGUAGES = ("en", "de", "es", "pt")
SUBJECT_LENGTH_MAX = 150
TEMPLATE_LENGTH_MAX = 20_000
_NAME = re.compile(r"\{(\w*)\}")
_IN_SUBJECTS = ("name", "title")
"""What a subject may name: a link has a token, which a subject would show on locked screens."""


class BrandError(ValueError):
    """The folder holds something that cannot be used. The message names the file, the field and the reason."""


class MailTemplate(NamedTuple):
    """A mail in the operator's words: its subject and its text, with names in braces."""

    subject: str
    text: str


MailTemplates = Mapping[tuple[str, str], MailTemplate]
"""Templates by kind of mail and language."""


def filled_in(text: str, values: Mapping[str, str]) -> str:
    """`text` with the values of its names. What a value has in braces stays as it is."""
    return _NAME.sub(lambda name: values.get(name[1], name[0]), text)


def read_mail_templates(folder: Path) -> dict[tuple[str, str], MailTemplate]:
    """The templates in `folder`, none if it is missing. Raises BrandError."""
    if not folder.exists():
        return {}
    if not folder.is_dir():
        raise BrandError(f"{folder}: must be a folder")
    found: dict[tuple[str, str], MailTemplate] = {}
    for path in sorted(folder.iterdir()):
        kind, _, rest = path.name.partition(".")
        language = rest.removesuffix(".txt")
        if kind not in MAIL_NAMES or language not in MAIL_LANGUAGES or not rest.endswith(".txt"):
            raise BrandError(
                f"{path}: must be named <kind>.<language>.txt; kinds are {', '.join(MAIL_NAMES)}, "
                f"languages {', '.join(MAIL_LANGUAGES)}"
            )
        found[kind, language] = _template(path, MAIL_NAMES[kind])
    return found


def _template(path: Path, required: tuple[str, ...]) -> MailTemplate:
    try:
        content = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BrandError(f"{path}: cannot be read as UTF-8: {error}") from error
    if len(content) > TEMPLATE_LENGTH_MAX:
        raise BrandError(f"{path}: has more than {TEMPLATE_LENGTH_MAX} characters")
    first, _, rest = content.partition("\n")
    subject, text = first.strip(), rest.strip()
    if not 0 < len(subject) <= SUBJECT_LENGTH_MAX or not subject.isprintable():
        raise BrandError(f"{path}: must begin with a subject of at most {SUBJECT_LENGTH_MAX} printable characters")
    if not text or any(not sign.isprintable() and sign != "\n" for sign in text):
        raise BrandError(f"{path}: must have a printable text below the subject")
    known = ("name", *required)
    for where, part, allowed in (
        ("subject", subject, [name for name in known if name in _IN_SUBJECTS]),
        ("text", text, known),
    ):
        for name in _NAME.findall(part):
            if name not in allowed:
                takes = ", ".join(f"{{{each}}}" for each in allowed)
                raise BrandError(f"{path}: the {where} takes {takes}, and not {{{name}}}")
    missing = [f"{{{name}}}" for name in required if f"{{{name}}}" not in text]
    if missing:
        raise BrandError(f"{path}: the text must have {' and '.join(missing)}")
    return MailTemplate(subject, text)
