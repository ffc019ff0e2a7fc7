"""Sends the mails of the outbox, in the background of every edge process.

If a mail cannot be handed over, the sender tries again, with pauses that double. After ATTEMPTS_MAX attempts it gives
the mail up and logs it. If a process dies while it sends, another one sends the mail. So a mail may come twice, but is
never lost.
"""

import secrets
from datetime import timedelta

from prometheus_client import Counter

from openspot.http.brand import Brand
from openspot.kit.backoff import pause_s
from openspot.kit.clock import DateClock, utc_now
from openspot.kit.database import TRANSIENT_ERRORS, Pool
from openspot.kit.log import get_logger
from openspot.kit.mail.message import BadMailError, Mail, message_of
from openspot.kit.mail.transports import MailRefusedError, MailTransport, MailUnavailableError
from openspot.kit.tasks import PollPauses
from openspot.kit.token_hash import new_token, token_hash
from openspot.rest_edge.languages.catalogue import language_of
from openspot.rest_edge.mail.outbox import Outbox, QueuedMail
from openspot.rest_edge.mail.texts import TOKEN_OF, MailFacts, MailKind, TokenKind, compose
from openspot.rest_edge.mail.tokens import REGISTERED_ALREADY_GAP, MailTokens

log = get_logger("mail")

SENT = Counter("openspot_mails_sent_total", "Mails handed over")
GIVEN_UP = Counter("openspot_mails_given_up_total", "Mails that could not be handed over")

ATTEMPTS_MAX = 10
FIRST_PAUSE_S = 30.0
LONGEST_PAUSE_S = 3600.0
LEASE = timedelta(minutes=2)
POLL_INTERVAL_S = 5.0
"""The outbox is read at least this often, because other processes add mails too."""
TOKEN_GAP = timedelta(minutes=2)
"""A mail with a token is dropped within this time after one of its kind, so that nobody can flood a mailbox."""
ISSUED_WITH = TOKEN_OF | {MailKind.REGISTERED_ALREADY: TokenKind.REGISTERED_ALREADY}
"""The kind of token that is issued with each kind of mail: one that the mail carries, or one that no mail shows."""
GAPS = {MailKind.REGISTERED_ALREADY: REGISTERED_ALREADY_GAP}
"""The gaps that are longer. Strangers cause these mails, and their recipient need not do anything."""


class MailSender:
    """Composes and sends the mails of the outbox."""

    def __init__(
        self,
        pool: Pool,
        outbox: Outbox,
        tokens: MailTokens,
        transport: MailTransport,
        *,
        sender: str,
        link_base: str,
        brand: Brand,
        now: DateClock = utc_now,
    ) -> None:
        self._pool = pool
        self._outbox = outbox
        self._tokens = tokens
        self._transport = transport
        self._sender = sender
        self._link_base = link_base
        self._brand = brand
        self._now = now

    async def run(self) -> None:
        """Send until cancelled. Mails that are not sent stay in the outbox."""
        pauses = PollPauses(self._outbox.added, POLL_INTERVAL_S)
        while True:
            self._outbox.added.clear()
            try:
                while await self.send_next():
                    pass
            except TRANSIENT_ERRORS as error:
                log.warning("the outbox cannot be read now", error=repr(error))
            await pauses.pause()

    async def send_next(self) -> bool:
        """Send the next mail that is due. False if there is none."""
        queued = await self._outbox.claim(LEASE)
        if queued is None:
            return False
        try:
            mail = await self._written(queued)
            if mail is not None:
                domain = self._sender.rpartition("@")[2].rstrip("> ")
                message_id = f"<{queued.mail_id}.{secrets.token_hex(8)}@{domain}>"
                await self._transport.send(message_of(mail, self._sender, message_id, self._now()))
                SENT.inc()
        except (BadMailError, MailRefusedError) as error:
            await self._give_up(queued, error)
        except MailUnavailableError as error:
            if queued.attempts >= ATTEMPTS_MAX:
                await self._give_up(queued, error)
            else:
                log.warning("mail not sent yet", mail_id=queued.mail_id, attempts=queued.attempts, error=str(error))
                await self._outbox.postpone(queued.mail_id, pause_s(queued.attempts, FIRST_PAUSE_S, LONGEST_PAUSE_S))
        else:
            await self._outbox.remove(queued.mail_id)
        return True

    async def _give_up(self, queued: QueuedMail, error: Exception) -> None:
        GIVEN_UP.inc()
        log.error("mail given up", mail_id=queued.mail_id, kind=queued.kind.value, error=str(error))
        await self._outbox.give_up(queued.mail_id)

    async def _written(self, queued: QueuedMail) -> Mail | None:
        """The mail for a row. None if it has no recipient, or if the gap is not over since the last one."""
        if queued.kind is MailKind.ACCOUNT_DELETED:
            # The user is gone, so the row has the language.
            facts = MailFacts(language=language_of(queued.detail))
            return compose(queued.kind, queued.email, facts, self._brand)
        user = await self._pool.fetchrow(
            "SELECT user_id, anti_phishing_code, language FROM users WHERE email = $1", queued.email
        )
        if user is None:
            return None
        token = ""
        kind = ISSUED_WITH.get(queued.kind)
        if kind is not None:
            token, is_first = new_token(), queued.attempts == 1
            since = queued.created_at - GAPS.get(queued.kind, TOKEN_GAP) if is_first else None
            digest, now = token_hash(token), self._now()
            if not await self._tokens.issue(kind, user["user_id"], digest, now, unless_since=since):
                return None
        language = language_of(user["language"])
        facts = MailFacts(user["anti_phishing_code"], token, queued.detail, self._link_base, language)
        return compose(queued.kind, queued.email, facts, self._brand)
