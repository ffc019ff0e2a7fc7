"""The notices of decisions on a verification. Pure."""

from openspot.contracts.messages import SendNotification
from openspot.rest_edge.funds.kyc.rules import KycState, Standing

DECIDED_KIND = "verification.decided"
NOTICES = {
    KycState.APPROVED: (
        "Verification approved",
        "Your verification was approved. The page of verification shows your level, and what you can withdraw in a "
        "day.",
    ),
    KycState.RETRY: (
        "Verification needs more from you",
        "Your verification was not approved as it is. Start it again on the page of verification, with what is missing "
        "or not readable.",
    ),
    KycState.REJECTED: (
        "Verification rejected",
        "Your verification was rejected for good, so it cannot be started again. If you think that this is wrong, ask "
        "support.",
    ),
}
"""Title and text by the state that a decision leads to."""
LOWERED = "Your level of verification is lower than before, and so is what you can withdraw in a day."


def decision_notice(
    notice_id: str, user_id: str, before: Standing, after: Standing, now_ms: int
) -> SendNotification | None:
    """The notice of a change from `before` to `after`, None if nothing was decided anew.

    A repeated decision tells nothing, nor does a user who gives basic information after being asked for more.
    """
    found = NOTICES.get(after.status)
    is_lower, is_higher = after.level < before.level, after.level > before.level
    is_new = after.status is not before.status or is_lower or (is_higher and after.status is KycState.APPROVED)
    if found is None or not is_new:
        return None
    title, text = found
    told = f"{text}\n{LOWERED}" if is_lower else text
    return SendNotification(notice_id, user_id, DECIDED_KIND, title, told, now_ms)
