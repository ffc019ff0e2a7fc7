"""The tests. Imported before anything else of them, and before gRPC."""

import os

# Processes are started while gRPC has threads here. Its handlers for a fork run in the child before the program that
# it is to become, and may never return on a busy machine; a child of ours never goes on with gRPC, so none is needed.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
