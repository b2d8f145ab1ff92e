"""Firstword: feel the first word.

The way of the data, one package a stop, imports pointing down only:

    transports   frames on the wire: WebSocket, SSE, NDJSON, plain, whole, vendors' dialects
    reply        the log of one answer, its readers and their pace
    intake       any dialect's JSON -> one validated Prompt; the line at the door
    engine       own process: queue -> prefill -> decode step -> sample -> detokenise
    generation   the joint: what an Engine is and what it tells
    events, prompt, errors, settings   the words everybody uses
"""
