"""Telemetry: what operators and load balancers ask the server about itself."""
