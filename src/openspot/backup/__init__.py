"""`openspot backup` and `openspot restore`: the whole platform in a folder of checksummed objects, sealed with a key.

docs/operations/backup.md says how to use them, docs/adr/0064-the-journal-carries-a-backup-on.md why they are so.
"""
