"""Traces of orders: which part of the platform spends how long on one order. Off unless a setting says where they go.

Nothing travels with a message. The ids of an order's trace and of its spans follow from the order's id, and so does
whether the order is traced. So each process computes the same ids, a repeated delivery writes the same span again, and
nobody outside chooses what is traced, because the edge makes the ids of orders (docs/operations/tracing.md).
"""

from openspot.kit.tracing.recorder import begin, end, is_traced, record, start, stop
from openspot.kit.tracing.steps import Step, trace_id_of

__all__ = ["Step", "begin", "end", "is_traced", "record", "start", "stop", "trace_id_of"]
