"""Replay: a reply saved with all its times, and an engine that fills a log at those times again.

recording  the file: format, version, strict reading     recorder  events -> recording
player     a recording as an Engine                      library   the recordings that ship
"""
