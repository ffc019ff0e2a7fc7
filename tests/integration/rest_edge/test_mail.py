"""Mail: the outbox, a real SMTP server in this process, and the development mailbox."""

import asyncio
import stat
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from openspot.http.brand import Brand
from openspot.kit.mail.transports import MAILBOX_NAME, MailboxTransport, SmtpTransport, read_mailbox
from openspot.kit.settings import Settings
from openspot.kit.tasks import end_tasks
from openspot.rest_edge.mail import sender as sender_module
from openspot.rest_edge.mail.outbox import Outbox, QueuedMail
from openspot.rest_edge.mail.sender import ATTEMPTS_MAX, MailSender
from openspot.rest_edge.mail.texts import MailKind
from openspot.rest_edge.mail.tokens import MailTokens
from tests.support.authenticator import register
from tests.support.rest_client import RestClient, running_edge
from tests.support.smtp_sink import Inbox, mail_server
from tests.support.waiting import eventually, stretched

EMAIL = "ada@example.org"


@pytest.fixture
async def inbox(settings: Settings) -> AsyncIterator[Inbox]:
    """A running SMTP server; `settings` point to it."""
    inbox = Inbox()
    async with mail_server(inbox) as port:
        settings.smtp_host, settings.smtp_security, settings.smtp_port = "127.0.0.1", "none", port
        yield inbox


class Time:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def sender_of(pool: asyncpg.Pool, settings: Settings, time: Time) -> tuple[Outbox, MailSender]:
    outbox = Outbox(pool, 100, time)
    sender = MailSender(
        pool,
        outbox,
        MailTokens(pool),
        SmtpTransport(settings),
        sender=settings.mail_from,
        link_base="",
        brand=Brand(),
        now=time,
    )
    return outbox, sender


async def add_user(pool: asyncpg.Pool, anti_phishing_code: str | None = None) -> None:
    await pool.execute(
        "INSERT INTO users (user_id, email, password_hash, role, anti_phishing_code)"
        " VALUES ('u1', $1, 'hash', 'user', $2)",
        EMAIL,
        anti_phishing_code,
    )


async def test_a_registration_sends_a_mail_by_smtp(settings: Settings, inbox: Inbox) -> None:
    async with running_edge(settings) as edge:
        await register(edge, EMAIL)

        async def arrived() -> bool:
            return bool(inbox.mails)

        await eventually(arrived, 20)
    [mail] = inbox.mails
    assert (mail["To"], mail["Subject"]) == (EMAIL, "Confirm your email address")
    assert (mail["From"], mail["Auto-Submitted"]) == (settings.mail_from, "auto-generated")
    assert mail["Message-ID"].endswith("@openspot.invalid>")


async def test_a_mail_of_a_transaction_is_sent_soon_after_its_commit(
    pool: asyncpg.Pool, settings: Settings, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender_module, "POLL_INTERVAL_S", 3600.0)
    await add_user(pool)
    outbox, sender = sender_of(pool, settings, Time())
    claim, looks = outbox.claim, []

    async def counted(lease: timedelta) -> QueuedMail | None:
        looks.append(await claim(lease))
        return looks[-1]

    monkeypatch.setattr(outbox, "claim", counted)
    sending = asyncio.create_task(sender.run())
    await eventually(lambda: looks)
    async with pool.acquire() as connection, connection.transaction():
        await outbox.add(MailKind.RESET_PASSWORD, EMAIL, connection=connection)
        await eventually(lambda: len(looks) > 1)
    assert looks[:2] == [None, None], "the sender was woken before the commit"
    await eventually(lambda: inbox.mails)
    await end_tasks(sending)


async def test_every_mail_shows_the_anti_phishing_code(pool: asyncpg.Pool, settings: Settings, inbox: Inbox) -> None:
    await add_user(pool, "blue heron")
    outbox, sender = sender_of(pool, settings, Time())
    kinds = [kind for kind in MailKind if kind is not MailKind.ACCOUNT_DELETED]
    for kind in kinds:
        await outbox.add(kind, EMAIL, "Title\nText" if kind is MailKind.NOTIFICATION else "")
        await pool.execute("DELETE FROM mail_tokens")
        assert await sender.send_next()
    assert len(inbox.mails) == len(kinds)
    assert all("Your anti-phishing code: blue heron" in mail.get_content() for mail in inbox.mails)  # type: ignore[attr-defined]


async def test_a_mail_is_tried_again_with_growing_pauses_and_then_given_up(
    pool: asyncpg.Pool, settings: Settings, inbox: Inbox
) -> None:
    await add_user(pool)
    time = Time()
    outbox, sender = sender_of(pool, settings, time)
    await outbox.add(MailKind.RESET_PASSWORD, EMAIL)
    inbox.refusal = "451 try again later"
    pauses = []
    for _ in range(ATTEMPTS_MAX):
        assert await sender.send_next()
        assert not await sender.send_next()
        next_at = await pool.fetchval("SELECT next_at FROM mail_outbox WHERE failed_at IS NULL")
        if next_at is not None:
            pauses.append((next_at - time.now).total_seconds())
            time.now = next_at
    assert len(pauses) == ATTEMPTS_MAX - 1
    assert all(15 * 2**number <= pause <= 30 * 2**number for number, pause in enumerate(pauses[:7]))
    assert pauses[-1] <= 3600
    time.now += timedelta(days=1)
    assert not await sender.send_next()
    assert await pool.fetchval("SELECT count(*) FROM mail_outbox WHERE failed_at IS NOT NULL") == 1


async def test_a_mail_that_could_be_sent_at_last_is_sent_once(
    pool: asyncpg.Pool, settings: Settings, inbox: Inbox
) -> None:
    await add_user(pool)
    time = Time()
    outbox, sender = sender_of(pool, settings, time)
    await outbox.add(MailKind.RESET_PASSWORD, EMAIL)
    inbox.refusal = "451 try again later"
    await sender.send_next()
    inbox.refusal = ""
    time.now += timedelta(minutes=1)
    assert await sender.send_next()
    time.now += timedelta(days=1)
    assert not await sender.send_next()
    assert len(inbox.mails) == 1


async def test_an_address_that_the_server_refuses_for_good_is_not_tried_again(
    pool: asyncpg.Pool, settings: Settings, inbox: Inbox
) -> None:
    await add_user(pool)
    outbox, sender = sender_of(pool, settings, Time())
    await outbox.add(MailKind.RESET_PASSWORD, EMAIL)
    inbox.refusal = "550 no such user"
    await sender.send_next()
    assert await pool.fetchval("SELECT attempts FROM mail_outbox WHERE failed_at IS NOT NULL") == 1


async def test_of_many_senders_one_sends_a_mail_and_another_takes_over_from_a_dead_one(
    pool: asyncpg.Pool, settings: Settings, inbox: Inbox
) -> None:
    await add_user(pool)
    time = Time()
    outbox, sender = sender_of(pool, settings, time)
    for _ in range(3):
        await outbox.add(MailKind.NOTIFICATION, EMAIL, "title\ntext")
    # Claimed by a process that then dies.
    assert await outbox.claim(timedelta(minutes=2)) is not None
    others = [sender_of(pool, settings, time)[1] for _ in range(4)]
    assert sorted(await asyncio.gather(*(other.send_next() for other in others))) == [False, False, True, True]
    assert len(inbox.mails) == 2
    time.now += timedelta(minutes=2)
    assert await sender.send_next()
    assert len(inbox.mails) == 3


async def test_a_mailbox_hears_of_registrations_of_its_address_once_an_hour(
    pool: asyncpg.Pool, settings: Settings, inbox: Inbox
) -> None:
    await add_user(pool)
    time = Time()
    outbox, sender = sender_of(pool, settings, time)
    another = sender_of(pool, settings, time)[1]

    async def arrived(registrations: int) -> int:
        for _ in range(registrations):
            assert await outbox.add(MailKind.REGISTERED_ALREADY, EMAIL)
        # Two processes send at once: the gap holds between them too.
        while any(await asyncio.gather(sender.send_next(), another.send_next())):
            pass
        found = len(inbox.mails)
        inbox.mails.clear()
        return found

    assert await arrived(5) == 1
    time.now += timedelta(hours=1, microseconds=-1)
    assert await arrived(2) == 0
    time.now += timedelta(microseconds=1)
    assert await arrived(2) == 1
    # It holds up no mail of another kind, and a mail that could not be handed over is tried again.
    await outbox.add(MailKind.RESET_PASSWORD, EMAIL)
    assert await arrived(0) == 1
    time.now += timedelta(hours=1)
    inbox.refusal = "450 try again"
    assert await arrived(1) == 0
    inbox.refusal = ""
    time.now += timedelta(minutes=1)
    assert await arrived(0) == 1


async def test_the_last_fifth_of_the_outbox_is_for_mail_of_security(pool: asyncpg.Pool) -> None:
    outbox, email = Outbox(pool, 10, Time()), "nobody@example.org"
    ordinary = (MailKind.VERIFY_EMAIL, MailKind.REGISTERED_ALREADY, MailKind.RESET_PASSWORD, MailKind.NOTIFICATION)
    taken = [await outbox.add(MailKind.REGISTERED_ALREADY, email) for _ in range(9)]
    assert taken == [True] * 8 + [False]
    for kind in ordinary:
        assert not await outbox.add(kind, email)
    assert await outbox.add(MailKind.TOO_MANY_FAILURES, email)
    assert await outbox.add(MailKind.NOTIFICATION, email, is_security=True)
    assert not await outbox.add(MailKind.ACCOUNT_DELETED, email)
    assert not await outbox.add(MailKind.NOTIFICATION, email, is_security=True)


async def test_requests_do_not_wait_for_a_mail_server_that_does_not_respond(settings: Settings) -> None:
    stuck = await asyncio.start_server(lambda _reader, _writer: asyncio.sleep(3600), "127.0.0.1", 0)
    settings.smtp_host, settings.smtp_security = "127.0.0.1", "none"
    settings.smtp_port = stuck.sockets[0].getsockname()[1]
    async with running_edge(settings) as edge:
        async with asyncio.timeout(stretched(15)):
            for number in range(3):
                reply = await edge("POST", "/auth/forgot-password", {"email": f"user{number}@example.org"})
                assert reply.status == 202
    stuck.close()


async def test_the_development_mailbox_is_for_its_owner_alone(
    edge: RestClient, settings: Settings, pool: asyncpg.Pool, capfd: pytest.CaptureFixture[str]
) -> None:
    await register(edge, EMAIL)

    async def is_sent() -> bool:
        return await pool.fetchval("SELECT count(*) = 0 FROM mail_outbox")

    await eventually(is_sent, 20)
    logged = "".join(capfd.readouterr())
    assert "openspot mailbox shows it" in logged
    assert stat.S_IMODE((settings.data_dir / MAILBOX_NAME).stat().st_mode) == 0o600
    [mail] = read_mailbox(settings.data_dir)
    token = mail.text.split("Token: ")[1].split()[0]
    assert token not in logged and EMAIL not in logged


async def test_a_long_mailbox_begins_anew(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    from openspot.kit.mail import transports
    from openspot.kit.mail.message import Mail, message_of

    monkeypatch.setattr(transports, "MAILBOX_BYTES_MAX", 10)
    transport = MailboxTransport(settings.data_dir)
    for number in range(3):
        mail = Mail(EMAIL, f"mail {number}", "text")
        await transport.send(message_of(mail, "a@example.org", "<1@example.org>", datetime.now(UTC)))
    assert [mail.subject for mail in read_mailbox(settings.data_dir)] == ["mail 2"]
    assert (settings.data_dir / f"{MAILBOX_NAME}.1").exists()
