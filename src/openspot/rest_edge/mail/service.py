"""Makes the services of mail: the outbox, the tokens of mails, and the sender in the background."""

from dataclasses import dataclass
from datetime import timedelta

from openspot.kit.clock import utc_now
from openspot.kit.database import Pool
from openspot.kit.mail.transports import make_transport
from openspot.kit.service_frame import ServiceFrame
from openspot.rest_edge.common.repeated_work import CLEAN_UP_INTERVAL_S, repeat
from openspot.rest_edge.mail.outbox import Outbox
from openspot.rest_edge.mail.sender import MailSender
from openspot.rest_edge.mail.settings import MailSettings
from openspot.rest_edge.mail.tokens import MailTokens

FAILED_MAILS_KEPT = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class MailServices:
    """The outbox, which queues mails, and the tokens that mails carry."""

    outbox: Outbox
    tokens: MailTokens


def make_mail_services(settings: MailSettings, pool: Pool, frame: ServiceFrame) -> MailServices:
    """Make the services and start the sender. `frame` ends it."""
    outbox, tokens = Outbox(pool, settings.mail_queue_max), MailTokens(pool)
    sender = MailSender(
        pool,
        outbox,
        tokens,
        make_transport(settings),
        sender=settings.mail_from,
        link_base=settings.mail_link_base,
        brand=settings.brand,
    )
    frame.start("send mails", sender.run(), is_essential=False)

    async def clean_up() -> None:
        now = utc_now()
        await outbox.delete_failed(now - FAILED_MAILS_KEPT)
        await tokens.delete_expired(now)

    repeat(frame, "delete failed mails and expired tokens", clean_up, CLEAN_UP_INTERVAL_S)
    return MailServices(outbox, tokens)
