"""The seed that shows a fault.

A fault that shows in one seed of two hundred would need as many runs to be found. So the seed that showed it last is
tried first, and after it all others. When the steps or their weights change, another seed may show the fault: its test
passes as before but takes longer, and `pytest -s` prints the number to write here.
"""

from collections.abc import Callable, Iterable

SHOWN_BY = {
    "balance_events_share_ids": 173,
    "client_order_ids_are_not_in_snapshots": 67,
    "exits_know_nothing_of_each_other": 51,
    "fired_exits_leave_the_other": 22,
    "killed_orders_overlook_icebergs": 32,
    "links_prevent_nothing": 91,
    "planned_exits_keep_their_prices": 117,
    "reductions_are_not_noted": 61,
    "rows_pass_held_events": 63,
    "shrunk_icebergs_show_less": 32,
    "slices_keep_their_place": 32,
    "trailing_stops_follow_back": 29,
    "users_are_not_told": 20,
}
"""The faults that few seeds show, and for each a seed that does."""


def seed_that_shows(fault: str, seeds: Iterable[int], is_shown_by: Callable[[int], bool]) -> int | None:
    """One of `seeds` that shows a fault; None if none does."""
    known = SHOWN_BY.get(fault)
    for seed in sorted(seeds, key=lambda seed: (seed != known, seed)):
        if is_shown_by(seed):
            if seed != known:
                print(f"{fault} is shown by seed {seed}")
            return seed
    return None
