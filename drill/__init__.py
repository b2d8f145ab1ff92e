"""The drill: faults that take minutes, played against a real `firstword serve` on this machine.

Everything stays in a network namespace of its own, or on loopback where none can be had. It stands above the
product and is no part of it: it knows its wires, its metrics and its process, never its modules. Two say why
they do all the same: echo and faulty.
"""
