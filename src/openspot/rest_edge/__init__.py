"""The REST edge: the platform's public HTTP interface (Document B 4.1).

Each noun has a package of its own: `schemas.py` says what comes in and goes out, `service.py` what is done,
`store.py` holds the SQL, `routes.py` the routes with their policies. `app.py` puts them together on the HTTP layer
(`openspot.http`); `service.py` runs them.
"""
