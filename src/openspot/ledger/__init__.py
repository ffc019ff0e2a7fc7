"""The ledger: balances and settled trades as double entries, a mirror of the engine (Document A 1.2, 2.4).

- `postings.py`, `changes.py` and `schemas.py` are the rules: what a trade posts, what a batch of credits, debits,
  locks and unlocks comes to, what a request must look like. They know neither clock nor SQL.
- `store.py` carries them out, one transaction a batch. Accounts are locked in one order, the house's last, so that
  batches never wait for each other in a circle and hold the house's few rows only for a moment.
- `settlement.py` settles trades, `handlers.py` answers requests, `outbox.py` publishes what is committed.
- `service.py` is the main process, `worker.py` the workflow worker: the same requests and the same durable
  consumer, the worker settling each batch in a durable workflow. Either is enough; any number may run.

Exactly once is the work of unique keys in the database: a transaction id is written once, whoever delivers how often.

Accounts of the house: `house:fees` takes fees and pays rebates; `house:external` is the other side of every credit
and debit. With them the sum of every asset over all accounts is zero, always.
"""
