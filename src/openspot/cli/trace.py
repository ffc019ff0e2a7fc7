"""`openspot trace`: the way of one order through the platform, as a picture."""

import json
from pathlib import Path
from typing import Annotated

import typer

from openspot.cli.common import console, fail, running_settings
from openspot.kit.settings import Settings

TEXT_WIDTH, BAR_WIDTH_MIN = 64, 10
"""Columns of what stands beside the bars, and of the bars at least."""


def trace(
    order_id: Annotated[str, typer.Argument(help="An order; without it: the newest one that was traced")] = "",
    svg: Annotated[Path | None, typer.Option(help="Write the picture into this file, as SVG.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the spans as JSON.")] = False,
) -> None:
    """Show which part of the platform spent how long on an order, its amendments and its cancel, from the files that
    OPENSPOT_TRACING_ENDPOINT=file writes. The SVG is of its placement, the others are printed below it.

    Exit code 0: shown. 1: the order was not traced, or its spans are not there yet.
    """
    from openspot.kit.tracing import Step
    from openspot.kit.tracing.files import read
    from openspot.kit.tracing.picture import Picture

    spans = list(read(running_settings(Settings).data_dir))
    if not order_id and spans:
        newest = max(spans, key=lambda span: (span.name == Step.ORDER, span.began))
        order_id = str(newest.attributes["order.id"])
    pictures = Picture.all_of([span for span in spans if span.attributes.get("order.id") == order_id])
    if not pictures:
        raise fail(
            f"no span of {f'order {order_id}' if order_id else 'any order'} is there. The platform needs "
            "OPENSPOT_TRACING_ENDPOINT=file, OPENSPOT_TRACING_SHARE=1 traces every order, and spans take a second"
        )
    if as_json:
        typer.echo(json.dumps([span._asdict() for picture in pictures for span in picture.spans]))
        return
    if svg is not None:
        svg.write_text(pictures[0].svg(order_id), encoding="utf-8")
    for picture in pictures:
        for line in picture.lines(order_id, max(console.width - TEXT_WIDTH, BAR_WIDTH_MIN)):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
