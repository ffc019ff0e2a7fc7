"""The engine's network interfaces: gRPC, HTTP and the event stream over WebSocket."""
