"""The lab: the server's side of the experiments at /lab, each a knob on something that streaming does.

Experiments use the same replies and engines as everybody; nothing here is faster or slower than the
real thing. What one experiment may cost is limited (users, rate, time). It refuses to know HTTP.
"""
