"""`openspot archive`: old rows leave PostgreSQL into files with checksums, and can be found, checked and brought back.

docs/operations/archive.md says what leaves and when, docs/adr/0057-old-rows-leave-in-batches.md why so.
"""
