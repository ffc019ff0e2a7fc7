"""The median price of the last 24 hours."""

from openspot.domain.fair_price.day_median import DAY_MS, MINUTE_MS, DayMedian

HOUR_MS = 60 * MINUTE_MS


def day(*samples: tuple[int, int]) -> DayMedian:
    made = DayMedian()
    for time_ms, price in samples:
        made.add(time_ms, price)
    return made


def test_without_a_sample_there_is_no_median() -> None:
    assert day().median(0) == 0
    assert day().newest is None


def test_a_price_weighs_as_long_as_it_held() -> None:
    made = day((0, 100), (6 * HOUR_MS, 300), (9 * HOUR_MS, 200), (11 * HOUR_MS, 200))
    # 6 hours at 100, 2 at 200, 3 at 300.
    assert made.median(11 * HOUR_MS) == 100
    made = day((0, 100), (5 * HOUR_MS, 300), (8 * HOUR_MS, 200), (11 * HOUR_MS, 200))
    # 5 at 100, 3 at 200, 3 at 300.
    assert made.median(11 * HOUR_MS) == 200


def test_an_attack_of_less_than_half_a_day_does_not_move_it() -> None:
    minutes = range(24 * 60)
    made = day(*((minute * MINUTE_MS, 100 if minute < 12 * 60 + 1 else 1) for minute in minutes))
    assert made.median(DAY_MS) == 100
    made = day(*((minute * MINUTE_MS, 100 if minute < 12 * 60 - 1 else 1) for minute in minutes))
    assert made.median(DAY_MS) == 1


def test_the_price_before_a_silence_weighs_for_all_of_it() -> None:
    made = day((0, 100), (30 * HOUR_MS, 900), (40 * HOUR_MS, 900))
    assert made.median(40 * HOUR_MS) == 100
    made = day((0, 100), (30 * HOUR_MS, 900), (43 * HOUR_MS, 900))
    assert made.median(43 * HOUR_MS) == 900


def test_samples_are_due_once_a_minute_and_older_ones_than_a_day_go() -> None:
    made = day()
    assert made.is_due(0)
    made.add(0, 5)
    assert not made.is_due(MINUTE_MS - 1)
    assert made.is_due(MINUTE_MS)
    for minute in range(3000):
        made.add(minute * MINUTE_MS, 5)
    assert len(made._samples) == 24 * 60 + 1
    assert made.newest == (2999 * MINUTE_MS, 5)


def test_loading_continues_and_does_not_go_back() -> None:
    made = day()
    made.load(MINUTE_MS, 100)
    made.load(2 * MINUTE_MS, 300)
    made.load(MINUTE_MS, 900)
    assert made.newest == (2 * MINUTE_MS, 300)
    assert made.median(4 * MINUTE_MS) == 300
