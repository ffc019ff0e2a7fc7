"""The texts with which services refuse what a trader asks for, read from the sources. Pure, but for reading files.

A text is a string with a space, or an f-string whose values are holes. What is no text for anybody is left out by its
form: documentation, statements of databases, lines of logs, assertions.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HOLE = "{}"
_NAME = re.compile(r"\{\w+\}")
_FORMAT = re.compile(r"\{\w+(:\w+)?\}")
_BEGINS = re.compile(r"(; )?[A-Za-z{]")
_STATEMENT = re.compile(
    r"\$\d|\$\{|^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b|\b(WHERE|FROM|FOR UPDATE|IN \(|IS NOT? ?NULL)\b"
)
_COLUMNS = re.compile(r"^\w+(, *\w+)+$")
_SILENT_CALLS = re.compile(
    r"^log\.|(^|\.)(get_logger|Counter|Gauge|Histogram|Field|Path|Query|Header|Parameter|RuntimeError|AssertionError"
    r"|example|compile|Documented|Activity|Work|Task)$"
)
_SILENT_KEYWORDS = frozenset({"description", "summary", "title", "examples", "example", "name", "help", "responses"})


class Text(NamedTuple):
    """A text of a file. Where a value stands in it, `pattern` has a hole."""

    path: str
    line: int
    pattern: str


def pattern_of(template: str) -> str:
    """A template of a catalogue with nameless holes, as texts have them."""
    return _NAME.sub(HOLE, template)


def texts_of(path: Path, name: str) -> list[Text]:
    """The texts in a source file, in their order. `name` is what they are told apart by."""
    tree = ast.parse(path.read_text("utf-8"))
    silent = {id(inner) for node in ast.walk(tree) for part in _silent(node) for inner in ast.walk(part)}
    found = [
        Text(name, node.lineno, pattern)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in silent
        for pattern in [_pattern(node)]
        if pattern is not None
    ]
    return sorted(found, key=lambda text: text.line)


def _silent(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Assert():
            yield node
        case ast.JoinedStr(values=values):
            yield from values
        case ast.Call(func=function, keywords=keywords):
            if _SILENT_CALLS.search(ast.unparse(function)):
                yield node
            yield from (keyword.value for keyword in keywords if keyword.arg in _SILENT_KEYWORDS)
        case ast.Dict(keys=keys, values=values):
            # The documentation of responses, by their status.
            documented = zip(keys, values, strict=True)
            yield from (value for key, value in documented if isinstance(key, ast.Constant) and type(key.value) is int)
        case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
            yield annotation


def _pattern(node: ast.Constant | ast.JoinedStr) -> str | None:
    if isinstance(node, ast.Constant):
        if not isinstance(node.value, str):
            return None
        text = _FORMAT.sub(HOLE, node.value)
    else:
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in node.values)
    is_text = " " in text.strip() and _BEGINS.match(text) and re.search(r"[a-z]{2}", text.replace(HOLE, ""))
    if not is_text or _STATEMENT.search(text) or _COLUMNS.match(text) or "\n" in text:
        return None
    return text
