"""Which changes of a verification are decisions that its user is told of."""

import pytest

from openspot.rest_edge.funds.kyc.notices import LOWERED, decision_notice
from openspot.rest_edge.funds.kyc.rules import KycLevel, KycState, Standing

Place = tuple[KycState, KycLevel]
NONE, BASIC, VERIFIED = KycLevel.NONE, KycLevel.BASIC, KycLevel.VERIFIED
PENDING, HOLD, APPROVED = KycState.PENDING, KycState.ON_HOLD, KycState.APPROVED
RETRY, REJECTED = KycState.RETRY, KycState.REJECTED


@pytest.mark.parametrize(
    ("before", "after", "title", "is_lowered"),
    [
        ((PENDING, BASIC), (APPROVED, VERIFIED), "Verification approved", False),
        ((APPROVED, BASIC), (APPROVED, VERIFIED), "Verification approved", False),
        ((HOLD, BASIC), (RETRY, BASIC), "Verification needs more from you", False),
        ((APPROVED, VERIFIED), (RETRY, BASIC), "Verification needs more from you", True),
        ((RETRY, BASIC), (RETRY, NONE), "Verification needs more from you", True),
        ((PENDING, NONE), (REJECTED, NONE), "Verification rejected", False),
        ((APPROVED, VERIFIED), (REJECTED, NONE), "Verification rejected", True),
        # Nothing is decided, or nothing anew.
        ((PENDING, BASIC), (HOLD, BASIC), None, False),
        ((APPROVED, VERIFIED), (PENDING, VERIFIED), None, False),
        ((APPROVED, VERIFIED), (APPROVED, VERIFIED), None, False),
        ((RETRY, NONE), (RETRY, BASIC), None, False),
        ((REJECTED, NONE), (REJECTED, NONE), None, False),
    ],
)
def test_a_decision_is_told_if_it_changes_something(
    before: Place, after: Place, title: str | None, is_lowered: bool
) -> None:
    (was, was_level), (is_now, level) = before, after
    notice = decision_notice("n", "ada", Standing(was_level, was, True), Standing(level, is_now, True), 7)
    assert (notice and notice.title) == title
    if notice is not None:
        assert (notice.id, notice.user_id, notice.kind, notice.timestamp) == ("n", "ada", "verification.decided", 7)
        assert notice.text.endswith(LOWERED) == is_lowered
