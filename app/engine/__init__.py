"""The local engine: from a prompt's tokens to pieces of text.

Inside its process (loop): commands → scheduler → step → sampler → transcript → outbox. Outside of
it (supervisor): an app.generation.Engine that starts the process, talks to it and starts it again.
Import what you need from its module; this one stays empty, so that nobody loads torch by accident.
"""
