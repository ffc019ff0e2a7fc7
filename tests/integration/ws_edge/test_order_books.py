"""Order books on the socket: snapshot, updates and repair, with market data that the test plays."""

import zlib

import msgspec
import pytest

from openspot.contracts import subjects
from openspot.contracts.messages import GetBook, GetBookReply
from openspot.contracts.messages.market_data import Level
from openspot.contracts.refusals import Refusal, RefusalCode
from openspot.kit.bus import Bus, encode
from openspot.kit.settings import Settings
from openspot.ws_edge.metrics import BOOK_RESYNCS
from tests.support.book_provider import CHANNEL, SUBJECT, SYMBOL, BookProvider, book_of, subscribe_to_book
from tests.support.waiting import eventually
from tests.support.websocket_edge import Publish, ask, nothing_but_a_pong, open_client, receive, running_edge


def lists(levels: list[Level]) -> list[list[str]]:
    return [list(level) for level in levels]


@pytest.mark.spec("A6.3-06")
@pytest.mark.spec("A6.3-16", "A6.3-15")
async def test_a_snapshot_comes_first_and_then_what_is_published(edge: Settings, provider: BookProvider) -> None:
    async with open_client(edge) as client, open_client(edge) as later:
        snapshot = await subscribe_to_book(client)
        assert snapshot == {
            "channel": CHANNEL,
            "type": "snapshot",
            "seq": 10,
            "ts": 10,
            "data": {
                "symbol": SYMBOL, "type": "snapshot", "seq": 10, "prevSeq": None, "timestamp": 10,
                "bids": [["100", "1"], ["99", "2"], ["98", "3"]], "asks": [],
                "checksum": zlib.crc32(b"100:1:99:2:98:3"),
            },
        }  # fmt: skip
        await provider.publish(provider.change(99, "0"))
        assert book_of(await receive(client)) == ("update", 13, 10, [["99", "0"]])
        # Another client begins with the book of now, and nobody is asked again.
        assert book_of(await subscribe_to_book(later)) == ("snapshot", 13, None, [["100", "1"], ["98", "3"]])
        await provider.publish(provider.change(97, "4"))
        for each in (client, later):
            assert book_of(await receive(each)) == ("update", 16, 13, [["97", "4"]])
        assert provider.requests == 1
        # Subscribing again gives the book again, and to nobody else.
        assert book_of(await subscribe_to_book(client))[:2] == ("snapshot", 16)
        await nothing_but_a_pong(later)
        assert (await ask(client, action="unsubscribe", channel=CHANNEL))["type"] == "unsubscribed"
        await provider.publish(provider.change(97, "5"))
        assert book_of(await receive(later))[1] == 19
        await nothing_but_a_pong(client)


async def test_updates_around_the_reply_are_neither_missed_nor_repeated(edge: Settings, provider: BookProvider) -> None:
    provider.released.clear()
    async with open_client(edge) as client:
        assert (await ask(client, action="subscribe", channel=CHANNEL))["type"] == "subscribed"
        await eventually(lambda: provider.requests)
        # The reply is the book before these.
        for price in (97, 96, 95):
            await provider.publish(provider.change(price, "1"))
        # The edge takes events in their order, so it has the updates when the client has this ticker.
        async with open_client(edge) as witness:
            await ask(witness, action="subscribe", channel=f"trades:{SYMBOL}")
            await nothing_but_a_pong(client)
            provider.released.set()
            assert book_of(await receive(client)) == ("snapshot", 19, None, lists(provider.levels))
        await provider.publish(provider.change(94, "1"))
        assert book_of(await receive(client))[:3] == ("update", 22, 19)


@pytest.mark.spec("A6.3-17")
async def test_after_a_gap_or_a_wrong_checksum_everybody_gets_a_fresh_snapshot(
    edge: Settings, provider: BookProvider
) -> None:
    def resyncs() -> float:
        return BOOK_RESYNCS._value.get()

    view = f"{CHANNEL}?depth=1"
    async with open_client(edge) as first, open_client(edge) as second, open_client(edge) as shallow:
        for client, channel in ((first, CHANNEL), (second, CHANNEL), (shallow, view)):
            await subscribe_to_book(client, channel)
        before = resyncs()
        provider.change(99, "7")
        await provider.publish(provider.change(97, "1"))
        for client in (first, second):
            assert book_of(await receive(client)) == ("snapshot", 16, None, lists(provider.levels))
        assert book_of(await receive(shallow)) == ("snapshot", 16, None, [["100", "1"]])
        assert resyncs() == before + 1
        update = provider.change(96, "1")
        await provider.publish(msgspec.structs.replace(update, checksum=update.checksum ^ 1))
        for client in (first, second):
            assert book_of(await receive(client)) == ("snapshot", 19, None, lists(provider.levels))
        assert book_of(await receive(shallow))[:2] == ("snapshot", 19)
        assert resyncs() == before + 2
        await provider.publish(provider.change(100, "2"))
        for client in (first, second, shallow):
            assert book_of(await receive(client)) == ("update", 22, 19, [["100", "2"]])


async def test_a_published_snapshot_replaces_the_book_even_with_a_lower_sequence(
    edge: Settings, provider: BookProvider
) -> None:
    async with open_client(edge) as client:
        await subscribe_to_book(client)
        provider.seq, provider.bids = 2, {50: "1"}
        await provider.publish(provider.book("snapshot", None, provider.levels))
        assert book_of(await receive(client)) == ("snapshot", 2, None, [["50", "1"]])
        await provider.publish(provider.change(51, "1"))
        assert book_of(await receive(client)) == ("update", 5, 2, [["51", "1"]])
        assert provider.requests == 1


async def test_a_view_sends_what_enters_and_leaves_it_and_nothing_else(edge: Settings, provider: BookProvider) -> None:
    async with open_client(edge) as client, open_client(edge) as same:
        for each in (client, same):
            assert book_of(await subscribe_to_book(each, f"{CHANNEL}?depth=1")) == (
                "snapshot",
                10,
                None,
                [["100", "1"]],
            )
        # Below the view: nothing is sent, and the view's sequence stays.
        await provider.publish(provider.change(99, "5"))
        await provider.publish(provider.change(100, "0"))
        for each in (client, same):
            push = await receive(each)
            assert book_of(push) == ("update", 16, 10, [["100", "0"], ["99", "5"]])
            assert push["data"]["checksum"] == zlib.crc32(b"99:5")
        await provider.publish(provider.change(98, "0"))
        await nothing_but_a_pong(client)
        assert book_of(await subscribe_to_book(client, f"{CHANNEL}?depth=1")) == ("snapshot", 16, None, [["99", "5"]])


async def test_best_prices_come_first_and_whenever_they_change(settings: Settings, provider: BookProvider) -> None:
    best = f"bbo:{SYMBOL}"
    async with running_edge(settings.model_copy(update={"rules": "complete"})) as edge, open_client(edge) as client:
        assert await subscribe_to_book(client, best) == {
            "channel": best,
            "type": "snapshot",
            "seq": 10,
            "ts": 10,
            "data": {
                "symbol": SYMBOL, "bidPrice": "100", "bidQuantity": "1", "askPrice": None, "askQuantity": None,
                "seq": 10, "timestamp": 10,
            },
        }  # fmt: skip
        # Below the best: nothing is sent.
        await provider.publish(provider.change(99, "5"))
        await provider.publish(provider.change(100, "7"))
        push = await receive(client)
        assert (push["type"], push["seq"], push["data"]["bidQuantity"]) == ("update", 16, "7")
        await provider.publish(provider.change(100, "0"))
        push = await receive(client)
        assert (push["seq"], push["data"]["bidPrice"], push["data"]["bidQuantity"]) == (19, "99", "5")
        again = await subscribe_to_book(client, best)
        assert (again["type"], again["data"]) == ("snapshot", push["data"])
        # After a gap the best prices come anew.
        provider.change(101, "2")
        await provider.publish(provider.change(99, "6"))
        push = await receive(client)
        assert (push["type"], push["seq"], push["data"]["bidPrice"]) == ("snapshot", 25, "101")
        assert (await ask(client, action="unsubscribe", channel=best))["type"] == "unsubscribed"


@pytest.mark.parametrize("name", ["bbo", "agg-trades"])
async def test_only_the_complete_rules_have_best_prices_and_aggregate_trades(edge: Settings, name: str) -> None:
    async with open_client(edge) as client:
        refused = await ask(client, action="subscribe", channel=f"{name}:{SYMBOL}")
        assert (refused["code"], name in refused["message"]) == ("UNKNOWN_CHANNEL", False)


async def test_without_market_data_the_book_comes_when_it_is_there(edge: Settings, bus: Bus, publish: Publish) -> None:
    async with open_client(edge) as client:
        assert (await ask(client, action="subscribe", channel=CHANNEL))["type"] == "subscribed"
        await nothing_but_a_pong(client)
        late = BookProvider(publish)
        late.refusal = Refusal(RefusalCode.UNAVAILABLE, "not yet")
        await bus.serve(subjects.MARKETDATA_BOOKS_GET, "market-data", GetBook, late.reply, GetBookReply.refused)
        await eventually(lambda: late.requests > 1)
        late.refusal = None
        assert book_of(await receive(client))[:2] == ("snapshot", 10)


async def test_an_unknown_market_is_named_and_its_book_comes_when_it_is_listed(
    edge: Settings, provider: BookProvider
) -> None:
    provider.refusal = Refusal(RefusalCode.NOT_FOUND, "no such market")
    async with open_client(edge) as client:
        error = await subscribe_to_book(client)
        assert (error["type"], error["code"], error["channel"]) == ("error", "UNKNOWN_MARKET", CHANNEL)
        await provider.publish(provider.book("snapshot", None, provider.levels))
        assert book_of(await receive(client))[:2] == ("snapshot", 10)


async def test_a_malformed_book_message_is_dropped_and_the_gap_repaired(
    edge: Settings, provider: BookProvider, publish: Publish
) -> None:
    async with open_client(edge) as client:
        await subscribe_to_book(client)
        for payload in (
            b"{",
            b'{"symbol":"BTC-USD","seq":11}',
            encode(provider.change(97, "1")).replace(b"BTC", b"ETH"),
            # Each would continue the book, if clients could read it.
            encode(provider.book("update", 10, [])).replace(b'"seq":13', b'"seq":9007199254740993'),
            encode(provider.book("update", 10, [])).replace(b'"timestamp":13', b'"timestamp":-1'),
            encode(provider.book("update", 10, [])).replace(b'"symbol"', b'"x":"\xff","symbol"'),
        ):
            await publish(SUBJECT, payload)
        await nothing_but_a_pong(client)
        await provider.publish(provider.change(96, "1"))
        assert book_of(await receive(client)) == ("snapshot", 16, None, lists(provider.levels))
