"""The doctor describes itself."""

from openspot.kit.description import Descriptor, Tables

DESCRIPTOR = Descriptor(name="doctor", title="Doctor", tables=Tables(reads=("users",)))
