"""The ledger, a mirror of the engine: balances and trades as double entries (facts A1.2-04, A2.4-01 to A2.4-16).

- `postings.py`, `changes.py` and `schemas.py` are the rules, without clock and SQL. They say what a trade posts, what a
  batch of credits, debits, locks and unlocks changes, and what a request must look like.
- `store.py` writes what the rules decide, one transaction a batch. Every transaction locks accounts in the same order,
  the house's last. So batches do not deadlock, and hold the house's few rows only briefly.
- `settlement.py` settles trades, `handlers.py` replies to requests, `outbox.py` publishes what is committed.
- `service.py` is the main process, `worker.py` the workflow worker. Both serve the same requests and share one durable
  consumer; the worker settles each batch in a durable workflow. One of the two is enough; any number may run.

Unique keys in the database make sure that each transaction id is written exactly once, however often it is delivered.

Accounts of the house: `house:fees` takes fees and pays rebates; `house:external` is the other side of every credit
and debit. With them the sum of every asset over all accounts is zero, always.
"""
