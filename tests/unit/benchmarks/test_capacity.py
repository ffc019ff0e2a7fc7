"""How the capacity benchmark divides a machine among the kinds of processes."""

from benchmarks.capacity import Cost, costs_of_kinds, plan

FOUND = {
    "REST edge": [Cost(200, 40, 2), Cost(220, 44, 4), Cost(210, 42, 3)],
    "translator": [Cost(80, 100, 0)],
    "row writing": [Cost(20, 0, 16)],
    "engine": [Cost(70, 0, 0)],
    "ledger": [Cost(30, 10, 20)],
    "ledger worker": [Cost(60, 10, 20)],
    "market data": [Cost(10, 2, 8)],
}


def test_the_translator_has_its_rows_and_the_ledgers_share_their_work_and_servers_count_for_themselves() -> None:
    assert costs_of_kinds(FOUND) == {
        "REST edge": 210,
        "engine": 70,
        "ledger": 15,
        "ledger worker": 30,
        "market data": 10,
        "translator and rows": 100,
        "cores of NATS": 42 + 100 + 5 + 5 + 2,
        "cores of PostgreSQL": 3 + 16 + 10 + 10 + 8,
    }


def test_a_small_machine_is_bounded_by_its_cores_and_a_large_one_by_what_cannot_be_divided() -> None:
    kinds = {"REST edge": 600.0, "translator and rows": 200.0, "engine": 125.0, "market data": 75.0}
    assert plan(kinds, 2) == (2000.0, "the cores", dict.fromkeys(kinds, 1) | {"REST edge": 2})
    rate, bound, processes = plan(kinds, 64)
    assert (rate, bound) == (8000.0, "engine")
    assert processes == {"REST edge": 5, "translator and rows": 2, "engine": 1, "market data": 1}
