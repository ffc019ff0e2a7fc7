"""Mail to users: composed from texts, kept in an outbox of the database, sent outside the requests."""
