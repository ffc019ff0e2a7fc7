"""How a reduce-only order divides over the positions of a market."""

import pytest

from openspot.contracts.refusals import InvalidRequestError
from openspot.domain.money import AMOUNT_SCALE
from openspot.margin.reduction import parts_of

MILLI = AMOUNT_SCALE // 1000
LEAST = 100 * MILLI


@pytest.mark.parametrize(
    ("quantity", "positions", "parts"),
    [
        (300, (1000, 500), (300,)),
        (1000, (1000, 500), (1000,)),
        (1100, (1000, 500), (1000, 100)),
        (1400, (1000, 500), (1000, 400)),
        (1500, (1000, 500), (1000, 500)),
        (9000, (1000, 500), (1000, 500)),
        (None, (1000, 500), (1000, 500)),
        # A position that is smaller than an order can still be closed whole.
        (1050, (50, 1000), (50, 1000)),
    ],
)
def test_the_first_positions_are_closed_and_the_last_one_in_part(
    quantity: int | None, positions: tuple[int, ...], parts: tuple[int, ...]
) -> None:
    wanted = None if quantity is None else quantity * MILLI
    found = parts_of(wanted, [each * MILLI for each in positions], MILLI, LEAST)
    assert tuple(each // MILLI for each in found) == parts


@pytest.mark.parametrize(
    ("quantity", "error"),
    [
        (99 * MILLI, "quantity is below the smallest order of the market, 0.1"),
        (901 * MILLI, "quantity leaves less than the smallest order of the market, 0.1: close the whole"),
        (300 * MILLI + 1, "quantity must be a multiple of the lot 0.001"),
        (
            1401 * MILLI,
            "after the positions before it, 0.401 of 0.5 is left: quantity leaves less than the smallest order of the"
            " market, 0.1: close the whole",
        ),
    ],
)
def test_no_order_is_too_small_and_no_rest(quantity: int, error: str) -> None:
    with pytest.raises(InvalidRequestError) as raised:
        parts_of(quantity, [1000 * MILLI, 500 * MILLI], MILLI, LEAST)
    assert raised.value.refusal.message == error
