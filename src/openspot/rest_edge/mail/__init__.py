"""Mail to users: composed from texts, queued in an outbox of the database, sent in the background."""
