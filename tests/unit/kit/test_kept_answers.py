"""An answer that takes long to find is found once for all who ask, and kept for nine times as long."""

import asyncio

import pytest

from openspot.kit.kept_answers import KeptAnswers


class Search:
    """Takes `lasting` seconds of its own clock for an answer."""

    def __init__(self) -> None:
        self.now = 100.0
        self.lasting = 1.0
        self.asked: list[str] = []
        self.under_way = 0
        self.error: Exception | None = None

    async def find(self, key: str) -> str:
        self.asked.append(key)
        self.under_way += 1
        assert self.under_way == 1
        await asyncio.sleep(0)
        self.now += self.lasting
        self.under_way -= 1
        if self.error is not None:
            raise self.error
        return f"{key}{len(self.asked)}"


@pytest.fixture
def search() -> Search:
    return Search()


@pytest.fixture
def answers(search: Search) -> KeptAnswers[str, str]:
    return KeptAnswers(search.find, clock=lambda: search.now)


async def test_a_slow_answer_stays_nine_times_as_long_as_it_took(
    search: Search, answers: KeptAnswers[str, str]
) -> None:
    assert await answers.get("a") == "a1"
    search.now += 8.9
    assert await answers.get("a") == "a1"
    search.now += 0.1
    assert await answers.get("a") == "a2"


async def test_a_quick_answer_is_found_anew_each_time(search: Search, answers: KeptAnswers[str, str]) -> None:
    search.lasting = 0.01
    assert [await answers.get("a"), await answers.get("a")] == ["a1", "a2"]


async def test_all_who_ask_at_once_share_a_search_and_searches_wait_for_each_other(
    search: Search, answers: KeptAnswers[str, str]
) -> None:
    assert await asyncio.gather(*(answers.get(key) for key in "aabba")) == ["a1", "a1", "b2", "b2", "a1"]
    assert search.asked == ["a", "b"]


async def test_a_failure_is_not_kept(search: Search, answers: KeptAnswers[str, str]) -> None:
    search.error = OSError("down")
    with pytest.raises(OSError, match="down"):
        await answers.get("a")
    search.error = None
    assert await answers.get("a") == "a2"


async def test_only_the_newest_answers_are_kept(search: Search, answers: KeptAnswers[str, str]) -> None:
    search.lasting = 10_000.0
    for key in "abcdefghijklmnopq":
        # Each takes half as long as the one before, so that the first answers would not be too old at the end.
        await answers.get(key)
        search.lasting /= 2
    assert [await answers.get(key) for key in "bq"] == ["b2", "q17"]
    assert await answers.get("a") == "a18"
