"""Lets all rules look at the whole story of an engine, command by command."""

from collections.abc import Sequence

from openspot.domain.volatility import VolatilityRules
from openspot.engine.core.protocol import MatchingCore
from openspot.engine.core.records import Command, decode_events
from tests.simulation.engine import Committed
from tests.simulation.rules.holds import HoldRule, Shown
from tests.simulation.rules.ids import ClientIdRule, ExpiryRule
from tests.simulation.rules.immediacy import ImmediacyRule
from tests.simulation.rules.lists import ListRule
from tests.simulation.rules.phases import PhaseRule
from tests.simulation.rules.queues import QueueRule
from tests.simulation.rules.replacements import ReplacementRule
from tests.simulation.rules.story import Story
from tests.simulation.rules.triggers import TriggerRule
from tests.simulation.rules.volatility import VolatilityRule


class RulesAuditor:
    """What is wrong with the orders of a journal, by the complete rules. `findings` lists it."""

    def __init__(
        self,
        journal: Sequence[Committed],
        records: bytes,
        shown: list[Shown],
        volatility: VolatilityRules,
        begun_at: Sequence[int],
    ) -> None:
        self.story = story = Story(journal)
        self.triggers, self.phases, self.lists = TriggerRule(story), PhaseRule(story), ListRule(story)
        holds = HoldRule(story, self.lists, shown)
        volatile = VolatilityRule(self.phases, journal, volatility, begun_at)
        self.queues = QueueRule(story, shown)
        self._rules = (
            self.triggers, self.phases, self.lists, holds, ClientIdRule(story), ExpiryRule(story), volatile,
            self.queues, ReplacementRule(story), ImmediacyRule(story),
        )  # fmt: skip
        events = list(decode_events(records))[::-1]
        for number, command in enumerate(story.commands, 1):
            if isinstance(command, Command):
                for rule in self._rules:
                    rule.begin(command)
            while events and events[-1].command_sequence == number:
                event = events.pop()
                for rule in self._rules:
                    rule.take(event)
                story.take(event)
            for rule in self._rules:
                rule.end(number)

    def finish(self, time_ns: int, core: MatchingCore) -> None:
        """Look at the engine at rest: what it still has to do, and what its core says about the orders that wait."""
        for rule in self._rules:
            rule.finish(time_ns)
        shown = {
            order.order_id: (order.trigger_price, order.limit, order.fired_price) for order in core.waiting_orders()
        }
        if shown != self.triggers.present:
            self.triggers.findings.append(f"orders {shown} wait, and {self.triggers.present} is right")

    @property
    def findings(self) -> list[str]:
        """The findings of all rules."""
        return [finding for rule in self._rules for finding in rule.findings]
