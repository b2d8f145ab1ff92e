"""Dialects: one question in each kind of server's words, and its answer understood.

dialect (what they share) -> firstword, openai, anthropic, plain;  known lists them all
"""
