"""Transfers of the engine, for every service that moves money by them.

A transfer is written in the transaction of the row that it belongs to, and sent until the engine's decision is known.
The engine carries out each reference once, so a repeated attempt moves nothing twice.

- `model`: a transfer, what the engine decides of it, and the rules that a service gives each kind.
- `engine`: the engine as what carries transfers out.
- `attempt`: one attempt, and what its result means.
- `runner`, `store`, `metrics`: attempts by a timer, kept apart by leases, in a table of the service's own. The way of
  every service, unless it has a lock of its own.
- `locked`: attempts by whoever holds a lock of the service.

Both ways keep two attempts of a transfer apart. If two were under way, one could be refused for want of funds and the
other succeed after it.
"""
