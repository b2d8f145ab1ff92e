"""The drill: faults that take minutes, played against a real `firstword serve` on this machine.

Everything stays on loopback. It stands above the product and is no part of it: it knows its wires,
its metrics and its process, never its modules.
"""
