"""`openspot upgrade --check`: tries an upgrade on a copy, before the new release is started.

docs/operations/upgrading.md says how to use it, docs/adr/0097-an-upgrade-is-tried-on-a-copy.md why it is so.
"""
