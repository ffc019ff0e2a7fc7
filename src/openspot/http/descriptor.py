"""The HTTP layer owns the audit records, which every service with audited routes writes through it."""

from openspot.kit.description import Descriptor, Tables

DESCRIPTOR = Descriptor(name="http", title="HTTP layer", tables=Tables(owns=("audit_records",)))
