"""What the sources cite is in the repository: facts by their number."""

import re
from pathlib import Path

import openspot

SOURCES = Path(openspot.__file__).parent
FACTS = SOURCES.parents[1] / "docs/facts.md"
FACT = re.compile(r"\b[AB]\d+(?:\.\d+)?-\d{2}\b")
ABSENT = re.compile(r"Document [AB]\b|[Dd]esign sections?\b")
"""The specification and the design, of which the repository has neither."""


def texts() -> dict[str, str]:
    files = [path for path in SOURCES.rglob("*") if path.suffix in (".py", ".toml", ".pyi")]
    return {str(path.relative_to(SOURCES)): path.read_text("utf-8") for path in files}


def test_no_source_cites_a_document_that_is_not_in_the_repository() -> None:
    assert [name for name, text in texts().items() if ABSENT.search(text)] == []


def test_every_fact_that_a_source_cites_exists() -> None:
    known = set(re.findall(r"^\| (\S+) \|", FACTS.read_text("utf-8"), re.MULTILINE))
    assert len(known) > 700
    cited = {name: set(FACT.findall(text)) for name, text in texts().items()}
    assert any(cited.values())
    assert {name: missing for name, facts in cited.items() if (missing := facts - known)} == {}
