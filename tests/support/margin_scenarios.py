"""Scenario tables of margin accounts (tests/scenarios/margin/*.txt).

The margin service decides, and the trading screen computes the same figures to show them beforehand. Both read these
tables: `tests/unit/margin/test_scenarios.py` and `web/trade/src/margin/scenarios.test.ts`. A line of a case is one of

    price BTC 100                               the price of an asset in USD, with options as below
    holds BTC 3 owes 2 interest 1 free 2        a balance; without `free` all that is held is free
    bound 190                                   the required margin of an open position
    ? question                    -> answer     what both sides must say
    # spec: A8-16                               facts that the case proves

Accounts are valued in USD. Amounts are decimals of at most 18 places. The options of a price are `low 90` and
`high 110` (its bounds), `day_median 95` (without it the price), `state disputed` (without it `good`), `sellable 3`
(what the market absorbs) and `borrowable 2` (what may still be borrowed). The questions are

    level                        the level, or `none`, and its band
    most-out BTC                 the largest amount that may leave the account
    most-borrowed BTC            the largest amount that may be borrowed
    liquidation-price BTC-USD    the price of the base at which the account is liquidated, or `none`
    open buy 8 BTC-USD x4        the verdict about an opening; the figures with it unless it cannot be judged

`unpriced` is the answer where an asset has no price, `unsure` where a price is not sure.
"""

from dataclasses import dataclass, field
from pathlib import Path

from openspot.domain.fair_price.crossing import IDENTITY, AssetPrice
from openspot.domain.fair_price.model import PriceState
from openspot.domain.money import parse_decimal, to_amount
from openspot.margin.figures import AssetBalance
from tests.support.marks import mark

FOLDER = Path(__file__).resolve().parent.parent / "scenarios/margin"
VALUATION_ASSET = "USD"


@dataclass(slots=True)
class MarginCase:
    """An account and the questions about it, each with its place in the file and its answer."""

    name: str
    marks: dict[str, AssetPrice] = field(default_factory=lambda: {VALUATION_ASSET: IDENTITY})
    borrowable: dict[str, int] = field(default_factory=dict)
    balances: dict[str, AssetBalance] = field(default_factory=dict)
    free: dict[str, int] = field(default_factory=dict)
    required: list[int] = field(default_factory=list)
    questions: list[tuple[str, list[str], str]] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)


def amount_of(text: str) -> int:
    """The amount of a decimal text, at 18 places."""
    return to_amount(parse_decimal(text))


def read_margin_cases(path: Path) -> list[MarginCase]:
    """The cases of a file. Raises ValueError on a line that is none of the above."""
    cases: list[MarginCase] = []
    for number, text in enumerate(path.read_text("utf-8").splitlines(), start=1):
        line = " ".join(text.split())
        left, _, answer = line.partition(" -> ")
        match left.split():
            case ["case", *_]:
                cases.append(MarginCase(line.removeprefix("case ")))
            case ["#", "spec:", *facts]:
                cases[-1].facts += [fact.rstrip(",") for fact in facts]
            case [] | ["#", *_]:
                pass
            case ["price", asset, price, *options] if len(options) % 2 == 0:
                given = dict(zip(options[::2], options[1::2], strict=True))
                state = PriceState(given.pop("state", "good"))
                amounts = {name: amount_of(value) for name, value in given.items()}
                if "borrowable" in amounts:
                    cases[-1].borrowable[asset] = amounts.pop("borrowable")
                cases[-1].marks[asset] = mark(amount_of(price), state=state, **amounts)
            case ["holds", asset, held, *options] if len(options) % 2 == 0:
                parts = {name: amount_of(value) for name, value in zip(options[::2], options[1::2], strict=True)}
                cases[-1].free[asset] = parts.pop("free", amount_of(held))
                owed, interest = parts.pop("owes", 0), parts.pop("interest", 0)
                if parts:
                    raise ValueError(f"{path.name}:{number}: unknown {', '.join(parts)}")
                cases[-1].balances[asset] = AssetBalance(amount_of(held), owed, interest)
            case ["bound", margin]:
                cases[-1].required.append(amount_of(margin))
            case ["?", *question] if answer:
                cases[-1].questions.append((f"{path.name}:{number}", question, answer))
            case _:
                raise ValueError(f"{path.name}:{number}: {line}")
    return cases
