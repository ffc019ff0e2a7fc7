"""The matching core: pure and deterministic, in two implementations.

protocol.py defines the interface, records.py the records, docs/protocol/matching.md the rules. reference.py
and its reference_ files are the rules in Python; the wheel `openspot-matching` is the same in Rust.
selection.py chooses between them.
"""
