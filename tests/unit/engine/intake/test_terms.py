"""The TERMS of a request, field by field; what its fields cannot hold is left to the core to refuse."""

from types import SimpleNamespace
from typing import Any

import pytest

from openspot.engine.core.records import Command
from openspot.engine.intake.terms import TERMS_COMMAND, kept_bits, note_of, terms_of


def request(**fields: Any) -> Any:
    nothing = {
        "trigger": 0, "trigger_source": 0, "trigger_direction": 0, "trigger_value": 0, "expires_at_ms": 0,
        "self_trade_prevention": 0, "display_quantity": 0, "has_limit": False,
    }  # fmt: skip
    return SimpleNamespace(**nothing | fields)


def test_each_field_of_a_request_has_its_place() -> None:
    asked = request(
        trigger=3, trigger_source=1, trigger_direction=1, trigger_value=250, expires_at_ms=77, self_trade_prevention=5
    )
    assert terms_of(asked, 12, 99) == Command(
        kind=22, side=3, order_type=5, flags=3, timestamp=99, order_id=12, price=250, amount=77_000_000
    )
    assert terms_of(request(), 12, 99) == Command(kind=22, timestamp=99, order_id=12)
    assert terms_of(request(trigger_source=1), 1, 1).flags == 1
    assert terms_of(request(trigger_direction=1), 1, 1).flags == 2
    assert TERMS_COMMAND == 0, "no order has this id"


@pytest.mark.parametrize(
    ("fields", "bits", "note"),
    [
        ({}, 0, ()),
        ({"has_limit": True}, 0, ()),
        ({"trigger": 1}, 64, ()),
        ({"trigger": 1, "has_limit": True}, 64 | 128, ("limit",)),
    ],
)
def test_an_order_that_waits_keeps_whether_its_owner_chose_its_limit(
    fields: dict[str, Any], bits: int, note: tuple[str, ...]
) -> None:
    assert (kept_bits(request(**fields)), note_of(request(**fields))) == (bits, note)


@pytest.mark.parametrize(
    ("fields", "field", "value"),
    [
        ({"trigger": 4}, "side", 255),
        ({"trigger": -1}, "side", 255),
        ({"trigger_source": 2}, "flags", 255),
        ({"trigger_source": -1}, "flags", 255),
        ({"trigger_direction": 2}, "flags", 255),
        ({"trigger_direction": -1}, "flags", 255),
        ({"self_trade_prevention": 6}, "order_type", 6),
        ({"self_trade_prevention": 254}, "order_type", 254),
        ({"self_trade_prevention": 255}, "order_type", 255),
        ({"self_trade_prevention": 256}, "order_type", 255),
        ({"self_trade_prevention": -1}, "order_type", 255),
    ],
)
def test_a_number_that_does_not_exist_becomes_one_that_the_core_refuses(
    fields: dict[str, int], field: str, value: int
) -> None:
    assert getattr(terms_of(request(**fields), 1, 1), field) == value
