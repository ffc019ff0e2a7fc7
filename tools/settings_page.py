"""docs/operations/settings.md: every setting, its default and its meaning, from the settings classes themselves."""

import argparse
import sys
from pathlib import Path

from pydantic.fields import FieldInfo

from openspot.kit.settings import Settings, variable
from openspot.up.services import DESCRIPTORS

PAGE = Path(__file__).resolve().parent.parent / "docs/operations/settings.md"


def bounds(field: FieldInfo) -> str:
    """The bounds of a number, as text."""
    parts = []
    for constraint in field.metadata:
        for name, sign in (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<")):
            if (value := getattr(constraint, name, None)) is not None:
                parts.append(f"{sign} {value}")
    return ", ".join(parts)


def groups() -> dict[type[Settings], list[str]]:
    """The settings classes with fields of their own, shared ones first, and the titles of the services that read them.

    Packages without processes are commands; they are named only where nobody else reads a class.
    """
    readers: dict[type[Settings], list[str]] = {}
    for descriptor in sorted(DESCRIPTORS, key=lambda descriptor: not descriptor.processes):
        for kind in reversed(descriptor.settings.__mro__):
            if issubclass(kind, Settings) and vars(kind).get("__annotations__"):
                titles = readers.setdefault(kind, [])
                if descriptor.processes or not titles:
                    titles.append(descriptor.title)
    return dict(sorted(readers.items(), key=lambda item: -len(item[1])))


def render() -> str:
    """The page."""
    lines = [
        "# Settings",
        "",
        "Generated from the `settings.py` of the packages by `make conformance`; not edited by hand. Each setting is",
        "an environment variable, read once at start. A service reads the settings of every process and its own. A",
        "value that cannot be ends it with the variable's name and the reason.",
        "",
        "The address that a process listens on and the address under which others reach it are two settings, so that",
        "services can stand on different hosts.",
    ]
    for kind, titles in groups().items():
        title = "Every process" if kind is Settings else ", ".join(titles)
        lines += ["", f"## {title}", "", "| Variable | Default | Bounds | Meaning |", "|---|---|---|---|"]
        for name in vars(kind)["__annotations__"]:
            if name in kind.model_fields:
                field = kind.model_fields[name]
                default = str(field.default) if field.default != "" else "(empty)"
                lines.append(f"| `{variable(name, kind)}` | `{default}` | {bounds(field)} | {field.description} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page; with --check return 1 if it is out of date."""
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
