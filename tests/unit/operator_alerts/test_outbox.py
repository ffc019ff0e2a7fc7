"""What waits goes together, within the bounds of the hour, of the outbox and of the attempts."""

from openspot.http.operator_alerts import AlertKind, Severity
from openspot.operator_alerts.book import GREW, OVER, RAISED, REPEATED, AlertMessage
from openspot.operator_alerts.outbox import ATTEMPTS_MAX, BATCH_MAX, WAITING_MAX, Outbox


def message(number: int, event: str = RAISED, severity: Severity = Severity.PAGE) -> AlertMessage:
    return AlertMessage(str(number), AlertKind.DISK_LOW, event, severity, "title", "text", "action", 0, 0)


def test_what_waits_is_one_batch_and_the_batch_keeps_its_id_until_it_arrives() -> None:
    outbox = Outbox()
    outbox.add(message(1))
    outbox.add(message(2))
    batch = outbox.due(0, 10)
    assert batch is not None and (batch.id, [each.id for each in batch.messages]) == ("1", ["1", "2"])
    outbox.add(message(3))
    assert outbox.due(1, 10) is batch
    outbox.delivered(2)
    following = outbox.due(3, 10)
    assert following is not None and [each.id for each in following.messages] == ["3"]


def test_no_more_batches_than_the_hour_allows_and_the_rest_waits() -> None:
    outbox = Outbox()
    for number in range(3):
        outbox.add(message(number))
        assert (outbox.due(number, 2) is not None) is (number < 2)
        if outbox.batch is not None:
            outbox.delivered(number)
    assert outbox.due(3599, 2) is None and len(outbox.waiting) == 1
    assert outbox.due(3600, 2) is not None, "the first of the hour is an hour old"


def test_a_failed_batch_is_tried_again_with_growing_pauses_and_then_given_up() -> None:
    outbox = Outbox()
    outbox.add(message(1))
    now, pauses = 0.0, []
    for _ in range(ATTEMPTS_MAX - 1):
        assert outbox.due(now, 10) is not None
        assert not outbox.failed(now, "451", is_final=False, chance=lambda: 0)
        assert outbox.batch is not None
        pauses.append(outbox.batch.next_at - now)
        assert outbox.due(outbox.batch.next_at - 0.1, 10) is None
        now = outbox.batch.next_at
    assert pauses == [5, 10, 20, 40, 80, 160, 320, 600, 600]
    assert outbox.failed(now, "451", is_final=False)
    assert (outbox.batch, outbox.left_out) == (None, 1)
    outbox.add(message(2))
    following = outbox.due(now, 10)
    assert following is not None and following.left_out == 1, "the next one says that something was left out"


def test_a_refusal_for_good_is_not_tried_again() -> None:
    outbox = Outbox()
    outbox.add(message(1))
    assert outbox.due(0, 10) is not None
    assert outbox.failed(0, "404", is_final=True)
    assert outbox.due(10_000, 10) is None


def test_a_full_outbox_lets_repetitions_give_way_first() -> None:
    outbox = Outbox()
    outbox.add(message(0))
    outbox.add(message(1, REPEATED))
    for number in range(2, WAITING_MAX + 1):
        outbox.add(message(number))
    assert (len(outbox.waiting), outbox.left_out, outbox.waiting[0].id) == (WAITING_MAX, 1, "0")
    outbox.add(message(WAITING_MAX + 1))
    assert (len(outbox.waiting), outbox.left_out, outbox.waiting[0].id) == (WAITING_MAX, 2, "2")
    batch = outbox.due(0, 10)
    assert batch is not None and len(batch.messages) == BATCH_MAX


def test_an_alert_that_begins_survives_another_one_that_grows_and_grows() -> None:
    outbox = Outbox()
    outbox.add(message(0, severity=Severity.TICKET))
    for number in range(1, 301):
        outbox.add(message(number, GREW))
    assert (len(outbox.waiting), outbox.left_out) == (WAITING_MAX, 301 - WAITING_MAX)
    assert [each.id for each in (outbox.waiting[0], outbox.waiting[-1])] == ["0", "300"]


def test_of_what_begins_a_page_is_the_last_to_give_way() -> None:
    outbox = Outbox()
    outbox.add(message(0))
    outbox.add(message(1, severity=Severity.TICKET))
    outbox.add(message(2, OVER))
    outbox.add(message(3, GREW))
    outbox.add(message(4, GREW, Severity.TICKET))
    outbox.add(message(5, REPEATED))
    left_out = []
    for number in range(6, WAITING_MAX + 6):
        before = [each.id for each in outbox.waiting]
        outbox.add(message(number))
        left_out += set(before) - {each.id for each in outbox.waiting}
    assert left_out == ["5", "4", "3", "2", "1", "0"]
