"""The division by symbol: stored positions rely on it, so it must never change."""

from openspot.domain.partition import Partition, partition_of, partitions


def test_a_symbol_has_the_same_partition_in_every_process_and_version() -> None:
    symbols = ("BTC-USD", "ETH-USD", "SOL-USD", "ETH-BRL", "USDT-USD")
    assert [partition_of(symbol, 2) for symbol in symbols] == [0, 1, 1, 1, 0]
    assert [partition_of(symbol, 3) for symbol in symbols] == [2, 0, 2, 1, 1]


def test_every_symbol_is_in_exactly_one_partition_and_what_has_no_symbol_in_the_first() -> None:
    for count in range(1, 17):
        for symbol in ("BTC-USD", "ETH-USD", "x", "ß-€"):
            assert sum(each.has(symbol) for each in partitions(count)) == 1
        assert [each.has("") for each in partitions(count)] == [True] + [False] * (count - 1)


def test_the_only_partition_keeps_the_plain_name() -> None:
    assert Partition(0, 1).named("router") == "router"
    assert [each.named("router") for each in partitions(2)] == ["router-0-of-2", "router-1-of-2"]
