"""Somebody else's server as our engine: vLLM, SGLang, TGI, llama.cpp, Ollama, `transformers serve`.

The way of an answer: request (Prompt to JSON) -> relay (one generation on the wire) -> sse_parser
(bytes to events) -> chunk (an event's JSON, typed) -> transcript (tokens, stop strings, ending).
flow holds it back when the reader has fallen behind.
Beside them: address (where and with which key), probe (is it there), question and counting (prompt lengths),
refusal (its errors in our words), and engine, which holds them together.
"""
