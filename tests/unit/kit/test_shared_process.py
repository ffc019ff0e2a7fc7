"""Services that share a process divide its metrics: each sample is shown once."""

from prometheus_client import Counter, Gauge

from openspot.kit.metrics import BUS_CONSUMER_LAG, exposition
from openspot.kit.shared_process import SharedProcess

OF_ROUTER = Counter("openspot_router_of_a_test_total", "A metric of the router")
OF_NOBODY = Gauge("openspot_of_a_test", "A metric of the process")


def samples(text: bytes) -> set[str]:
    return {line for line in text.decode().splitlines() if not line.startswith("#")}


def test_a_sample_is_shown_by_the_service_that_its_name_or_its_consumer_names_or_else_by_the_first() -> None:
    OF_ROUTER.inc()
    OF_NOBODY.set(3)
    for durable in ("router-deposit", "rest-edge-notifications", "routers-of-others"):
        BUS_CONSUMER_LAG.labels(durable).set(2)
    shared = SharedProcess(("rest-edge", "router"))
    edge, router = (samples(exposition(shared.shows(name))[0]) for name in ("rest-edge", "router"))
    assert "openspot_router_of_a_test_total 1.0" in router
    assert 'openspot_bus_consumer_lag_messages{durable="router-deposit"} 2.0' in router
    assert "openspot_of_a_test 3.0" in edge
    assert 'openspot_bus_consumer_lag_messages{durable="rest-edge-notifications"} 2.0' in edge
    assert 'openspot_bus_consumer_lag_messages{durable="routers-of-others"} 2.0' in edge
    assert {line.split()[0] for line in edge} & {line.split()[0] for line in router} == set()
    names = {line.split()[0] for line in samples(exposition()[0])}
    assert {line.split()[0] for line in edge | router} == names


def test_each_service_shows_the_type_of_every_metric() -> None:
    shared = SharedProcess(("rest-edge", "router"))
    for name in ("rest-edge", "router"):
        assert b"# TYPE openspot_bus_malformed_total counter" in exposition(shared.shows(name))[0]
