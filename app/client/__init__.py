"""A server asked from outside, as any other program would: every arrival stamped as it is read.

target, detection -> dialects (question -> request) -> connection (http_talk | websocket_talk) ->
exchange;  load runs many, measurement makes numbers of them, doctor says what is wrong.
"""
