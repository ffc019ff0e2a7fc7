"""The browser pages of web/: build, check, generate, develop.

    tools/web.py build      web/dist, unless it is up to date already
    tools/web.py check      format, types, lint, unit tests, generated code; --quick: without format and presets' rules
    tools/web.py generate   web/gen from proto/ and docs/protocol/openapi/
    tools/web.py format     format the code
    tools/web.py lock       renew web/package-lock.json and web/browser/package-lock.json
    tools/web.py dev        serve the pages from their sources, on port 3000

Exit code 0: done. 1: failed. 2: Node or its packages are missing and cannot be installed.

`check` and `generate` need the packages for development (`python3 tools/setup.py --development`).
"""

import argparse
import filecmp
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from progress import CommandFailedError, Part, Progress
from setup import PYTHON, ROOT, node_installer
from web_build import WEB, Node, WebError, build, find_node, inputs_digest, install_packages, only_one, program_of

GENERATED = WEB / "gen"
OPENAPI = ROOT / "docs/protocol/openapi"
OPENAPI_DOCUMENTS = ("custody", "positions", "rest-edge", "subscriptions")
"""Of the services that the pages call."""
SCENARIOS = ROOT / "tests/scenarios/margin"
"""Tables that unit tests of the pages read."""
CHECKED_STAMP = ".openspot-checked"
NOT_POSSIBLE = 2
"""Exit code if Node or its packages are missing and cannot be installed."""
TYPES_AND_LINT = WEB / "eslint/types-and-lint.js"


def generate(part: Part, node: Node, target: Path) -> None:
    """Write the TypeScript of proto/ and of the OpenAPI documents below `target`. Raises CommandFailedError."""
    plugin = program_of("@bufbuild/protoc-gen-es")
    sources = sorted(path.relative_to(ROOT / "proto") for path in (ROOT / "proto").rglob("*.proto"))
    command: list[str | Path] = [
        PYTHON,
        *("-m", "grpc_tools.protoc", f"--proto_path={ROOT / 'proto'}"),
        f"--plugin=protoc-gen-es={plugin}",
        f"--es_out={target}",
        *("--es_opt=target=ts", "--es_opt=import_extension=ts"),
        *sources,
    ]
    part.run(command, folder=ROOT, environment=node.environment)
    for name in OPENAPI_DOCUMENTS:
        output = target / "openapi" / f"{name}.ts"
        options = ("--output", output, "--default-non-nullable=false")
        node.run_tool(part, "openapi-typescript", OPENAPI / f"{name}.json", *options)


def stale_generated(part: Part, node: Node) -> list[str]:
    """Names of generated files that differ from the committed ones, or exist on one side only."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(part, node, fresh)
        names = {str(path.relative_to(base)) for base in (fresh, GENERATED) for path in base.rglob("*.ts")}
        return sorted(
            name
            for name in names
            if not (fresh / name).exists()
            or not (GENERATED / name).exists()
            or not filecmp.cmp(fresh / name, GENERATED / name, shallow=False)
        )


def checked_digest(scope: str) -> str:
    """A digest over everything that the checks of a scope, "all" or "quick", read."""
    digest = hashlib.sha256(f"{scope} {inputs_digest()}".encode())
    documents = (OPENAPI / f"{name}.json" for name in OPENAPI_DOCUMENTS)
    scenarios = sorted(SCENARIOS.glob("*.txt"))
    for path in (Path(__file__), *documents, *scenarios, *sorted((ROOT / "proto").rglob("*.proto"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def check(progress: Progress, part: Part, *, quick: bool) -> None:
    """Run every check of web/, unless all passed with the files as they are. `quick` leaves out the format, and the
    lint rules of presets.

    Types and lint take as long as all the others, which run beside them. Raises WebError or CommandFailedError.
    """
    node = development_node(part)
    stamp = WEB / "node_modules" / CHECKED_STAMP
    all_passed, quick_passed = checked_digest("all"), checked_digest("quick")
    passed = stamp.read_text("utf-8") if stamp.exists() else ""
    if passed == all_passed or (quick and passed == quick_passed):
        part.done("checks passed before")
        return
    with ThreadPoolExecutor() as threads:
        others = threads.submit(
            check_all_but_lint, progress.part("other checks"), node, quick=quick, quick_passed=passed == quick_passed
        )
        try:
            part.step("types and lint")
            node.run(part, TYPES_AND_LINT, *(["--own-rules"] if quick else []))
            part.done("types and lint passed")
            others.result()
        except BaseException:
            # What still runs would be waited for.
            progress.cancel()
            raise
    stamp.write_text(quick_passed if quick else all_passed, "utf-8")


def check_all_but_lint(part: Part, node: Node, *, quick: bool, quick_passed: bool) -> None:
    """Check unit tests and generated code, unless they passed, and, if not `quick`, the format.

    Raises WebError or CommandFailedError at the first that fails.
    """
    if not quick:
        part.step("format")
        node.run_tool(part, "prettier", "--check", "--log-level", "warn", ".")
    if quick_passed:
        part.done("format passed; unit tests and generated code passed before")
        return
    part.step("unit tests")
    node.run_tool(part, "vitest", "run", "--reporter=dot")
    part.step("generated code")
    if stale := stale_generated(part, node):
        raise WebError(f"out of date, run `tools/web.py generate`: {', '.join(f'web/gen/{name}' for name in stale)}")
    part.done(f"{'' if quick else 'format, '}unit tests and generated code passed")


class NotPossibleError(WebError):
    """Node or its packages are missing and cannot be installed."""


def development_node(part: Part) -> Node:
    """Node, with every package of web/ installed. Raises NotPossibleError."""
    try:
        with only_one():
            node = find_node(part, node_installer())
            install_packages(part, node, development=True)
    except CommandFailedError as error:
        lines = "\n".join(error.lines)
        raise NotPossibleError(f"the packages could not be installed ({error}):\n{lines}") from error
    except (WebError, OSError) as error:
        raise NotPossibleError(str(error)) from error
    return node


def renew_locks(part: Part, node: Node) -> None:
    """Renew the package-lock.json of web/ and web/browser/, without addresses. Raises CommandFailedError."""
    for folder in (WEB, WEB / "browser"):
        node.run(part, node.npm, "install", "--package-lock-only", "--no-progress", folder=folder)
        path = folder / "package-lock.json"
        lock = json.loads(path.read_text("utf-8"))
        for package in lock["packages"].values():
            # Advertisement, and the only addresses that .npmrc leaves.
            package.pop("funding", None)
        text = json.dumps(lock, indent=2, ensure_ascii=False) + "\n"
        assert "://" not in text, "a lock file holds no download address"
        path.write_text(text, "utf-8")


def carry_out(command: str, progress: Progress, *, quick: bool) -> None:
    """Carry out one command; `quick` is for `check`. Raises WebError or CommandFailedError."""
    part = progress.part(command)
    if command == "build":
        build(part, node_installer())
    elif command == "check":
        check(progress, part, quick=quick)
    elif command == "lock":
        renew_locks(part, find_node(part, node_installer()))
    elif command == "generate":
        node = development_node(part)
        shutil.rmtree(GENERATED, ignore_errors=True)
        GENERATED.mkdir()
        generate(part, node, GENERATED)
    else:
        development_node(part).run_tool(part, "prettier", "--write", "--log-level", "warn", ".")


def serve_sources() -> None:
    """Serve the pages from their sources until Ctrl-C. Raises WebError or CommandFailedError."""
    with Progress("web") as progress:
        node = development_node(progress.part("packages"))
    vite = WEB / "node_modules/vite/bin/vite.js"
    subprocess.run([node.program, vite, "dev"], cwd=WEB, env=node.environment, check=False)


def main() -> int:
    """Run a command; returns 1 if it fails, after a message that says what to do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("build", "check", "generate", "format", "lock", "dev"))
    parser.add_argument("--quick", action="store_true", help="of `check`: without format and presets' rules")
    options = parser.parse_args()
    command = options.command
    if options.quick and command != "check":
        parser.error("--quick is an option of `check`")
    try:
        if command == "dev":
            serve_sources()
        else:
            with Progress("web") as progress:
                carry_out(command, progress, quick=options.quick)
    except CommandFailedError as error:
        print("\n".join(error.lines), f"web: {error}", sep="\n", file=sys.stderr)
        return 1
    except NotPossibleError as error:
        print(f"web: {error}", file=sys.stderr)
        return NOT_POSSIBLE
    except WebError as error:
        print(f"web: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
