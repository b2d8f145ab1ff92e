"""Transports: what carries a reply to its readers, one module a wire, framing apart from sockets."""
