"""Ports of tests: what several tests share keeps its own while others are handed out again."""

import socket

from tests.support.ports import BLOCK, LASTING, PortBlock


def test_a_port_of_what_tests_share_is_handed_out_once() -> None:
    block = PortBlock()
    shared = [block.lasting() for _ in range(20)]
    passing = [block.passing() for _ in range(2 * (BLOCK - LASTING))]
    assert len(set(shared)) == 20
    # They came round, and none of those that are shared and not listened on was among them.
    assert len(set(passing)) <= BLOCK - LASTING
    assert not set(shared) & set(passing)


def test_a_port_that_somebody_listens_on_is_left_out() -> None:
    block = PortBlock()
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", block.passing()))
        listener.listen(1)
        taken = listener.getsockname()[1]
        assert taken not in {block.passing() for _ in range(BLOCK)}


def test_used_up_lasting_ports_are_followed_by_the_others() -> None:
    block = PortBlock()
    ports = [block.lasting() for _ in range(LASTING + 10)]
    assert len(set(ports)) == LASTING + 10
