"""The classroom: one teacher, a wall and many phones around one stimulus.

The map. Pure: code, nickname, ballot, statistics (the small decisions); plan, round, sending, room
(what a room knows and what may follow what); commands, permission (what can be said, and by whom);
results, views, export (what is made of it). Live: lane and member (text for many, a cursor each),
stage (one room), stimulus and rush (what plays). Around: registry, store, guesses.
"""
