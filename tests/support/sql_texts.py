"""Finds what SQL in the sources does to which tables, without running it.

SQL stands in string literals, with its keywords in capitals. A statement may be put together of several literals, so
each literal is looked at on its own: a table counts as read where its name stands as a word beside such a keyword, and
as written where it follows a keyword that writes. A package whose SQL serves several tables takes a table's name as the
argument `table`: the call that gives the name counts as writing that table, and the SQL itself counts for none.
"""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

_SQL = re.compile(r"\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|JOIN|INTO|TRUNCATE|COPY|LOCK|MERGE|CREATE|ALTER|DROP)\b")
_WRITTEN = re.compile(
    r"\b(?:INSERT\s+INTO|MERGE\s+INTO|DELETE\s+FROM|TRUNCATE(?:\s+TABLE)?|COPY|LOCK\s+TABLE"
    r"|(?:CREATE|ALTER|DROP)\s+(?:TABLE|SEQUENCE|INDEX\s+\w+\s+ON)"
    r"|(?<!DO\s)(?<!FOR\s)(?<!KEY\s)UPDATE)\s+(?:ONLY\s+|IF\s+(?:NOT\s+)?EXISTS\s+)?(?:public\.)?\"?(\w+)"
    r"|\b(?:nextval|setval)\s*\(\s*'(?:public\.)?(\w+)'"
)
_COPYING = "copy_records_to_table", "copy_to_table"
_NAMED_BY_PLACEHOLDER = re.compile(r"\b(?:FROM|JOIN|INTO|(?<!FOR\s)UPDATE|TABLE|TRUNCATE|COPY)\s+\{")


class Use(NamedTuple):
    """What one literal does to one table."""

    path: Path
    line: int
    table: str
    writes: bool


def uses(path: Path, tables: Collection[str]) -> Iterator[Use]:
    """Every use of one of `tables` in a Python source."""
    source = path.read_text("utf-8")
    if not any(table in source for table in tables):
        return
    tree = ast.parse(source)
    for line, text in _literals(tree):
        for table, writes in uses_of_sql(text, tables):
            yield Use(path, line, table, writes)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _COPYING:
            match node.args[0]:
                case ast.Constant(value=str() as table) if table in tables:
                    yield Use(path, node.lineno, table, writes=True)
        match node:
            case ast.keyword(arg="table", value=ast.Constant(value=str() as table)) if table in tables:
                yield Use(path, node.value.lineno, table, writes=True)


def names_tables_by_placeholder(path: Path) -> bool:
    """Whether a Python source has SQL in which a placeholder stands for the name of a table."""
    return bool(_NAMED_BY_PLACEHOLDER.search(path.read_text("utf-8")))


def uses_of_sql(text: str, tables: Collection[str]) -> set[tuple[str, bool]]:
    """(table, whether it is written) of each of `tables` in a piece of SQL; empty for a text that is not SQL."""
    if not _SQL.search(text):
        return set()
    written = {name for found in _WRITTEN.finditer(text) for name in found.groups() if name in tables}
    mentioned = {word for word in re.findall(r"\w+", text) if word in tables}
    return {(table, table in written) for table in mentioned}


def _literals(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, text) of every string literal that is not a docstring; a placeholder of an f-string becomes `_`."""
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    left_out = docstrings | parts
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(values=values):
                yield (
                    node.lineno,
                    "".join(str(part.value) if isinstance(part, ast.Constant) else " _ " for part in values),
                )
            case ast.Constant(value=str() as text) if id(node) not in left_out:
                yield node.lineno, text
