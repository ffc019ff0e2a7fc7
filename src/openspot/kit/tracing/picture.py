"""The picture of a trace: one bar a span, under each other, along the time since the first one began."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Self

from openspot.kit.tracing.files import SpanLine
from openspot.kit.tracing.steps import PLACES, Step, root_of

_COLOURS = {"rest-edge": "#2f6fde", "router": "#0b8a6a", "engine": "#c2410c", "ledger": "#7c3aed"}
_ROW, _LEFT, _WIDTH, _TOP, _INDENT = 26, 270, 640, 56, 14
_FONT = "font-family='system-ui, sans-serif' font-size='13'"
_NS_A_MS = 1_000_000
_STEPS = {step.value: step for step in Step}


@dataclass(frozen=True, slots=True)
class Picture:
    """The spans of one trace, in the order in which they began; those that a step is a part of come first."""

    spans: Sequence[SpanLine]

    @classmethod
    def of(cls, spans: Sequence[SpanLine]) -> Self | None:
        """The picture of these spans; None if there are none."""
        # A repeated delivery writes a span again. Its first writing is what the order waited for.
        known: dict[tuple[str, str, int], SpanLine] = {}
        for span in spans:
            known.setdefault((span.service, span.name, span.began), span)
        return cls(sorted(known.values(), key=lambda span: (span.began, -span.ended))) if known else None

    @classmethod
    def all_of(cls, spans: Sequence[SpanLine]) -> list[Self]:
        """The pictures of all traces that these spans belong to, in the order in which they began."""
        traces: dict[str, list[SpanLine]] = {}
        for span in spans:
            traces.setdefault(span.trace_id, []).append(span)
        pictures = [picture for trace in traces.values() if (picture := cls.of(trace)) is not None]
        return sorted(pictures, key=lambda picture: picture.began)

    @property
    def began(self) -> int:
        """When the first span began, in ns since 1970."""
        return self.spans[0].began

    @property
    def ended(self) -> int:
        """When the last span ended, in ns since 1970."""
        return max(span.ended for span in self.spans)

    def lines(self, order_id: str, width: int) -> Iterator[str]:
        """The picture as text: a line for the order, and one a span, with a bar of `width` characters for the whole."""
        whole = max(self.ended - self.began, 1)
        yield f"{self._title} {order_id}: {_ms(whole)} until the end of its last step"
        names = [self._name(span) for span in self.spans]
        longest = max(len(name) for name in names)
        for name, span in zip(names, self.spans, strict=True):
            start = min((span.began - self.began) * width // whole, width - 1)
            length = max((span.ended - span.began) * width // whole, 1)
            bar = (" " * start + "█" * length)[:width].ljust(width)
            since, took = _ms(span.began - self.began), _ms(span.ended - span.began)
            yield f"{name.ljust(longest)} │{bar}│ {since:>11} + {took}"

    def svg(self, order_id: str) -> str:
        """The picture as an SVG document."""
        whole, height = max(self.ended - self.began, 1), _TOP + _ROW * len(self.spans) + 40
        scale = _WIDTH / whole
        parts = [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_LEFT + _WIDTH + 110} {height}' {_FONT}>",
            f"<rect width='100%' height='100%' fill='#ffffff'/><text x='16' y='26' font-weight='600' fill='#111827'>"
            f"Order {escape(order_id)}: {_ms(whole)} until the end of its last step</text>",
        ]
        for row, span in enumerate(self.spans):
            top = _TOP + row * _ROW
            x, width = _LEFT + (span.began - self.began) * scale, max((span.ended - span.began) * scale, 2)
            colour = _COLOURS.get(_service(span), "#6b7280")
            parts.append(
                f"<text x='{16 + _INDENT * _depth(span.name)}' y='{top + 15}' fill='#111827'>"
                f"{escape(f'{_service(span)}: {span.name}')}</text>"
                f"<line x1='{_LEFT}' x2='{_LEFT + _WIDTH}' y1='{top + 21}' y2='{top + 21}' stroke='#e5e7eb'/>"
                f"<rect x='{x:.1f}' y='{top + 3}' width='{width:.1f}' height='15' rx='3' fill='{colour}'/>"
                f"<text x='{x + width + 6:.1f}' y='{top + 15}' fill='#4b5563'>{_ms(span.ended - span.began)}</text>"
            )
        return "\n".join([*parts, "</svg>", ""])

    @property
    def _title(self) -> str:
        """What the trace is of, by the step that the others are a part of."""
        step = _STEPS.get(self.spans[0].name)
        titles = {Step.CANCEL: "cancel of order", Step.AMEND: "amendment of order"}
        return "order" if step is None else titles.get(root_of(step), "order")

    def _name(self, span: SpanLine) -> str:
        return f"{'  ' * _depth(span.name)}{_service(span)}: {span.name}"


def _depth(name: str) -> int:
    """How many steps a step is a part of."""
    depth, step = -1, _STEPS.get(name)
    while step is not None:
        depth, step = depth + 1, PLACES[step].parent
    return max(depth, 0)


def _service(span: SpanLine) -> str:
    return span.service.removeprefix("openspot-")


def _ms(ns: int) -> str:
    return f"{ns / _NS_A_MS:.2f} ms"
