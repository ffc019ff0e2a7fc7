"""The strategies. Each is a program with its accounts; the auditor says what it came to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from openspot.domain.accounts import margin_account_id
from openspot.domain.money import AMOUNT_SCALE
from openspot.domain.order import Side
from tests.simulation.economics.auditor import GAIN_MAX
from tests.simulation.economics.desks import RefusedError
from tests.simulation.economics.guards import GUARDED, Guards
from tests.simulation.economics.honest import INNOCENT_LEVELS, SHORT_LEVELS, Life, life
from tests.simulation.economics.team import Team
from tests.simulation.economics.world import EconomicWorld

ALL = frozenset({*INNOCENT_LEVELS, *SHORT_LEVELS})
SOUND = frozenset({"ann", "dua"})
"""Those with a level of 4."""
BUT_NEAREST = ALL - {"cem"}
FAR_ENOUGH = BUT_NEAREST - {"dan"}
"""Those whom a fall or rise of 15 % does not end."""
Lives = Mapping[str, Life]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """`spared` are the innocents who must survive it, `gain_max` is what the house may lose by it, in dollars."""

    name: str
    program: Callable[[Team], None]
    lives: Lives
    accounts: int = 2
    spared: frozenset[str] = ALL
    gain_max: int = GAIN_MAX // AMOUNT_SCALE
    why: str = ""
    """Why not all are spared, or why the bound is larger."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a strategy came to. `gain` is in dollars of 18 places."""

    gain: int
    findings: list[str]
    minutes: int


def play(strategy: Strategy, seed: int, guards: Guards = GUARDED) -> Outcome:
    """Play a strategy in a world of its own."""
    world = EconomicWorld(seed, strategy.lives, guards)
    began = world.now_ms
    world.auditor.spared = strategy.spared
    strategy.program(Team(world, strategy.accounts))
    world.end_step()
    # The honest ones are back. What is left of the attack has time to do harm.
    world.drift_bps.clear()
    world.traders.wake()
    world.pass_time(300)
    findings = world.auditor.findings(strategy.gain_max * AMOUNT_SCALE)
    return Outcome(world.auditor.gain, findings, (world.now_ms - began) // 60_000)


# Prints


def walk_down_and_withdraw(team: Team) -> None:
    """Print the price down, 19 % at a time, and withdraw what then looks small."""
    for _ in range(36):
        team.print_at(team.last * 81 // 100, 1)
        team.wait()
        team.withdraw(8_000)


def walk_up_and_borrow(team: Team) -> None:
    """Print the price up, and borrow against it."""
    for _ in range(20):
        team.print_at(team.last * 119 // 100, 1)
        team.wait()
    team.borrow_and_leave(20_000)


def walk_down_and_liquidate(team: Team) -> None:
    """Print the price down, with a bid that waits for the forced sales of others."""
    for _ in range(20):
        price = team.last * 81 // 100
        team.print_at(price, 1)
        team.place(team.names[1], Side.BUY, team.quantity(5_000), price)
        team.wait()
    team.wait(60)


def freeze(team: Team) -> None:
    """Print far away, so that every honest price deviates."""
    for _ in range(3):
        team.print_at(team.last * 81 // 100, 1)
    team.wait(300)


def far_quotes(team: Team) -> None:
    """Let orders stand as far away as the band allows on both sides, so that prices look uncertain; then withdraw."""
    for _ in range(150):
        team.paint(team.fair, 50_000, half_bps=1_900)
        team.wait()
        team.withdraw(1_300)
        team.convert(20_000)


# Volume


def outweigh(team: Team) -> None:
    """Trade more than everybody else together, a little below the book, so that both still agree."""
    for turn in range(120):
        team.print_at(team.honest * 9_530 // 10_000, 20_000, turn % 2, 1 - turn % 2)
        team.wait(20)


def outweigh_far(team: Team) -> None:
    """The same with four accounts in a ring, far below the book."""
    for second in range(0, 2_400, 2):
        if second % 60 == 0:
            team.print_round(team.honest * 8_050 // 10_000, 10_000)
        team.wait()


def wash_for_a_tier(team: Team) -> None:
    """Trade with one's own margin account, at no risk, until the volume earns a tier."""
    world, user = team.world, team.names[0]
    account = margin_account_id(user, 1)
    world.margin.move_in(user, team.base, team.quantity(100_000))
    team.wait()
    for _ in range(40):
        price = team.honest
        world.place(account, team.symbol, Side.SELL, team.quantity(2_000), price)
        world.place(user, team.symbol, Side.BUY, team.quantity(2_000), price, is_immediate=True)
        world.exchange.cancel_all(account)
        team.wait()


# Thin hours


def blink(team: Team) -> None:
    """The makers are away for a minute: a book 9 % lower stands in their place."""
    traders = team.world.traders
    traders.sleep()
    team.wait()
    for _ in range(29):
        team.paint(team.honest * 91 // 100, 5_000)
        team.wait()
    team.leave_book()
    traders.wake()
    team.wait(120)


def two_in_the_thin_hours(team: Team) -> None:
    """Nobody is awake for three quarters of an hour: two accounts make trades and book a fifth lower."""
    team.world.traders.sleep()
    team.push(team.honest * 78 // 100, 2_700, 2_000)
    team.leave_book()


def four_in_the_thin_hours(team: Team) -> None:
    """The same with four accounts ; then withdraw what looks small."""
    team.world.traders.sleep()
    team.push(team.honest * 78 // 100, 2_700, 1_200)
    team.withdraw(1_270, times=10)
    team.leave_book()


def pump_borrow_leave(team: Team) -> None:
    """Nobody is awake for more than an hour: six accounts make a price as high as it goes, borrow, and leave."""
    team.world.traders.sleep()
    team.push(team.honest * 185 // 100, 4_800, 1_500, depth=40_000)
    team.borrow_and_leave(20_000)
    team.leave_book()


def spread_over_hours(team: Team) -> None:
    """Push the price up in three nights of fifty minutes, between which the honest ones are there for ten."""
    traders = team.world.traders
    for _ in range(3):
        traders.sleep()
        team.push(team.honest * 128 // 100, 3_000, 500)
        team.leave_book()
        traders.wake()
        team.wait(600)
    traders.sleep()
    team.push(team.honest * 128 // 100, 900, 1_500, depth=40_000)
    team.borrow_and_leave(20_000)
    team.leave_book()


def slow_walk_up_and_open(team: Team) -> None:
    """Four accounts walk the price up for two hours of the night; then a friend buys from them with borrowed money,
    at the price that they have made, and leaves the loss to the house. Shorts of others lie on the way."""
    team.world.traders.sleep()
    for percent in (107, 114, 121, 127):
        team.push(team.honest * percent // 100, 1_200, 250)
    team.push(team.honest * 127 // 100, 3_600, 5_000, depth=45_000)
    for _ in range(3):
        # One's own quotes wait at the price of the order.
        team.paint(team.fair, 45_000, half_bps=40, number=1)
        team.open(40_000, Side.BUY, margin=5_000)
        team.wait(20)
    team.leave_book()


def slow_walk_down_and_short(team: Team) -> None:
    """The same downwards: a friend sells borrowed coins to them far too cheaply. Longs of others lie on the way."""
    team.world.traders.sleep()
    for percent in (94, 88, 83, 79):
        team.push(team.honest * percent // 100, 1_200, 250)
    team.push(team.honest * 79 // 100, 3_600, 5_000, depth=45_000)
    for _ in range(3):
        team.paint(team.fair, 45_000, half_bps=40, number=1)
        team.open(40_000, Side.SELL, margin=5_000)
        team.wait(20)
    team.leave_book()


def slow_walk_down_and_liquidate(team: Team) -> None:
    """Four accounts walk the price down as cheaply as they can, and wait with bids for what others are forced to
    sell."""
    team.world.traders.sleep()
    for percent in (940, 880, 830, 785):
        team.push(team.honest * percent // 1_000, 1_200, 250)
    team.push(team.honest * 785 // 1_000, 1_800, 500, depth=10_000)
    team.leave_book()


def alone_for_half_a_day(team: Team) -> None:
    """Nobody else is there for fourteen hours: let the day's median follow, go on from there, and borrow."""
    team.world.traders.sleep()
    for _ in range(15):
        team.push(team.honest * 128 // 100, 3_000, 250)
    team.push(team.honest * 163 // 100, 2_700, 250)
    team.push(team.honest * 163 // 100, 2_700, 10_000, depth=330_000)
    team.borrow_and_leave(200_000)
    team.leave_book()


def dust_of_many(team: Team) -> None:
    """Thirty accounts trade dust a fifth lower, with a book of one of them."""
    team.world.traders.sleep()
    team.push(team.honest * 78 // 100, 2_700, 1)
    team.leave_book()


def use_the_restart(team: Team) -> None:
    """Wait for a restart of market data in the thin hours, and be the first who makes a price."""
    world = team.world
    world.traders.sleep()
    team.wait(120)
    world.restart()
    team.wait()
    # Where there is no price there is no band, and everything may be tried.
    team.push(team.honest * 3, 600, 3_000, depth=40_000, each_s=60)
    team.borrow_and_leave(20_000)
    team.leave_book()


# Products


def paint_and_convert(team: Team) -> None:
    """In a market with far sides, let a friend's orders stand at one side of the spread, and convert against them."""
    team.world.traders.takers_are_awake = False
    for _ in range(6):
        for sign in (1, -1):
            bid = team.honest * (10_000 + sign * 98) // 10_000
            for _ in range(20):
                team.paint(bid, 60_000, half_bps=1, number=1)
                team.wait()
            team.convert(15_000, sells=sign > 0)
            team.world.exchange.cancel_all(team.names[1])
            team.wait(20)


def paint_own_and_convert(team: Team) -> None:
    """Convert against one's own resting orders, again and again."""
    team.world.traders.takers_are_awake = False
    for _ in range(50):
        team.paint(team.honest * 10_098 // 10_000, 60_000, half_bps=1)
        team.convert(10_000)
        team.paint(team.honest * 9_902 // 10_000, 60_000, half_bps=1)
        team.convert(10_000, sells=False)
        team.wait()


def free_option(team: Team) -> None:
    """Take a quote whenever one may, and accept it only if the market has moved by more than the spread meanwhile."""
    world = team.world
    for number in range(30):
        # Real markets jump now and then: 2 % within the life of a quote.
        world.drift_bps["SOL"] = -50 if number % 3 == 0 else 0
        quotes = []
        for name in team.names:
            try:
                amount = team.quantity(50_000)
                quotes.append(world.conversions.quote(name, team.symbol, sells_base=True, amount=amount))
            except RefusedError:
                continue
        asked_at = team.honest
        team.wait(8)
        if team.honest * 10_000 < asked_at * 9_950:
            for quote in quotes:
                try:
                    world.conversions.accept(quote)
                except RefusedError:
                    continue
        world.drift_bps.clear()
        team.wait(30)


def leave_a_falling_coin(team: Team) -> None:
    """Bring much of a thin coin, borrow all that is lent, and leave when news come: it falls by half in ten minutes."""
    team.wait(60)
    team.borrow_and_leave(450_000)
    team.world.drift_bps["SOL"] = -22
    team.wait(600)


def buy_the_liquidation(team: Team) -> None:
    """An account really has to be liquidated. The bids are taken away, and one's own waits 19 % lower."""
    world, poor = team.world, "poor"
    account = margin_account_id(poor, 1)
    world.exchange.pay_in(poor, "SOL", 100 * AMOUNT_SCALE)
    world.margin.move_in(poor, "SOL", 100 * AMOUNT_SCALE)
    world.margin.lend(poor, "USD", 19_040 * AMOUNT_SCALE)
    world.exchange.pay_out(account, "USD", 19_040 * AMOUNT_SCALE)
    world.drift_bps["SOL"] = -1
    while account not in world.margin.liquidating:
        team.wait()
    world.drift_bps.clear()
    for _ in range(150):
        # Whatever makers have renewed is bought up before each forced sale, so that only the own bid is left.
        bid = team.honest * 81 // 100
        world.exchange.cancel_all(team.names[0], team.symbol)
        is_due = world.margin.liquidating.get(account, world.now_ms + 1) <= world.now_ms
        if is_due and world.marks["SOL"].sellable:
            bids = world.exchange.depth(team.symbol, Side.BUY, bid)
            team.place(team.names[1], Side.SELL, bids, bid, is_immediate=True)
            team.place(team.names[0], Side.BUY, team.quantity(20_000), bid)
        team.wait()


def cross_a_second_market(team: Team) -> None:
    """SOL has a market in BTC only. Print it up there, and borrow dollars against it."""
    for _ in range(20):
        team.print_at(team.last * 119 // 100, 1)
        team.wait()
    team.borrow_and_leave(20_000)
    team.withdraw(8_000)


def trade_against_oneself_across_margin(team: Team) -> None:
    """Buy with a margin account what the spot account sells a little dearer, and leave the loss to the pool."""
    world, user = team.world, team.names[0]
    account = margin_account_id(user, 1)
    world.traders.sleep()
    world.margin.move_in(user, "USD", 1_000 * AMOUNT_SCALE)
    try:
        world.margin.borrow(user, "USD", 5_000 * AMOUNT_SCALE)
    except RefusedError:
        return
    for _ in range(10):
        price = team.fair * 119 // 100
        world.place(user, team.symbol, Side.SELL, team.quantity(2_000, price), price)
        world.place(account, team.symbol, Side.BUY, team.quantity(2_000, price), price, is_immediate=True)
        world.exchange.cancel_all(user)
        team.wait()


def close_at_a_made_price(team: Team) -> None:
    """Open a long from one's own book, print the price down, close into an own bid, and leave the debt to the pool."""
    world, user = team.world, team.names[0]
    world.traders.sleep()
    for _ in range(8):
        team.paint(team.fair, 6_000, number=1)
        team.wait()
    if not team.open(4_000, Side.BUY, margin=520):
        return
    held = world.margin.balances(margin_account_id(user, 1))[team.base].held
    team.leave_book()
    for _ in range(5):
        team.print_at(team.last * 81 // 100, 1, 1, 2)
    team.place(team.names[1], Side.BUY, held, team.last)
    world.margin.close(user, team.symbol)
    team.leave_book()


def everything(team: Team) -> None:
    """Paint, print, trade in rings, borrow, convert and withdraw, as chance will have it."""
    chance = team.world.chance
    for _ in range(300):
        price = team.fair * chance.choice((82, 90, 96, 104, 110, 118)) // 100
        one, other = chance.sample(range(len(team.names)), 2)
        match chance.choice(("print", "paint", "ring", "convert", "withdraw", "cancel")):
            case "print":
                team.print_at(price, 200, one, other)
            case "paint":
                team.paint(price, 3_000, number=one)
            case "ring":
                team.print_round(price, 500)
            case "convert":
                team.convert(3_000, one, sells=chance.random() < 0.5)
            case "withdraw":
                team.withdraw(1_300, one)
            case _:
                team.leave_book()
        team.wait(chance.choice((2, 2, 12)))
    team.borrow_and_leave(5_000)


DEEP, USUAL, THIN, WIDE = ({"SOL-USD": life(kind)} for kind in ("deep", "usual", "thin", "wide"))
CROSSED = {"SOL-BTC": life("thin"), "BTC-USD": life("deep", "BTC", 100_000)}

_NOBODY = "nobody else is there for that long: an account within 15 % of its end (two accounts: 10 %) may be liquidated"

STRATEGIES = (
    Strategy(name="walk_down_and_withdraw", program=walk_down_and_withdraw, lives=THIN),
    Strategy(name="walk_up_and_borrow", program=walk_up_and_borrow, lives=THIN),
    Strategy(name="walk_down_and_liquidate", program=walk_down_and_liquidate, lives=THIN),
    Strategy(name="freeze", program=freeze, lives=THIN),
    Strategy(name="far_quotes", program=far_quotes, lives=THIN),
    Strategy(name="outweigh", program=outweigh, lives=USUAL),
    Strategy(name="outweigh_far", program=outweigh_far, lives=USUAL, accounts=4),
    Strategy(name="wash_for_a_tier", program=wash_for_a_tier, lives=THIN),
    Strategy(name="blink", program=blink, lives=WIDE),
    Strategy(name="two_in_the_thin_hours", program=two_in_the_thin_hours, lives=WIDE, spared=BUT_NEAREST, why=_NOBODY),
    Strategy(
        name="four_in_the_thin_hours",
        program=four_in_the_thin_hours,
        lives=WIDE,
        accounts=4,
        spared=FAR_ENOUGH,
        why=_NOBODY,
    ),
    Strategy(
        name="pump_borrow_leave", program=pump_borrow_leave, lives=WIDE, accounts=6, spared=FAR_ENOUGH, why=_NOBODY
    ),
    Strategy(
        name="spread_over_hours", program=spread_over_hours, lives=WIDE, accounts=6, spared=FAR_ENOUGH, why=_NOBODY
    ),
    Strategy(
        name="slow_walk_up_and_open",
        program=slow_walk_up_and_open,
        lives=WIDE,
        accounts=4,
        spared=FAR_ENOUGH,
        why=_NOBODY,
    ),
    Strategy(
        name="slow_walk_down_and_short",
        program=slow_walk_down_and_short,
        lives=WIDE,
        accounts=4,
        spared=FAR_ENOUGH,
        why=_NOBODY,
    ),
    Strategy(
        name="slow_walk_down_and_liquidate",
        program=slow_walk_down_and_liquidate,
        lives=WIDE,
        accounts=4,
        spared=FAR_ENOUGH,
        why=_NOBODY,
    ),
    Strategy(name="dust_of_many", program=dust_of_many, lives=WIDE, accounts=30, spared=BUT_NEAREST, why=_NOBODY),
    Strategy(name="use_the_restart", program=use_the_restart, lives=WIDE, accounts=4, spared=FAR_ENOUGH, why=_NOBODY),
    Strategy(name="paint_and_convert", program=paint_and_convert, lives=WIDE),
    Strategy(name="paint_own_and_convert", program=paint_own_and_convert, lives=WIDE),
    Strategy(
        name="free_option",
        program=free_option,
        lives=DEEP,
        accounts=12,
        spared=SOUND,
        gain_max=15_000,
        why="the bound of conversions: 1.5 % of what an asset may turn over in an hour",
    ),
    Strategy(
        name="leave_a_falling_coin",
        program=leave_a_falling_coin,
        lives=THIN,
        spared=frozenset(),
        why="the price really halves",
    ),
    Strategy(name="buy_the_liquidation", program=buy_the_liquidation, lives=THIN, spared=SOUND),
    Strategy(name="cross_a_second_market", program=cross_a_second_market, lives=CROSSED),
    Strategy(name="trade_against_oneself_across_margin", program=trade_against_oneself_across_margin, lives=THIN),
    Strategy(name="close_at_a_made_price", program=close_at_a_made_price, lives=THIN, accounts=3),
    Strategy(name="everything", program=everything, lives=THIN, accounts=4, spared=SOUND),
)
PATIENT = (
    Strategy(
        name="alone_for_half_a_day",
        program=alone_for_half_a_day,
        lives=WIDE,
        accounts=6,
        spared=SOUND,
        why="nobody else is there for so long that the day's median follows: the attackers are the market",
    ),
)
"""Strategies that take long."""
BY_NAME = {strategy.name: strategy for strategy in (*STRATEGIES, *PATIENT)}
