"""How the services talk: bus subjects, streams, messages, engine events and the generated gRPC code."""
