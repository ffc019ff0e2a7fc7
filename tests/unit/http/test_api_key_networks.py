"""The networks of an API key, and the memory of its used signatures: both are bounded."""

import pytest

from openspot.http.api_keys import replays
from openspot.http.api_keys.networks import AllowedNetworks, read_network, too_wide_to_withdraw
from openspot.http.errors import HttpError


@pytest.mark.parametrize(
    ("network", "is_too_wide"),
    [
        ("0.0.0.0/0", True),
        ("10.0.0.0/8", True),
        ("10.0.0.0/15", True),
        ("10.0.0.0/16", False),
        ("10.0.0.1", False),
        ("::/0", True),
        ("2001:db8::/31", True),
        ("2001:db8::/32", False),
        ("2001:db8::1", False),
    ],
)
def test_a_network_that_may_withdraw_has_at_least_16_or_32_fixed_bits(network: str, is_too_wide: bool) -> None:
    assert too_wide_to_withdraw(read_network(network)) is is_too_wide


def test_an_address_outside_the_networks_or_no_address_is_not_admitted() -> None:
    allowed = AllowedNetworks(["10.0.0.0/16"])
    assert [allowed.admit(each) for each in ("10.0.255.255", "10.1.0.0", "::ffff:10.0.0.1", "::1", "x", "")] == [
        True, False, True, False, False, False,
    ]  # fmt: skip
    assert AllowedNetworks([]).admit("x")


async def test_a_full_memory_of_signatures_refuses_until_the_oldest_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replays, "REMEMBERED_MAX", 1)
    now = [100.0]
    memory = replays.MemoryReplays(lambda: now[0])
    assert await memory.is_first("k1", b"a")
    assert not await memory.is_first("k1", b"a")
    with pytest.raises(HttpError) as refused:
        await memory.is_first("k1", b"b")
    assert (refused.value.status_code, refused.value.code) == (503, "SIGNATURES_UNAVAILABLE")
    # The timestamp may be a whole window ahead and valid for a whole window after: 10 s, and a second more.
    now[0] = 110.99
    assert not await memory.is_first("k1", b"a")
    now[0] = 111.0
    assert await memory.is_first("k1", b"b")
