"""What a user may withdraw in 24 hours, by level of verification."""

import pytest

from openspot.http.errors import HttpError
from openspot.rest_edge.funds.withdrawals.limits import limit_in_cents


def test_each_level_has_its_own_limit_in_cents() -> None:
    assert [limit_in_cents(level, (0, 2_000, 50_000)) for level in (1, 2)] == [200_000, 5_000_000]


@pytest.mark.parametrize(
    ("level", "limits", "code", "details"),
    [
        (0, (0, 2_000, 50_000), "KYC_REQUIRED", {"level": "none", "needed": "basic"}),
        (1, (0, 0, 50_000), "KYC_REQUIRED", {"level": "basic", "needed": "verified"}),
        (2, (0, 0, 0), "WITHDRAWALS_DISABLED", None),
    ],
)
def test_a_limit_of_nothing_says_which_level_is_needed(
    level: int, limits: tuple[int, int, int], code: str, details: dict[str, str] | None
) -> None:
    with pytest.raises(HttpError) as refused:
        limit_in_cents(level, limits)
    assert (refused.value.status_code, refused.value.code, refused.value.details) == (403, code, details)
