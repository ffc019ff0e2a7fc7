"""The README's pictures, drawn from what the commands really print.

    .venv/bin/python tools/pictures.py

Starts a platform of its own, records `openspot up` and `openspot replay --sample`, and, where Chromium is
installed, takes a picture of the API documentation.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from openspot.kit.settings import Settings
from openspot.up.child_platform import ChildPlatform
from openspot.up.services import SERVICES

PICTURES = Path(__file__).resolve().parent.parent / "docs/pictures"
WIDTH = 100


def draw(name: str, title: str, printed: str) -> None:
    """Write a terminal picture of `printed`."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere)
        console.print(Text.from_ansi(printed.rstrip()), soft_wrap=False)
    # The reader's own monospace font, instead of one that the picture would fetch from elsewhere.
    drawing = re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title=title), flags=re.DOTALL)
    (PICTURES / name).write_text(drawing, "utf-8")


def with_default_ports(printed: str, settings: Settings) -> str:
    """What would be printed if the ports of the specification were free."""
    for service in SERVICES.values():
        for name in (listener.setting for listener in service.listeners):
            printed = printed.replace(f":{getattr(settings, name)}", f":{type(settings).model_fields[name].default}")
    return re.sub(r"(nats://\S*127\.0\.0\.1:)\d+", r"\g<1>4222", printed)


def main() -> None:
    """Draw all pictures."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="openspot-pictures-"))
    environment = {"FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "OPENSPOT_THROTTLE_ENABLED": "false"}
    platform = ChildPlatform(folder, environment)
    try:
        platform.start()
        printed = platform.output_path.read_text("utf-8").replace(str(folder), ".openspot")
        draw("up.svg", "make up", with_default_ports(printed, platform.settings))
        outcome = subprocess.run(
            [sys.executable, "-m", "openspot.cli", "replay", "--sample"],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"OPENSPOT_DATA_DIR": str(folder), "COLUMNS": str(WIDTH)},
        )
        draw("replay.svg", "openspot replay --sample", outcome.stdout)
        chromium = shutil.which("chromium")
        if chromium is None:
            print("no chromium here: docs.png is left as it is")
            return
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,900"]
        options += ["--virtual-time-budget=8000", f"--user-data-dir={folder / 'chromium'}"]
        options += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        page = f"{platform.settings.rest_url}/docs"
        subprocess.run(
            [chromium, *options, f"--screenshot={PICTURES / 'docs.png'}", page], check=True, capture_output=True
        )
    finally:
        platform.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
