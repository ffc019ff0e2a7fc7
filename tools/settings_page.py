"""docs/operations/settings.md: every setting, its default and its meaning, from the Settings class itself."""

import argparse
import sys
from pathlib import Path

from pydantic.fields import FieldInfo

from openspot.kit.settings import Settings

PAGE = Path(__file__).resolve().parent.parent / "docs/operations/settings.md"
UNPREFIXED = {"database_url": "DATABASE_URL", "nats_url": "NATS_URL", "jwt_secret": "JWT_SECRET"}


def bounds(field: FieldInfo) -> str:
    """The bounds of a number, as text."""
    parts = []
    for constraint in field.metadata:
        for name, sign in (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<")):
            if (value := getattr(constraint, name, None)) is not None:
                parts.append(f"{sign} {value}")
    return ", ".join(parts)


def render() -> str:
    """The page."""
    lines = [
        "# Settings",
        "",
        "Generated from `src/openspot/kit/settings.py` by `make conformance`; not edited by hand. Each is an",
        "environment variable, read once at start.",
        "",
        "| Variable | Default | Bounds | Meaning |",
        "|---|---|---|---|",
    ]
    for name, field in Settings.model_fields.items():
        variable = UNPREFIXED.get(name, f"OPENSPOT_{name.upper()}")
        default = str(field.default) if field.default != "" else "(empty)"
        lines.append(f"| `{variable}` | `{default}` | {bounds(field)} | {field.description} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page; with --check answer 1 if it is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    page = render()
    if parser.parse_args().check:
        if PAGE.exists() and PAGE.read_text("utf-8") == page:
            return 0
        print("docs/operations/settings.md is out of date: run `make conformance`", file=sys.stderr)
        return 1
    PAGE.write_text(page, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
