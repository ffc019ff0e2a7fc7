"""Every command `openspot …` in the README and the documents is one that there is, with options that it has."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperGroup, TyperOption
from typer.main import get_command

from openspot.cli import app

ROOT = Path(__file__).resolve().parents[2]
OTHERS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "tests/README.md", "web/README.md")
DOCUMENTS = sorted([*(ROOT / name for name in OTHERS), *(ROOT / "docs").rglob("*.md")])
"""The changelog is not among them: it has the names that commands had."""
ALL = get_command(app)
FENCE = re.compile(r"^ *```.*$", re.MULTILINE)
SPAN = re.compile(r"`([^`]+)`")
PROGRAM = re.compile(r"([\w.~-]*/)*openspot")
ENDS = set("();<>|&")
HELP = "--help"
ELSE = "…"
"""Stands for whatever comes there."""


def lines_of_code(text: str) -> Iterator[str]:
    """The lines of a document's blocks of code, and its code between words, without line breaks in either."""
    for number, part in enumerate(FENCE.split(text)):
        if number % 2:
            yield from part.replace("\\\n", " ").replace("`", " ").splitlines()
        else:
            yield from (" ".join(span.split()) for span in SPAN.findall(part))


def words_of(line: str) -> list[str]:
    """The words of a line as a shell splits it; where it is no line of a shell, those between spaces."""
    splitter = shlex.shlex(line, posix=True, punctuation_chars=True)
    splitter.whitespace_split = True
    try:
        return list(splitter)
    except ValueError:
        return line.split()


def commands_in(text: str) -> Iterator[list[str]]:
    """The words after each `openspot` of a document's code, up to the end of that command."""
    for line in lines_of_code(text):
        found: list[str] | None = None
        for word in [*words_of(line), ";"]:
            if found is not None and ENDS.issuperset(word):
                if found:
                    yield found
                found = None
            elif found is not None:
                found.append(word)
            elif PROGRAM.fullmatch(word):
                found = []


def names_of(option: TyperOption) -> list[str]:
    """How an option is written, also to turn it off."""
    return [*option.opts, *option.secondary_opts]


def fault_of(words: list[str]) -> str:
    """What is wrong with a command: a name or an option that there is not; empty if nothing is."""
    command, path, left = ALL, "openspot", iter(words)
    for word in left:
        if word.startswith("-"):
            name, _, value = word.partition("=")
            option = next(
                (each for each in command.params if isinstance(each, TyperOption) and name in names_of(each)), None
            )
            if option is None and name != HELP:
                return f"{path} has no option {name}"
            if option is not None and not option.is_flag and not value:
                next(left, None)
        elif ELSE in word:
            return ""
        elif isinstance(command, TyperGroup):
            if word not in command.commands:
                return f"{path} has no command {word}"
            command, path = command.commands[word], f"{path} {word}"
    return ""


@pytest.mark.parametrize("document", [path.relative_to(ROOT).as_posix() for path in DOCUMENTS])
def test_every_command_of_a_document_is_there(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    assert {" ".join(words): fault for words in commands_in(text) if (fault := fault_of(words))} == {}


def test_commands_are_found_wherever_a_document_has_code() -> None:
    text = (
        "Run `openspot\nledger rebuild` or `OPENSPOT_LOG=x openspot up --demo`, in `/srv/openspot`.\n"
        "```\n$ cd /srv/openspot && .venv/bin/openspot backup && .venv/bin/openspot backup verify  # soon\n"
        'openspot market edit DOGE-USD \\\n  --reason "it\'s due; openspot up" | head\n```\n'
    )
    assert [" ".join(words) for words in commands_in(text)] == [
        "ledger rebuild", "up --demo", "backup", "backup verify",
        "market edit DOGE-USD --reason it's due; openspot up",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("operators set", "openspot operators has no command set"),
        ("fly", "openspot has no command fly"),
        ("operators add ada SUPPORT --why x", "openspot operators add has no option --why"),
        ("archive --until 2026-01-01", "openspot archive has no option --until"),
        ("archive --kind trades verify", ""),
        ("operators add ada SUPPORT --reason --why", ""),
        ("market … --why", ""),
        ("up --help", ""),
    ],
)
def test_a_name_or_an_option_that_is_gone_is_noticed(command: str, fault: str) -> None:
    assert fault_of(command.split()) == fault
