"""Change the code in many small ways, and see whether tests notice: mutation testing with mutmut (ADR 0040).

`make mutants` tries every mutant of the modules that `mutants.toml` lists, which takes hours. It fails if tests notice
less of a package than the table asks for, or miss a mutant of a package whose survivors are all listed, and if an entry
of `surviving_mutants.toml`, which says why a mutant may survive, excuses nothing. A sample (`--sample N`) fails only if
chance does not explain what survived.
`--changed` tries a few mutants of the functions that changed since the last release, as many as 75 seconds allow:
`make proof` does so.

All of it happens in a copy of the project in a temporary folder. The tests of each mutant have a deadline, and a mutant
that does not end in time counts as noticed.
"""

import argparse
import difflib
import json
import math
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CODE = "src/openspot"
TABLE = "tools/mutants.toml"
LISTED = "tools/surviving_mutants.toml"
LEFT_OUT = (
    ".git",
    ".venv",
    ".openspot",
    ".external",
    ".hypothesis",
    ".*_cache",
    "__pycache__",
    "*.egg-info",
    "dist",
    "node_modules",
    "target",
    "test-results",
)
"""What the copy does not have: what is built, installed or kept, not written. A unit test may read all the rest."""
CHANGED_MUTANTS = 60
CHANGED_MODULES = 6
"""The most mutants of a run for what changed, and the most modules that they come from."""
CHANGED_S, CHANGED_S_LEAST, END_S = 75.0, 30.0, 30.0
"""How long a run for what changed takes, at least for its mutants, and how long mutmut may take to stop."""
NOTICED = frozenset({1, 3, 24, 36, 152, 255, -24, -11, -9})
"""mutmut's exit codes of a mutant whose tests failed, ran into the deadline, or crashed."""
UNNOTICED = frozenset({0, 5, 33})
"""mutmut's exit codes of a mutant whose tests passed, or that no test calls."""


class MutantsError(Exception):
    """The mutants could not be tried; the message says why."""


@dataclass(frozen=True)
class Package:
    """Modules (patterns below `src/openspot`) and the tests that have to notice each change of them."""

    name: str
    modules: tuple[str, ...]
    tests: tuple[str, ...]
    least: int
    """The share of its mutants that tests have to notice, in percent."""
    every_survivor_listed: bool = False

    def files(self, root: Path) -> list[str]:
        """The paths of the modules below the repository."""
        paths = (path.relative_to(root / CODE).as_posix() for path in sorted((root / CODE).rglob("*.py")))
        return [f"{CODE}/{path}" for path in paths if any(fnmatch(path, pattern) for pattern in self.modules)]


@dataclass(frozen=True)
class Survivor:
    """A mutant that no test noticed: mutmut's name, its module below `src/openspot`, and the lines that it changes."""

    name: str
    module: str
    function: str
    change: str


@dataclass(frozen=True)
class Outcome:
    """What became of the mutants of a package."""

    package: Package
    tried: int
    survivors: tuple[Survivor, ...]
    is_whole: bool

    @property
    def killed(self) -> int:
        """How many mutants the tests noticed."""
        return self.tried - len(self.survivors)


def read_table(root: Path = ROOT) -> tuple[list[Package], list[str]]:
    """The packages, and the patterns of lines that stay as they are."""
    table = tomllib.loads((root / TABLE).read_text("utf-8"))
    packages = [
        Package(
            entry["name"],
            tuple(entry["modules"]),
            tuple(entry["tests"]),
            entry.get("least_killed", table["least_killed"]),
            entry.get("every_survivor_listed", False),
        )
        for entry in table["package"]
    ]
    return packages, [entry["pattern"] for entry in table["noise"]]


def read_listed(root: Path = ROOT) -> list[dict[str, str]]:
    """The survivors that are known, each with `module`, `function`, `change` (part of the new lines) and `reason`."""
    entries: list[dict[str, str]] = tomllib.loads((root / LISTED).read_text("utf-8")).get("survivor", [])
    return entries


def excuses(entry: dict[str, str], survivor: Survivor) -> bool:
    """Whether an entry of the list is about this survivor."""
    place = (entry["module"], entry["function"]) == (survivor.module, survivor.function)
    return place and entry["change"] in survivor.change


def place_of(mutant: str) -> tuple[str, str]:
    """Module below `src/openspot` and function of a mutant: `openspot.a.b.xǁCǁf__mutmut_3` is `a/b.py` and `C.f`."""
    name, _, _ = mutant.partition("__mutmut_")
    module, _, mangled = name.rpartition(".")
    function = mangled[1:].strip("ǁ").replace("ǁ", ".") if mangled.startswith("xǁ") else mangled.removeprefix("x_")
    return module.removeprefix("openspot.").replace(".", "/") + ".py", function


def chosen(mutants: Iterable[str], most: int | None, seed: int) -> list[str]:
    """At most `most` mutants at random, the same ones for the same seed; all of them without a number."""
    ordered = sorted(mutants)
    if most is None or len(ordered) <= most:
        return ordered
    return sorted(random.Random(seed).sample(ordered, most))


def is_enough(killed: int, tried: int, least: int, *, is_whole: bool) -> bool:
    """Whether tests notice enough. A sample may fall short by what chance explains: three standard errors."""
    share = least / 100
    tolerance = 0.0 if is_whole else 3 * math.sqrt(tried * share * (1 - share))
    return killed >= tried * share - tolerance


def faults(outcomes: Sequence[Outcome], listed: Sequence[dict[str, str]]) -> Iterator[str]:
    """What is wrong with the outcomes: too few noticed, a survivor that must be listed, an entry without a survivor."""
    for outcome in outcomes:
        name, least = outcome.package.name, outcome.package.least
        if not is_enough(outcome.killed, outcome.tried, least, is_whole=outcome.is_whole):
            yield f"{name}: tests notice {outcome.killed} of {outcome.tried} mutants, less than {least} %"
        if outcome.package.every_survivor_listed:
            for survivor in outcome.survivors:
                if not any(excuses(entry, survivor) for entry in listed):
                    yield f"{name}: {survivor.name} survives and is not in {LISTED}"
        if outcome.is_whole:
            modules = [file.removeprefix(f"{CODE}/") for file in outcome.package.files(ROOT)]
            for entry in listed:
                idle = not any(excuses(entry, survivor) for survivor in outcome.survivors)
                if entry["module"] in modules and idle:
                    yield f"{LISTED}: nothing survives as {entry['module']} {entry['function']} {entry['change']!r}"


class Copy:
    """A copy of the project in which mutmut works on one package."""

    def __init__(self, folder: Path, files: Sequence[str], tests: Sequence[str], noise: Sequence[str]) -> None:
        self.folder = folder
        self.files = files
        shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), dirs_exist_ok=True)
        copied = sorted(path.name for path in folder.iterdir())
        options = {
            "source_paths": ["src"],
            "only_mutate": list(files),
            "also_copy": [name for name in copied if name not in {"src", "tests", "pyproject.toml"}],
            "do_not_mutate_patterns": list(noise),
            "pytest_add_cli_args": ["-p", "no:cacheprovider", "--hypothesis-seed=1"],
            "pytest_add_cli_args_test_selection": list(tests),
            "timeout_multiplier": 10.0,
            "use_git_change_detection": False,
        }
        with (folder / "pyproject.toml").open("a", encoding="utf-8") as config:
            config.write("\n[tool.mutmut]\n")
            config.writelines(f"{name} = {json.dumps(value)}\n" for name, value in options.items())

    def mutants(self) -> list[str]:
        """Make the mutants and learn which tests call what.

        Raises `MutantsError` if a test fails without any change.
        """
        answer = self._mutmut("run", "none at all")
        if "nothing matches" not in answer:
            raise MutantsError(f"mutmut did not come to the mutants:\n{answer[-4000:]}")
        return list(self._exit_codes())

    def tried(self, mutants: Collection[str], seconds: float | None = None) -> tuple[int, tuple[Survivor, ...]]:
        """Run the tests against each mutant; returns how many were tried, and which survived.

        With `seconds`, those that are not through by then do not count. Without, raises `MutantsError` for a mutant
        that was not tried.
        """
        answer = self._mutmut("run", "--max-children", str(os.cpu_count() or 2), *mutants, seconds=seconds)
        survivors, noticed = [], 0
        codes = self._exit_codes()
        for name in mutants:
            code = codes.get(name)
            if code in UNNOTICED:
                module, function = place_of(name)
                survivors.append(Survivor(name, module, function, self._change(module, name)))
            elif code in NOTICED:
                noticed += 1
            elif seconds is None or code is not None:
                raise MutantsError(f"{name} ended with {code}:\n{answer[-4000:]}")
        return noticed + len(survivors), tuple(survivors)

    def _mutmut(self, *arguments: str, seconds: float | None = None) -> str:
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        # With a process group of its own, so that nothing of it is left.
        with subprocess.Popen(
            [sys.executable, "-m", "mutmut", *arguments],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as running:
            try:
                try:
                    return running.communicate(timeout=seconds)[0]
                except subprocess.TimeoutExpired:
                    # mutmut then ends the tests of the mutants that are under way, and keeps what it knows.
                    running.send_signal(signal.SIGINT)
                    return running.communicate(timeout=END_S)[0]
            except subprocess.TimeoutExpired:
                return ""
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)

    def _exit_codes(self) -> dict[str, int | None]:
        codes: dict[str, int | None] = {}
        for file in self.files:
            record = self.folder / "mutants" / f"{file}.meta"
            # mutmut may have been stopped while it wrote one: none of these mutants counts.
            with suppress(FileNotFoundError, json.JSONDecodeError):
                codes |= json.loads(record.read_text("utf-8"))["exit_code_by_key"]
        return codes

    def _change(self, module: str, mutant: str) -> str:
        mutated = self.folder / "mutants" / CODE / module
        lines = mutated.read_text("utf-8").splitlines()
        spans: dict[str, Any] = json.loads(mutated.with_name(mutated.name + ".spans").read_text("utf-8"))["spans"]
        own = mutant.rpartition(".")[2]
        mangled = own.partition("__mutmut_")[0]
        before, after = (
            [line.replace(name, mangled) for line in lines[spans[name][0] - 1 : spans[name][1]]]
            for name in (f"{mangled}__mutmut_orig", own)
        )
        changed = list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]
        return "\n".join(line for line in changed if not line.startswith("@@"))


def try_out(package: Package, noise: Sequence[str], most: int | None, seed: int) -> Outcome:
    """Try the mutants of a package, or some of them."""
    files, tests = package.files(ROOT), expanded(package.tests)
    with tempfile.TemporaryDirectory(prefix="openspot-mutants-") as folder:
        copy = Copy(Path(folder), files, tests, noise)
        every = copy.mutants()
        names = chosen(every, most, seed)
        return Outcome(package, *copy.tried(names), is_whole=len(names) == len(every))


def expanded(tests: Iterable[str]) -> list[str]:
    """The paths of tests, with patterns replaced by the files that they stand for."""
    return [path.relative_to(ROOT).as_posix() for pattern in tests for path in sorted(ROOT.glob(pattern))]


def git(*arguments: str) -> str:
    """What git answers. Raises `MutantsError` if it fails, for example without a repository."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MutantsError(done.stderr.strip())
    return done.stdout


def last_release() -> str:
    """The newest tag, or the commit that wrote the version of the project."""
    try:
        return git("describe", "--tags", "--abbrev=0").strip()
    except MutantsError:
        return git("log", "-1", "--format=%H", "-G^version = ", "--", "pyproject.toml").strip()


def changed_functions(base: str, files: Iterable[str]) -> set[tuple[str, str]]:
    """Module and function (as in `place_of`) of what reads differently since `base`. Comments do not count."""
    from mutmut.mutation.file_mutation import compute_function_hashes

    found = set()
    differing = set(git("diff", "--name-only", base, "--", CODE).splitlines())
    older = set(git("ls-tree", "-r", "--name-only", base, "--", CODE).splitlines())
    for file in sorted(differing.intersection(files)):
        before = compute_function_hashes(git("show", f"{base}:{file}")) if file in older else {}
        after = compute_function_hashes((ROOT / file).read_text("utf-8"))
        dotted = file.removeprefix("src/").removesuffix(".py").replace("/", ".")
        found |= {place_of(f"{dotted}.{key}") for key, value in after.items() if before.get(key) != value}
    return found


def try_changed(packages: Sequence[Package], noise: Sequence[str], base: str, seed: int) -> Outcome | None:
    """Try some mutants of the functions that changed since `base`, against the tests of their packages."""
    began = time.monotonic()
    changed = changed_functions(base, [file for package in packages for file in package.files(ROOT)])
    modules = chosen({module for module, _ in changed}, CHANGED_MODULES, seed)
    files = [f"{CODE}/{module}" for module in modules]
    if not files:
        return None
    judges = [package for package in packages if not set(files).isdisjoint(package.files(ROOT))]
    tests = tuple(path for judge in judges for path in judge.tests)
    package = Package("changed", tuple(modules), tests, min(judge.least for judge in judges))
    with tempfile.TemporaryDirectory(prefix="openspot-mutants-") as folder:
        copy = Copy(Path(folder), files, expanded(package.tests), noise)
        names = chosen((name for name in copy.mutants() if place_of(name) in changed), CHANGED_MUTANTS, seed)
        seconds = max(CHANGED_S - (time.monotonic() - began), CHANGED_S_LEAST)
        return Outcome(package, *copy.tried(names, seconds), is_whole=False) if names else None


def show(outcome: Outcome, listed: Sequence[dict[str, str]]) -> None:
    """Print the survivors that are not listed, and a line of figures."""
    known = [survivor for survivor in outcome.survivors if any(excuses(entry, survivor) for entry in listed)]
    for survivor in outcome.survivors:
        if survivor not in known:
            print(f"\n{survivor.name}\n{survivor.change}")
    rate = 100 * outcome.killed / outcome.tried if outcome.tried else 100.0
    part = "all" if outcome.is_whole else "sample"
    print(
        f"\n{outcome.package.name}: {outcome.killed} of {outcome.tried} mutants killed ({rate:.1f} %, {part}), "
        f"{len(outcome.survivors)} survived, {len(known)} of them listed",
        flush=True,
    )


def main() -> None:
    """Try mutants, print what survived, and exit with 1 if tests notice too little."""
    packages, noise = read_table()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="*", choices=[[], *(package.name for package in packages)], default=[])
    parser.add_argument("--sample", type=int, help="try this many random mutants of each package")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="choose the sample of this number")
    parser.add_argument("--changed", action="store_true", help="try a few mutants of what changed since --base")
    parser.add_argument("--base", help="the commit to compare with; otherwise the last release")
    options = parser.parse_args()
    if options.changed and not (ROOT / ".git").exists():
        print("Without a git repository nobody knows what changed: no mutant is tried.")
        return
    listed = read_listed()
    print(f"Seed {options.seed}", flush=True)
    outcomes = []
    try:
        if options.changed:
            outcome = try_changed(packages, noise, options.base or last_release(), options.seed)
            outcomes += [outcome] if outcome else []
        else:
            wanted = [package for package in packages if not options.packages or package.name in options.packages]
            for package in wanted:
                outcomes.append(try_out(package, noise, options.sample, options.seed))
                show(outcomes[-1], listed)
    except MutantsError as error:
        sys.exit(f"Mutants cannot be tried: {error}")
    if options.changed:
        for outcome in outcomes:
            show(outcome, listed)
    found = list(faults(outcomes, listed))
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
