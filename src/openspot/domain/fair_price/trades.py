"""What trades between different owners say about the price. Rules without IO; prices and quantities at 18 places.

The window has parts of equal length. Each part says the median of its trades' prices, weighted by what was paid; the
window says the median of its parts. So whoever wants to move it must trade for more than everybody else together in
more than half of the parts, and the fees of that are the same at any price.

A trade belongs to the less active of its two owners: in a market with a single maker each taker is a witness of its
own, and two owners who trade with each other are one. A witness counts for at most one part in `owner_part` of what
counts, as soon as the others are enough to say a price themselves.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from openspot.domain.accounts import user_of_account
from openspot.domain.fair_price.rules import PRICE_MAX, FairPriceRules
from openspot.domain.money import AMOUNT_SCALE, BASIS_POINTS
from openspot.domain.owners import Owners

CELLS_MAX = 512
"""A part keeps this many quantities by pair of users and price. Twice as many are folded into these."""
PAIRS_MAX = 128
"""A part keeps this many pairs of users. The smallest of more pairs are folded into one."""
LARGE_PART = 128
LARGE_PART_AGE_MS_MAX = 5_000
"""The figures of a part with more quantities than LARGE_PART are made anew after this long, not each second."""
OWNER_SHARE_MIN = 100
"""An owner is counted from one part in this many of the least volume on."""
_FOLDED = ("", "*")
"""Stands for the users of folded pairs. No user has such an id."""

_user_of = lru_cache(65_536)(user_of_account)

Pair = tuple[str, str]
PriceLevel = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PartFigures:
    """One part: its median price, the counted base quantity, its worth in the quote asset.

    `values_by_owner` has what each owner traded near that price.
    """

    price: int
    quantity: int
    value: int
    values_by_owner: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TradesSource:
    """The window: its price, what was counted, and how many owners and parts stand behind it.

    `owners` have traded at about that price. Who traded at another one, an hour ago or just before, is no witness.
    """

    price: int
    quantity: int
    value: int
    owners: int
    part_values: tuple[int, ...]

    def is_full(self, rules: FairPriceRules, volume_min: int) -> bool:
        """Whether volume, owners and parts suffice for a full source."""
        return self.value >= volume_min and self.owners >= rules.owners_min and len(self.part_values) >= rules.parts_min


class TradePart:
    """The trades of one part of the window, in bounded memory."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str, int], int] = {}
        self._figures: PartFigures | None = None
        self._figured_for: tuple[Owners, int, int] | None = None
        self._figured_at_ms = 0
        self._is_changed = False

    def add(self, one: str, other: str, price: int, quantity: int) -> None:
        """Count a trade between two users."""
        key = (one, other, price) if one < other else (other, one, price)
        self._cells[key] = self._cells.get(key, 0) + quantity
        self._is_changed = True
        if len(self._cells) >= 2 * CELLS_MAX:
            self._cells = _folded(self._cells)

    def figures(self, now_ms: int, owners: Owners, rules: FairPriceRules, volume_min: int) -> PartFigures | None:
        """The figures of the part; None without a trade between different owners. Those of a large part may be old.

        `volume_min` is the value in the quote asset from which on the smaller witnesses outweigh a large one.
        """
        key = (owners, rules.owner_part, volume_min)
        is_young = len(self._cells) > LARGE_PART and 0 <= now_ms - self._figured_at_ms < LARGE_PART_AGE_MS_MAX
        if self._figured_for != key or (self._is_changed and not is_young):
            self._figures = _part_figures(self._cells, owners, rules, volume_min)
            self._figured_for = key
            self._figured_at_ms = now_ms
            self._is_changed = False
        return self._figures


class TradeWindow:
    """The trades of the last parts of time."""

    def __init__(self, rules: FairPriceRules) -> None:
        self._rules = rules
        self._parts: dict[int, TradePart] = {}
        self._source: TradesSource | None = None
        self._made_of: tuple[list[PartFigures], int] = [], 0
        """The figures and the least volume of which `_source` was made."""

    def add(self, timestamp_ms: int, account: str, other_account: str, price: int, quantity: int) -> None:
        """Count a trade between two accounts. Accounts of one user count nothing, nor does a price beyond all sense."""
        one, other = _user_of(account), _user_of(other_account)
        if one == other or not 0 < price <= PRICE_MAX or quantity <= 0:
            return
        number = timestamp_ms // self._rules.part_ms
        part = self._parts.get(number)
        if part is None:
            if len(self._parts) > self._rules.parts:
                oldest = min(self._parts)
                if number < oldest:
                    return
                del self._parts[oldest]
            part = self._parts[number] = TradePart()
        part.add(one, other, price, quantity)

    def source(self, now_ms: int, owners: Owners, volume_min: int) -> TradesSource | None:
        """What the window says; None without a trade between different owners.

        `volume_min` is the least volume of a full source, in the quote asset.
        """
        rules = self._rules
        newest = now_ms // rules.part_ms
        for number in [number for number in self._parts if number <= newest - rules.parts]:
            del self._parts[number]
        part_volume_min = volume_min // rules.parts
        counted = [
            figures
            for number, part in self._parts.items()
            if number <= newest and (figures := part.figures(now_ms, owners, rules, part_volume_min)) is not None
        ]
        if (counted, volume_min) != self._made_of:
            self._made_of = counted, volume_min
            self._source = self._summed(counted, volume_min) if counted else None
        return self._source

    def _summed(self, counted: list[PartFigures], volume_min: int) -> TradesSource:
        price = median([figures.price for figures in counted])
        values: dict[str, int] = {}
        for figures in counted:
            if differ(figures.price, price, self._rules.difference_bps_max):
                continue
            for owner, value in figures.values_by_owner.items():
                values[owner] = values.get(owner, 0) + value
        return TradesSource(
            price=price,
            quantity=sum(figures.quantity for figures in counted),
            value=sum(figures.value for figures in counted),
            owners=sum(1 for value in values.values() if value * OWNER_SHARE_MIN >= volume_min),
            part_values=tuple(sorted(figures.value for figures in counted)),
        )


def median(values: Iterable[int]) -> int:
    """The median; of an even number of values the middle of the two, rounded down. Raises IndexError without any."""
    ranked = sorted(values)
    middle = len(ranked) // 2
    return ranked[middle] if len(ranked) % 2 else (ranked[middle - 1] + ranked[middle]) // 2


def differ(one: int, other: int, bps_max: int) -> bool:
    """Whether two prices are farther apart than `bps_max` of the lower one."""
    lower, higher = sorted((one, other))
    return (higher - lower) * BASIS_POINTS > lower * bps_max


def weighted_median(weights: Mapping[int, int]) -> int:
    """The value at which half of the weight is reached; the middle of two if it is reached exactly between them.

    Without any weight, the plain median. Raises IndexError without values.
    """
    half = sum(weights.values())
    if not half:
        return median(weights)
    reached = 0
    ranked = sorted(weights)
    for place, value in enumerate(ranked):
        reached += 2 * weights[value]
        if reached > half:
            return value
        if reached == half:
            return (value + ranked[min(place + 1, len(ranked) - 1)]) // 2
    raise AssertionError("half of the weight is reached")


def witness_cap(volumes: Iterable[int], owner_part: int, rest_min: int) -> int | None:
    """How much one witness counts for at most, so that none has more than one part in `owner_part` of what counts.

    None if that cannot be: if there are fewer than `owner_part` witnesses, or those below the cap have less than
    `rest_min` together, so that a few small trades would outweigh a large one.
    """
    ranked = sorted(volumes, reverse=True)
    rest = sum(ranked)
    if len(ranked) < owner_part:
        return None
    for capped, volume in enumerate(ranked[:owner_part]):
        # With `capped` witnesses at the cap c: c × owner_part = capped × c + rest.
        cap = rest // (owner_part - capped)
        if volume <= cap:
            return cap if cap > 0 and (rest >= rest_min or not capped) else None
        rest -= volume
    return None


def _part_figures(
    cells: Mapping[tuple[str, str, int], int], owners: Owners, rules: FairPriceRules, volume_min: int
) -> PartFigures | None:
    pairs: dict[Pair, list[PriceLevel]] = {}
    volumes: dict[str, int] = {}
    for (one, other, price), quantity in cells.items():
        if (one, other) == _FOLDED:
            pairs.setdefault(_FOLDED, []).append((price, quantity))
            continue
        first, second = owners.of_user(one), owners.of_user(other)
        if first == second:
            continue
        pairs.setdefault((first, second) if first < second else (second, first), []).append((price, quantity))
        volumes[first] = volumes.get(first, 0) + price * quantity
        volumes[second] = volumes.get(second, 0) + price * quantity
    if not pairs:
        return None
    witnesses: dict[str, list[PriceLevel]] = {}
    for (one, other), traded in pairs.items():
        witness = min((one, other), key=lambda owner: (volumes.get(owner, 0), owner))
        witnesses.setdefault(witness, []).extend(traded)
    wholes = {witness: sum(price * quantity for price, quantity in traded) for witness, traded in witnesses.items()}
    cap = witness_cap(wholes.values(), rules.owner_part, volume_min * AMOUNT_SCALE)
    weights: dict[int, int] = {}
    counted_quantity = 0
    for witness, traded in witnesses.items():
        whole = wholes[witness]
        counted = whole if cap is None else min(whole, cap)
        for price, quantity in traded:
            weights[price] = weights.get(price, 0) + price * quantity * counted * AMOUNT_SCALE // whole
            counted_quantity += quantity * counted * AMOUNT_SCALE // whole
    # Without a cap all count alike, and for as little as a single witness would.
    divisor = AMOUNT_SCALE * (rules.owner_part if cap is None else 1)
    price = weighted_median(weights)
    return PartFigures(
        price=price,
        quantity=counted_quantity // divisor,
        value=sum(weights.values()) // (AMOUNT_SCALE * divisor),
        values_by_owner=_values_near(price, pairs, rules.difference_bps_max),
    )


def _values_near(price: int, pairs: Mapping[Pair, Iterable[PriceLevel]], bps_max: int) -> dict[str, int]:
    """What each owner traded at prices that do not differ from `price`, in the quote asset."""
    lowest = -(-price * BASIS_POINTS // (BASIS_POINTS + bps_max))
    highest = price * (BASIS_POINTS + bps_max) // BASIS_POINTS
    volumes: dict[str, int] = {}
    for pair, traded in pairs.items():
        volume = sum(price * quantity for price, quantity in traded if lowest <= price <= highest)
        if volume and pair != _FOLDED:
            for owner in pair:
                volumes[owner] = volumes.get(owner, 0) + volume
    return {owner: volume // AMOUNT_SCALE for owner, volume in volumes.items()}


def _folded(cells: dict[tuple[str, str, int], int]) -> dict[tuple[str, str, int], int]:
    """The same quantities in at most CELLS_MAX cells: the smallest pairs become one, neighbouring prices become one.

    A folded price is the average of its trades, so it is within the range of its pair.
    """
    pairs: dict[Pair, list[PriceLevel]] = {}
    volumes: dict[Pair, int] = {}
    for (one, other, price), quantity in cells.items():
        pair = (one, other)
        pairs.setdefault(pair, []).append((price, quantity))
        volumes[pair] = volumes.get(pair, 0) + price * quantity
    kept = sorted(pairs, key=lambda pair: (pair != _FOLDED, -volumes[pair], pair))
    for pair in kept[PAIRS_MAX:]:
        pairs.setdefault(_FOLDED, []).extend(pairs.pop(pair))
    prices_max = CELLS_MAX // (PAIRS_MAX + 1)
    folded: dict[tuple[str, str, int], int] = {}
    for (one, other), traded in pairs.items():
        for price, quantity in _merged(sorted(traded), max(prices_max, CELLS_MAX // (2 * len(pairs)))):
            key = (one, other, price)
            folded[key] = folded.get(key, 0) + quantity
    return folded


def _merged(traded: list[PriceLevel], count_max: int) -> list[PriceLevel]:
    """Neighbours merged, as many to a group as leaves at most `count_max` groups."""
    size = -(-len(traded) // count_max)
    groups = (traded[begin : begin + size] for begin in range(0, len(traded), size))
    merged = []
    for group in groups:
        quantity = sum(quantity for _, quantity in group)
        merged.append((sum(price * quantity for price, quantity in group) // quantity, quantity))
    return merged
