"""The mutation tester: what it tries, when it is content, and that its tables name what is there."""

import json
import sys
from pathlib import Path

import mutants
import pytest
from mutants import (
    Copy,
    MutantsError,
    Outcome,
    Package,
    Survivor,
    chosen,
    excuses,
    expanded,
    faults,
    is_enough,
    place_of,
)

PACKAGE = Package("margin", ("margin/figures.py",), ("tests/unit/margin",), 90)
STRICT = Package("margin", ("margin/figures.py",), ("tests/unit/margin",), 90, every_survivor_listed=True)
SURVIVOR = Survivor("openspot.margin.figures.x_level__mutmut_1", "margin/figures.py", "level", "-    a\n+    b + 1")
ENTRY = {"module": "margin/figures.py", "function": "level", "change": "b + 1", "reason": "It is the same."}


@pytest.mark.parametrize(
    ("mutant", "place"),
    [
        ("openspot.domain.money.x_to_amount__mutmut_12", ("domain/money.py", "to_amount")),
        ("openspot.domain.fair_price.trades.x__folded__mutmut_1", ("domain/fair_price/trades.py", "_folded")),
        ("openspot.http.throttle.xǁThrottleǁ_take__mutmut_3", ("http/throttle.py", "Throttle._take")),
    ],
)
def test_the_name_of_a_mutant_says_its_module_and_function(mutant: str, place: tuple[str, str]) -> None:
    assert place_of(mutant) == place


def test_a_sample_depends_on_its_seed_only() -> None:
    names = [f"m{number}" for number in range(100)]
    assert chosen(names, 5, 7) == chosen(reversed(names), 5, 7) != chosen(names, 5, 8)
    assert len(chosen(names, 5, 7)) == 5
    assert chosen(names, None, 7) == chosen(names, 100, 7) == sorted(names)


@pytest.mark.parametrize(
    ("killed", "tried", "is_whole", "enough"),
    [
        (90, 100, True, True),
        (89, 100, True, False),
        (0, 0, True, True),
        # 54 of 60 are 90 %; chance explains 6.97 less.
        (48, 60, False, True),
        (47, 60, False, False),
    ],
)
def test_nine_of_ten_must_be_noticed_and_chance_excuses_a_sample(
    killed: int, tried: int, is_whole: bool, enough: bool
) -> None:
    assert is_enough(killed, tried, 90, is_whole=is_whole) is enough


def test_an_entry_excuses_one_change_of_one_function() -> None:
    assert excuses(ENTRY, SURVIVOR)
    for field in ("module", "function", "change"):
        assert not excuses({**ENTRY, field: "other"}, SURVIVOR)


def test_a_package_whose_survivors_are_listed_may_have_no_other() -> None:
    assert list(faults([Outcome(PACKAGE, 60, (SURVIVOR,), is_whole=True)], [])) == []
    assert list(faults([Outcome(STRICT, 60, (SURVIVOR,), is_whole=True)], [ENTRY])) == []
    assert list(faults([Outcome(STRICT, 60, (SURVIVOR,), is_whole=False)], [])) == [
        "margin: openspot.margin.figures.x_level__mutmut_1 survives and is not in tools/surviving_mutants.toml"
    ]


def test_an_entry_that_excuses_nothing_any_more_is_a_fault_of_a_whole_run() -> None:
    assert list(faults([Outcome(PACKAGE, 60, (), is_whole=False)], [ENTRY])) == []
    assert list(faults([Outcome(PACKAGE, 60, (), is_whole=True)], [ENTRY])) == [
        "tools/surviving_mutants.toml: nothing survives as margin/figures.py level 'b + 1'"
    ]


def test_too_many_survivors_are_a_fault() -> None:
    outcome = Outcome(PACKAGE, 5, (SURVIVOR,), is_whole=True)
    assert list(faults([outcome], [])) == ["margin: tests notice 4 of 5 mutants, less than 90 %"]


def test_what_changed_is_what_reads_differently(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    changed, new = "src/openspot/domain/changed.py", "src/openspot/domain/new.py"
    for file, text in (
        (changed, "def same():\n    return 1  # another comment\n\n\nclass A:\n    def f(self):\n        return 2\n"),
        (new, "def fresh():\n    return 1\n"),
    ):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, "utf-8")
    answers = {
        "diff": f"{changed}\n{new}\nsrc/openspot/other.py\n",
        "ls-tree": f"{changed}\n",
        "show": "def same():\n    return 1\n\n\nclass A:\n    def f(self):\n        return 1\n",
    }
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "git", lambda command, *_: answers[command])
    assert mutants.changed_functions("v1", [changed, new]) == {("domain/changed.py", "A.f"), ("domain/new.py", "fresh")}


@pytest.mark.skipif(not (mutants.ROOT / ".git").exists(), reason="without a repository nobody knows what is kept")
def test_a_copy_has_every_file_of_the_repository(tmp_path: Path) -> None:
    Copy(tmp_path, [], [], [])
    kept = {file for file in mutants.git("ls-files").splitlines() if (mutants.ROOT / file).exists()}
    assert kept == {file for file in kept if (tmp_path / file).exists()}


@pytest.fixture
def endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copy:
    """A copy in which mutmut has tried one of two mutants, and then does not end, also when it is asked to."""
    program = tmp_path / "mutmut"
    program.write_text("#!/bin/sh\ntrap '' INT\nwhile :; do sleep 1; done\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(mutants, "END_S", 0.1)
    copy = Copy.__new__(Copy)
    copy.folder, copy.files = tmp_path, ["a.py"]
    (tmp_path / "mutants").mkdir()
    (tmp_path / "mutants/a.py.meta").write_text(json.dumps({"exit_code_by_key": {"first": 1, "second": None}}))
    return copy


def test_with_a_bound_of_time_what_was_not_tried_does_not_count(endless: Copy) -> None:
    assert endless.tried(["first", "second"], 0.1) == (1, ())


def test_a_record_that_was_being_written_counts_for_nothing(endless: Copy) -> None:
    endless.files = ["a.py", "b.py"]
    (endless.folder / "mutants/b.py.meta").write_text('{"exit_code_by_key": {"third": 1, "fou')
    assert endless.tried(["first", "third", "fourth"], 0.1) == (1, ())


def test_without_a_bound_every_mutant_must_be_tried(endless: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Copy, "_mutmut", lambda *_, **__: "mutmut's last words")
    assert endless.tried(["first"]) == (1, ())
    with pytest.raises(MutantsError, match="second ended with None:\nmutmut's last words"):
        endless.tried(["first", "second"])


def test_every_line_of_the_tables_names_what_is_there() -> None:
    packages, _ = mutants.read_table()
    assert [package.name for package in packages] == [
        "domain", "engine/core", "engine/intake", "ledger", "margin", "positions", "custody", "market_data", "router",
        "rest_edge", "rest_edge/documents", "http", "ws_edge",
    ]  # fmt: skip
    for package in packages:
        assert all(list((mutants.ROOT / mutants.CODE).glob(pattern)) for pattern in package.modules)
        assert all(expanded([pattern]) for pattern in package.tests)
    for entry in mutants.read_listed():
        assert set(entry) == {"module", "function", "change", "reason"}
        source = (mutants.ROOT / mutants.CODE / entry["module"]).read_text("utf-8")
        assert f"def {entry['function'].rpartition('.')[2]}(" in source
