"""A reply is a log, and everyone who reads it has a cursor. See log, reader, pace, credit, registry."""
