"""The ports of the facts A1.1-01 to A1.1-10 are the defaults."""

import pytest

from openspot.up.services import PlatformSettings


@pytest.mark.spec("A1.1-01", "A1.1-02", "A1.1-03", "A1.1-04", "A1.1-05", "A1.1-06", "A1.1-09", "A1.1-10", "A1.1-11")
def test_the_default_ports_are_those_of_the_specification() -> None:
    settings = PlatformSettings()
    assert (settings.rest_port, settings.ws_port) == (3001, 3002)
    assert (settings.router_port, settings.ledger_port) == (3006, 3007)
    assert (settings.positions_port, settings.margin_port) == (3008, 3009)
    assert (settings.engine_http_port, settings.engine_grpc_port) == (8090, 9090)
