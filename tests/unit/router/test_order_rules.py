"""The setting `OPENSPOT_RULES` and what it implies for the router."""

import pytest
from pydantic import ValidationError

from openspot.rest_edge.settings import RestEdgeSettings
from openspot.router.settings import RouterSettings
from openspot.ws_edge.settings import WsEdgeSettings


def test_the_specifications_rules_are_the_default() -> None:
    for settings in (RouterSettings(), RestEdgeSettings(), WsEdgeSettings()):
        assert (settings.rules, settings.has_complete_rules) == ("specification", False)
    assert not RouterSettings().honours_time_in_force


def test_the_complete_rules_honour_times_in_force() -> None:
    assert RouterSettings(rules="complete").honours_time_in_force
    assert RouterSettings(rules="complete", honour_time_in_force=False).honours_time_in_force


def test_times_in_force_can_be_honoured_under_the_specifications_rules() -> None:
    settings = RouterSettings(honour_time_in_force=True)
    assert settings.honours_time_in_force
    assert not settings.has_complete_rules


def test_other_rules_are_refused() -> None:
    with pytest.raises(ValidationError, match="'specification' or 'complete'"):
        RouterSettings.model_validate({"rules": "strict"})
