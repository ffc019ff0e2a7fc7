"""Proof of reserves: what the exchange owes every user after one event of the engine, as a Merkle sum tree."""
