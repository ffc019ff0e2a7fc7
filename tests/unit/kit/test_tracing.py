"""Traces of orders: their ids, which orders are traced, the files and the picture."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from openspot.kit import tracing
from openspot.kit.settings import Settings, SettingsError, load
from openspot.kit.tracing import Step, files
from openspot.kit.tracing.files import SpanLine, read
from openspot.kit.tracing.picture import Picture
from openspot.kit.tracing.steps import PLACES, chance_of, root_of, span_id_of, trace_id_of

MS = 1_000_000
LINES = [
    SpanLine(f"{trace_id_of('o1'):032x}", "openspot-engine", "engine", 3 * MS, 4 * MS, {"order.id": "o1"}),
    SpanLine(f"{trace_id_of('o1'):032x}", "openspot-rest-edge", "place order", 1 * MS, 5 * MS, {"order.id": "o1"}),
    SpanLine(f"{trace_id_of('o1'):032x}", "openspot-engine", "engine", 3 * MS, 4 * MS, {"order.id": "o1"}),
]


def write(settings: Settings, orders: int, *, share: float) -> list[SpanLine]:
    tracing.start(settings.model_copy(update={"tracing_endpoint": "file", "tracing_share": share}), "test")
    for number in range(orders):
        tracing.end(f"order-{number}", Step.ORDER, tracing.begin(), symbol="BTC-USD")
    tracing.stop()
    return list(read(settings.data_dir))


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path)


def test_every_step_is_a_part_of_a_request() -> None:
    for step in Step:
        way = [step]
        while (parent := PLACES[way[-1]].parent) is not None:
            assert parent not in way, "a step is no part of itself"
            way.append(parent)
        assert way[-1] is root_of(step)
        assert way[-1] in (Step.ORDER, Step.CANCEL, Step.AMEND)


def test_ids_follow_from_the_order_and_differ_by_step_and_key() -> None:
    assert trace_id_of("o1") == trace_id_of("o1") != trace_id_of("o2")
    ids = [span_id_of("o1", step, key) for step in Step for key in ("", "1", "2")] + [span_id_of("o2", Step.ORDER)]
    assert len(set(ids)) == len(ids)
    traces = [trace_id_of("o1"), trace_id_of("o1", Step.CANCEL), *(trace_id_of("o1", Step.AMEND, key) for key in "12")]
    assert len(set(traces)) == 4, "a cancel and each amendment have traces of their own"
    assert 0 < trace_id_of("o1") < 2**128
    assert all(0 < each < 2**64 for each in ids)


def test_a_share_of_the_orders_is_traced_and_every_process_chooses_the_same(settings: Settings, tmp_path: Path) -> None:
    found = {line.trace_id for line in write(settings, 400, share=0.25)}
    expected = {
        f"{trace:032x}"
        for trace in (trace_id_of(f"order-{number}") for number in range(400))
        if chance_of(trace) < 0.25
    }
    assert found == expected
    assert 60 < len(found) < 140


def test_nothing_is_traced_without_the_setting_or_with_a_share_of_zero(settings: Settings) -> None:
    tracing.start(settings, "test")
    assert (tracing.begin(), tracing.is_traced("o1")) == (0, False)
    tracing.end("o1", Step.ORDER, 1)
    tracing.stop()
    assert write(settings, 20, share=0) == []


def test_services_that_share_a_process_record_until_the_last_one_ends(settings: Settings) -> None:
    everything = settings.model_copy(update={"tracing_endpoint": "file", "tracing_share": 1.0})
    tracing.start(everything, "first")
    tracing.start(everything, "second")
    tracing.stop()
    tracing.end("o1", Step.SUBMIT, tracing.begin())
    tracing.stop()
    assert [(line.service, line.name) for line in read(settings.data_dir)] == [("openspot-router", "submit")]
    assert not tracing.is_traced("o1")


def test_a_line_that_was_cut_is_left_out_and_a_large_file_makes_room(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (line,) = write(settings, 1, share=1)
    path = settings.data_dir / "traces" / "test.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.write('{"trace_id": "1"}\n[]\n' + json.dumps(line._asdict())[:30])
    assert list(read(settings.data_dir)) == [line]
    size = path.stat().st_size
    monkeypatch.setattr(files, "SIZE_MAX", size - 1)
    assert len(write(settings, 2, share=1)) == 3
    assert path.with_suffix(".old.jsonl").stat().st_size == size
    assert len(write(settings, 2, share=1)) == 4, "there are never more than two files of a process"


def test_a_disk_that_takes_nothing_loses_spans_and_nothing_else(settings: Settings) -> None:
    (settings.data_dir / "traces").write_text("a file in place of the folder", encoding="utf-8")
    assert write(settings, 3, share=1) == []


def test_the_picture_shows_each_span_once_below_what_it_is_a_part_of() -> None:
    picture = Picture.of(LINES)
    assert picture is not None
    title, first, second = picture.lines("o1", 8)
    assert title == "order o1: 4.00 ms until the end of its last step"
    assert first == "rest-edge: place order │████████│     0.00 ms + 4.00 ms"
    assert second == "        engine: engine │    ██  │     2.00 ms + 1.00 ms"
    drawing = ElementTree.fromstring(picture.svg("<o1&'"))
    texts = [element.text for element in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "Order <o1&': 4.00 ms until the end of its last step"
    assert texts[1:] == ["rest-edge: place order", "4.00 ms", "engine: engine", "1.00 ms"]
    assert Picture.of([]) is None


def test_every_trace_of_an_order_has_its_own_picture_and_says_what_it_is_of() -> None:
    later = [
        SpanLine(f"{trace_id_of('o1', root, key):032x}", "openspot-rest-edge", root, at * MS, (at + 1) * MS, {})
        for root, key, at in ((Step.CANCEL, "", 90), (Step.AMEND, "2", 70), (Step.AMEND, "1", 60))
    ]
    titles = [next(iter(picture.lines("o1", 8))) for picture in Picture.all_of([*later, *LINES])]
    assert [title.partition(":")[0] for title in titles] == [
        "order o1", "amendment of order o1", "amendment of order o1", "cancel of order o1",
    ]  # fmt: skip
    assert Picture.all_of([]) == []


@pytest.mark.parametrize("endpoint", ["files", "ftp://collector", "127.0.0.1:4318", "http://a b"])
def test_an_endpoint_that_nothing_can_be_sent_to_is_refused_at_start(endpoint: str) -> None:
    with pytest.raises(SettingsError, match="OPENSPOT_TRACING_ENDPOINT"):
        load(Settings, tracing_endpoint=endpoint)
