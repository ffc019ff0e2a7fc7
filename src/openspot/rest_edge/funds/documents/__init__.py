"""Documents that users upload for their verification: kept sealed, looked at by operators, deleted in time."""
