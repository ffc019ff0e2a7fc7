"""The scenario tables of tests/scenarios/margin, which the trading screen runs too."""

from decimal import Decimal
from functools import partial

import pytest

from openspot.domain.money import amount_to_text
from openspot.domain.order import Side
from openspot.margin.crossings import risk_band_of
from openspot.margin.figures import Marks, UnpricedError, UnsurePriceError, margin_figures
from openspot.margin.lifecycle import AccountStatus
from openspot.margin.limits import LimitRule, borrowing_error, outflow_error
from openspot.margin.liquidation_price import liquidation_price
from openspot.margin.opening import OpeningRequest, RefusalReason, balances_after, borrowing, check_margin, price_of
from tests.support.margin_scenarios import FOLDER, MarginCase, amount_of, read_margin_cases

CASES = {path.stem: read_margin_cases(path) for path in sorted(FOLDER.glob("*.txt"))}
UNJUDGED = {RefusalReason.INVALID_LEVERAGE, RefusalReason.NO_MARK_PRICE, RefusalReason.PRICE_NOT_SURE}
"""Verdicts that come without figures."""


def text_of(amount: int | None) -> str:
    """An amount as the tables write it."""
    return "none" if amount is None else amount_to_text(amount)


def answer_of(case: MarginCase, question: list[str]) -> str:
    """What the service's rules say."""
    marks = case.marks
    match question:
        case ["level"]:
            figures = margin_figures(case.balances, marks)
            return f"{text_of(figures.level)} {risk_band_of(figures)}"
        case ["liquidation-price", symbol]:
            base, _, quote = symbol.partition("-")
            return text_of(liquidation_price(case.balances, marks, base, quote))
        case ["open", side, quantity, symbol, leverage]:
            base, _, quote = symbol.partition("-")
            factor = Decimal(leverage.removeprefix("x"))
            request = OpeningRequest(base, quote, Side[side.upper()], amount_of(quantity), factor)
            return opening_answer(case, marks, request)
    raise ValueError(" ".join(question))


def opening_answer(case: MarginCase, marks: Marks, request: OpeningRequest) -> str:
    """The verdict about an opening, with its figures."""
    borrowed_asset = request.base if request.side is Side.SELL else request.quote
    left = case.borrowable.get(borrowed_asset)
    decision = check_margin(request, AccountStatus.ACTIVE, case.balances, marks, case.required, left)
    verdict = "approved" if decision.reason is None else str(decision.reason)
    if decision.reason in UNJUDGED:
        return verdict
    price = price_of(marks, request.base, request.quote)
    held = case.balances.get(request.quote)
    borrowed = borrowing(request, price, 0 if held is None else held.held)
    level = margin_figures(balances_after(request, price, case.balances), marks).level
    return (
        f"{verdict} required {text_of(decision.required_margin)} available {text_of(decision.available_margin)}"
        f" borrows {text_of(borrowed.amount)} {borrowed.asset} level {text_of(level)}"
        f" liquidated-at {text_of(decision.liquidation_price)}"
    )


def limit_answer(case: MarginCase, question: list[str], expected: str) -> str:
    """`expected` if it is the largest amount that the service's rules allow, else what they say about it."""
    marks = case.marks
    kind, asset = question
    most_borrowed = partial(borrowing_error, borrowable=case.borrowable.get(asset))
    limit: LimitRule = outflow_error if kind == "most-out" else most_borrowed
    free = case.free.get(asset, 0)

    def error(amount: int) -> str | None:
        if kind == "most-out" and amount > free:
            return "less is free"
        try:
            return limit(case.balances, marks, case.required, asset, amount)
        except UnpricedError:
            # A part of what has no price cannot leave, all of it can.
            return "unpriced"
        except UnsurePriceError:
            return "unsure"

    if expected in ("unpriced", "unsure"):
        return error(max(free, 1)) or "allowed"
    largest = amount_of(expected)
    if largest > 0 and (reason := error(largest)) is not None:
        return f"{expected} is refused: {reason}"
    return f"{expected} and one unit more is allowed" if error(largest + 1) is None else expected


@pytest.mark.spec("A8-15", "A8-16", "A8-17")
@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{stem}: {case.name}") for stem, cases in CASES.items() for case in cases]
)
def test_the_service_says_what_the_scenario_says(case: MarginCase) -> None:
    for place, question, answer in case.questions:
        try:
            is_limit = question[0].startswith("most-")
            found = limit_answer(case, question, answer) if is_limit else answer_of(case, question)
        except UnpricedError:
            found = "unpriced"
        assert f"{place}: {found}" == f"{place}: {answer}"


def test_the_marks_above_are_the_facts_that_the_scenarios_name() -> None:
    marks = getattr(test_the_service_says_what_the_scenario_says, "pytestmark", [])
    marked = {fact for mark in marks if mark.name == "spec" for fact in mark.args}
    assert marked == {fact for cases in CASES.values() for case in cases for fact in case.facts}
