"""The REST edge: the platform's public HTTP interface (Document B 4.1).

A request passes through `pipeline.py` (request id, identity, throttle, body, audit, headers) and then either to
the one handler that is called often enough to be looked up directly, `POST /orders`, or to FastAPI. Each noun
has a package of its own: `schemas.py` says what comes in and goes out, `service.py` what is done, `store.py`
holds the SQL, `routes.py` the paths. `app.py` puts them together; `service.py` runs them.
"""
