"""The commands of the command line, one module each; `app.cli` registers them.

A command reads its options, hands over to the parts below and prints. How it ends is in `exits`.
"""
