"""Generate the Python code of proto/ into src/openspot/contracts/gen. `--check` only compares.

Every service gets its gRPC code; AdminService also that of Connect (JSON over HTTP and gRPC-Web).

The output is committed; the test-suite regenerates it and fails on a difference.
"""

import argparse
import filecmp
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

CONNECT_SOURCES = ("exchange/v1/admin.proto",)
ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src/openspot/contracts/gen"
PACKAGE_DOCUMENTATION = '"""Generated from proto/ by tools/generate_protocol.py; not edited by hand."""\n'


def generate(target: Path) -> None:
    """Write the generated package below `target`. Raises RuntimeError if protoc fails."""
    sources = sorted(str(path.relative_to(ROOT / "proto")) for path in (ROOT / "proto").rglob("*.proto"))
    _protoc(f"--python_out={target}", f"--pyi_out={target}", f"--grpc_python_out={target}", *sources)
    plugin = Path(sys.executable).with_name("protoc-gen-connectrpc")
    _protoc(
        f"--plugin=protoc-gen-connectrpc={plugin}",
        f"--connectrpc_out={target}",
        "--connectrpc_opt=protobuf=google",
        *CONNECT_SOURCES,
    )
    for folder in (target, target / "exchange", target / "exchange/v1"):
        (folder / "__init__.py").write_text(PACKAGE_DOCUMENTATION, "utf-8")
    for path in (*target.rglob("*_pb2*.py"), *target.rglob("*_pb2*.pyi")):
        text = path.read_text("utf-8")
        path.write_text(
            text.replace("from exchange.v1 import", "from openspot.contracts.gen.exchange.v1 import"), "utf-8"
        )


def _protoc(*arguments: str) -> None:
    includes = [f"--proto_path={ROOT / 'proto'}", f"--proto_path={files('grpc_tools') / '_proto'}"]
    if protoc.main(["protoc", *includes, *arguments]) != 0:
        raise RuntimeError("protoc failed")


def differences(fresh: Path) -> list[str]:
    """Names of the generated files that differ from the committed ones, or exist on one side only."""
    names = {
        str(path.relative_to(base))
        for base in (fresh, TARGET)
        for path in base.rglob("*.py*")
        if path.suffix in (".py", ".pyi")
    }
    return sorted(
        name
        for name in names
        if not (fresh / name).exists()
        or not (TARGET / name).exists()
        or not filecmp.cmp(fresh / name, TARGET / name, shallow=False)
    )


def main() -> int:
    """Generate, or with --check answer 1 and name the files that are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        TARGET.mkdir(parents=True, exist_ok=True)
        generate(TARGET)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        stale = differences(Path(folder))
    for name in stale:
        print(f"out of date: src/openspot/contracts/gen/{name}", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
