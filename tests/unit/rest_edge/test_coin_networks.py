"""The terms of a coin on a network: what an operator may set, and what stays as it is."""

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from openspot.domain.market import AssetScale
from openspot.domain.networks import Network, NetworkAsset, load_networks, with_listed
from openspot.rest_edge.operators.coins import rules
from openspot.rest_edge.operators.coins.rules import network_of, terms_of
from openspot.rest_edge.operators.coins.schemas import CoinNetworkBody

SEED = load_networks()
OWN = Network("dogecoin", "bitcoin", 20, False, {})
KNOWN = SEED | {"dogecoin": OWN}
SCALE = AssetScale("DOGE", 50, 8)
TERMS: dict[str, Any] = {
    "withdrawalFee": "2", "withdrawalMinimum": "10", "depositMinimum": "1", "reason": "arrives on Monday",
}  # fmt: skip
NEW = {"addressForm": "bitcoin", "confirmations": 20}


def body(**fields: Any) -> CoinNetworkBody:
    return CoinNetworkBody.model_validate(TERMS | fields)


def test_terms_are_exact_and_of_the_coins_places() -> None:
    terms, faults = terms_of(SCALE, body(withdrawalFee="0.00000001"))
    assert (terms, faults) == (NetworkAsset("DOGE", Decimal("0.00000001"), Decimal(10), Decimal(1)), [])
    assert terms_of(SCALE, body(withdrawalFee="0.000000001"))[1] == ["withdrawalFee has more than 8 decimal places"]
    assert terms_of(SCALE, body(withdrawalFee="10"))[1] == ["withdrawalMinimum must be greater than withdrawalFee"]


@pytest.mark.parametrize(
    ("name", "fields", "network", "faults"),
    [
        ("new", NEW, Network("new", "bitcoin", 20, False, {}), []),
        ("new", NEW | {"addressForm": "stellar", "takesTag": True}, Network("new", "stellar", 20, True, {}), []),
        ("new", {}, None, [
            "addressForm is needed: the network new is new", "confirmations is needed: the network new is new",
        ]),
        ("new", NEW | {"takesTag": True}, None, ["takesTag must be false: addresses of this form take no tag"]),
        ("ethereum", {}, None, []),
        ("ethereum", {"confirmations": 12, "addressForm": "ethereum", "takesTag": False}, None, []),
        ("ethereum", {"confirmations": 13}, None, ["confirmations of ethereum are 12 and cannot change"]),
        ("ethereum", {"addressForm": "tron"}, None, ["addressForm of ethereum is ethereum and cannot change"]),
        ("dogecoin", {"confirmations": 21}, Network("dogecoin", "bitcoin", 21, False, {}), []),
        ("dogecoin", {"takesTag": True}, None, ["takesTag of dogecoin is false and cannot change"]),
        ("wire", {}, None, ["network wire moves money between banks: its terms are fixed"]),
    ],
)  # fmt: skip
def test_a_known_network_keeps_what_its_addresses_were_made_by(
    name: str, fields: dict[str, Any], network: Network | None, faults: list[str]
) -> None:
    assert network_of(name, body(**fields), KNOWN, SEED) == (network, faults)


def test_the_number_of_networks_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "NETWORKS_MAX", len(KNOWN))
    network, [fault] = network_of("new", body(**NEW), KNOWN, SEED)
    assert network is None and fault.startswith("network: the platform has")


@pytest.mark.parametrize(
    "fields",
    [{"confirmations": 0}, {"confirmations": 10_001}, {"confirmations": "20"}, {"depositMinimum": "0"},
     {"addressForm": "aba"}, {"takesTag": 1}, {"withdrawalFee": "-1"}, {"reason": " "}],
)  # fmt: skip
def test_a_field_of_another_kind_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        body(**fields)


def test_listed_terms_replace_those_of_the_file_and_no_network_of_it() -> None:
    fee = NetworkAsset("BTC", Decimal("0.001"), Decimal("0.01"), Decimal("0.001"))
    doge = NetworkAsset("DOGE", Decimal(2), Decimal(10), Decimal(1))
    other = Network("bitcoin", "tron", 1, True, {})
    known = with_listed(SEED, [OWN, other], [("bitcoin", fee), ("dogecoin", doge), ("nowhere", doge)])
    assert list(known) == [*SEED, "dogecoin"]
    assert known["bitcoin"] == Network("bitcoin", "bitcoin", 2, False, {"BTC": fee})
    assert known["dogecoin"].assets == {"DOGE": doge}
    assert SEED["bitcoin"].assets["BTC"].fee == Decimal("0.0001")
