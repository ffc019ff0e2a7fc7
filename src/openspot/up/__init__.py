"""`openspot up`: the whole platform with one command. NATS and PostgreSQL are embedded unless addresses are given."""
