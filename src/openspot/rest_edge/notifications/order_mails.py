"""Mails about orders: after one of them, a user gets no other for a while. One pause for filled and refused orders."""

from collections.abc import Collection

ORDER_MAIL_GAP_S = 60.0
"""After a mail about an order, what happens to the user's orders within this time comes on screen and devices only."""
MAILED_USERS_MAX = 10_000


class OrderMails:
    """The users who have had a mail about an order from this edge, and when. If they are many, it forgets them all."""

    def __init__(self) -> None:
        self._mailed: dict[str, float] = {}

    def may_mail(self, user_id: str, now_s: float) -> bool:
        """Whether the user may have a mail about an order at `now_s`, in seconds since 1970."""
        return now_s - self._mailed.get(user_id, 0) >= ORDER_MAIL_GAP_S

    def note(self, user_ids: Collection[str], now_s: float) -> None:
        """Note that these users have had the mail that they might have."""
        for user_id in user_ids:
            if not self.may_mail(user_id, now_s):
                continue
            if len(self._mailed) >= MAILED_USERS_MAX:
                self._mailed.clear()
            self._mailed[user_id] = now_s
