"""What no service must trip over: bytes that are no message, and texts that are no id and no amount."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

MESSAGE_BYTES_MAX = 1_048_576
"""NATS's own bound of a message."""

DEPTH = 10_000

Path = tuple[str, ...]

UNREADABLE: dict[str, bytes] = {
    "nothing": b"",
    "a space": b" ",
    "broken JSON": b'{"userId": "alice"',
    "trailing text": b'{"userId": "alice"} and more',
    "no JSON": b"userId=alice",
    "null": b"null",
    "a number": b"42",
    "a text": b'"alice"',
    "an array": b"[]",
    "an array of objects": b'[{"userId": "alice"}]',
    "an empty object": b"{}",
    "NaN": b'{"userId": NaN}',
    "Infinity": b'{"userId": -Infinity}',
    "invalid UTF-8": b'{"userId": "\xff\xfe"}',
    "an encoded surrogate": b'{"userId": "\xed\xa0\x80"}',
    "half a surrogate pair": b'{"userId": "\\ud800"}',
    "a reversed surrogate pair": b'{"userId": "\\ude00\\ud83d"}',
    "a byte order mark": b'\xef\xbb\xbf{"userId": "alice"}',
    "UTF-16": '{"userId": "alice"}'.encode("utf-16"),
    "a raw control character": b'{"userId": "a\x00b"}',
    "deep arrays": b'{"more": ' + b"[" * DEPTH + b"]" * DEPTH + b"}",
    "deep objects": b'{"more":' * DEPTH + b"1" + b"}" * DEPTH,
    "open brackets to the bound": b"[" * MESSAGE_BYTES_MAX,
    "a text to the bound": b'"' + b"x" * (MESSAGE_BYTES_MAX - 2) + b'"',
    "a number to the bound": b"9" * MESSAGE_BYTES_MAX,
}

WRONG_FOR_TEXT: tuple[Any, ...] = (5, -1.5, True, [], ["alice"], {}, {"userId": "alice"}, 10**4000)
WRONG_FOR_NUMBER: tuple[Any, ...] = ("5", "", True, [], {})
RAW_NUMBERS = ("1e400", "-1e400", "9" * 100_000, "NaN", "Infinity", "-Infinity", "0x10", "01", "1.")
"""Numbers that Python's own encoder would not write."""

LONG = "x" * 1_000_000
SQL = "'; DROP TABLE orders; --"

HOSTILE_IDS = (
    "", " ", ".", "..", "alice.bob", "alice.>", ">", "*", "alice.*", "alice bob", " alice", "alice\n", "a\r\nPUB x 0",
    "alice\x00", "\x00", "\x1b[2J", "\u202ealice", "аlice", "álice", "alice\u200b", "😀", SQL, "alice' OR '1'='1",
    "../../etc/passwd", "${jndi:ldap://x}", "{{7*7}}", "%s%n", "$JS.API.STREAM.DELETE.ORDERS", "x" * 65, LONG,
)  # fmt: skip
"""Texts that are no participant id and no order id: among them what would be other subjects of the bus."""

HOSTILE_AMOUNTS = (
    "", " ", "abc", "NaN", "nan", "sNaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "1e999999999",
    "9" * 100_000, "9" * 60, "0." + "1" * 40, "0." + "0" * 18 + "1", "1e-19", "1e30", "1,000", "1.2.3", "--1", "0x10",
    "1_000", "١٢", "１", "1 ", " 1", "1\n", "1\x00", "+-1", "1e", "e5", ".", SQL, LONG,
)  # fmt: skip
"""Texts that are no decimal, or one that no column of 18 places holds."""

HOSTILE_REFERENCES = ("", " ", "a b", "a\tb", "a\nb", "a\\b", 'a"b', "a\x00b", "é", "😀", "x" * 201, LONG)
HOSTILE_ASSETS = ("", "usd", "USD ", "U", "U.S", "*", ">", "US\x00", "ÜSD", "USDUSDUSDUS", SQL, LONG)


def paths(payload: dict[str, Any], before: Path = ()) -> Iterator[Path]:
    """Every field of a payload, also of those within it."""
    for name, value in payload.items():
        yield (*before, name)
        if isinstance(value, dict):
            yield from paths(value, (*before, name))


def with_value(payload: dict[str, Any], path: Path, value: Any) -> dict[str, Any]:
    """The payload with another value of one field."""
    changed = deepcopy(payload)
    _parent(changed, path)[path[-1]] = value
    return changed


def without(payload: dict[str, Any], path: Path) -> dict[str, Any]:
    """The payload without one field."""
    changed = deepcopy(payload)
    del _parent(changed, path)[path[-1]]
    return changed


def with_raw(payload: dict[str, Any], path: Path, text: str) -> bytes:
    """The payload as JSON, one value being `text` as it is."""
    return json.dumps(with_value(payload, path, "@")).replace('"@"', text).encode()


def value_at(payload: dict[str, Any], path: Path) -> Any:
    """The value of one field."""
    return _parent(payload, path)[path[-1]]


def padded(payload: dict[str, Any], size: int) -> bytes:
    """The payload with an unknown field that makes it `size` bytes long."""
    empty = json.dumps(payload | {"padding": ""}).encode()
    return json.dumps(payload | {"padding": "x" * (size - len(empty))}).encode()


def _parent(payload: dict[str, Any], path: Path) -> dict[str, Any]:
    for name in path[:-1]:
        payload = payload[name]
    return payload
