"""Hashing and checking passwords."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from openspot.kit.passwords import Passwords


class TooManyError(Exception):
    """What a service answers when too many wait."""


@pytest.fixture
async def passwords() -> AsyncIterator[Passwords]:
    passwords = Passwords(1, 32, TooManyError)
    yield passwords
    passwords.close()


async def test_the_right_password_matches_its_hash_alone(passwords: Passwords) -> None:
    first, second = [await passwords.hash("a päßword") for _ in range(2)]
    assert first.startswith("$argon2id$")
    assert first != second
    assert await passwords.matches("a päßword", first)
    assert not await passwords.matches("a passwort", first)
    assert not await passwords.matches("", first)


@pytest.mark.usefixtures("costly_passwords")
async def test_without_a_hash_nothing_matches_after_the_same_work(passwords: Passwords) -> None:
    loop = asyncio.get_running_loop()
    known = await passwords.hash("password")

    async def best_of_five(password_hash: str) -> float:
        durations = []
        for _ in range(5):
            started = loop.time()
            assert not await passwords.matches("guess", password_hash)
            durations.append(loop.time() - started)
        return min(durations)

    unknown_s, wrong_s = await best_of_five(""), await best_of_five(known)
    # An answer without the work would take a hundredth of the time.
    assert unknown_s > wrong_s / 4


async def test_no_more_than_a_bounded_number_waits(passwords: Passwords) -> None:
    outcomes = await asyncio.gather(*(passwords.matches("x", "") for _ in range(60)), return_exceptions=True)
    refused = [outcome for outcome in outcomes if isinstance(outcome, TooManyError)]
    assert outcomes.count(False) == 32
    assert len(refused) == 28
    assert not await passwords.matches("x", "")
