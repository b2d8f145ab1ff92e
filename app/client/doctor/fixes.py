"""Fixes: what helps against each finding, in words for whoever runs the server. Data only."""

from __future__ import annotations

#: Against buffering on the way, by who does it; recognised ones are named first (see proxies).
PROXY_FIXES: dict[str, str] = {
    "nginx": (
        "nginx: `proxy_buffering off; gzip off; proxy_http_version 1.1;` in the location, or answer with "
        "the header `X-Accel-Buffering: no`."
    ),
    "Apache": "Apache: `ProxyPass … flushpackets=on`, and no mod_deflate on this path (`SetEnv no-gzip 1`).",
    "Caddy": "Caddy: `flush_interval -1` in reverse_proxy, and leave `encode` off this path.",
    "Cloudflare": (
        "Cloudflare: answer with content type text/event-stream and `Cache-Control: no-transform`; switch "
        "off response buffering and rules that rewrite bodies for this path."
    ),
    "Varnish": "Varnish: `set beresp.do_stream = true;` and pass this path instead of caching it.",
    "a load balancer": (
        "Load balancers and API gateways: many collect whole answers or cap them in time; switch to "
        "response streaming for this route, or go round them with a network (TCP) balancer."
    ),
}

_FLUSH = (
    "Write every token with its own flush. Frameworks hide buffers: return a streaming response made "
    "from an asynchronous generator (Starlette, FastAPI), `res.write` without compression middleware "
    "(Express), `Response(generator)` without anything that joins it (Flask, Django's "
    "StreamingHttpResponse), `Flusher.Flush` (Go); and look for middleware that reads the whole body: "
    "compression, logging, caching, ETags."
)

FIXES: dict[str, str] = {
    # Delivery
    "buffers-everything": _FLUSH,
    "buffered-on-the-way": "The server ticks evenly, so something between it and you collects the answer.",
    "compression-buffers": (
        "Do not compress streams: exclude text/event-stream and this path from compression (nginx `gzip "
        "off;`, Apache `SetEnv no-gzip 1`, Caddy without `encode`, compression middleware with a filter), "
        "or send `Cache-Control: no-transform`. A compressor waits for enough bytes to be worth a block."
    ),
    "content-length": (
        "A length in the head can only be known when the answer is finished: build no whole body. " + _FLUSH
    ),
    "one-chunk": ("The answer was finished before its first byte was written. " + _FLUSH),
    "fake-streaming": (
        "The answer is generated first and dealt out afterwards: hand on each token as the model makes it "
        "(`stream=True` to the engine or upstream, and iterate), instead of waiting for the text and "
        "cutting it up."
    ),
    "flushes-by-size": "A buffer of that size has to fill before anything is handed on.",
    "flushes-by-time": (
        "Somebody hands the stream on by a timer instead of at once: set the flush interval to immediate "
        "(Caddy `flush_interval -1`, Go's ReverseProxy FlushInterval -1), and remove batching of tokens "
        "by time."
    ),
    "arrives-in-clumps": (
        "Something collects tokens before it hands them on: look for read sizes, batching, or polling "
        "loops between the model and the socket."
    ),
    "http-1.0": (
        "Speak HTTP/1.1 with chunked transfer encoding: without it nobody can tell the end from a broken "
        "connection, and proxies collect such answers. (Python's http.server: `protocol_version = "
        '"HTTP/1.1"` and chunks of your own; nginx towards a server: `proxy_http_version 1.1`.)'
    ),
    # Ends
    "cut-off": (
        "The connection ended before the answer did. Look for timeouts on the way (idle or total) and for "
        "crashes; end a failed stream with an error frame and the last chunk."
    ),
    "never-ends": (
        "After the last frame end the body (the last, empty chunk), or clients wait until their timeout."
    ),
    "goes-silent": (
        "The answer stopped without an end. Send an error frame and close when the generation fails, and "
        "a heartbeat when it is merely slow."
    ),
    "hangs-after-error": (
        "After an error frame end the stream: the last frame that the contract asks for, then the last chunk."
    ),
    "error-in-stream": (
        "The reply failed after its status said 200. Check what can be checked (prompt length, "
        "parameters, queue) before the first byte, so that it becomes a real HTTP status."
    ),
    "keeps-generating": (
        "Watch the connection while you generate and cancel the generation when it closes (ASGI: wait for "
        "http.disconnect beside the work; pass an abort on to the engine). A proxy must pass it on, too "
        "(nginx: `proxy_ignore_client_abort off`)."
    ),
    # Headers
    "wrong-content-type": (
        "Proxies and browsers decide by the content type whether to buffer and how to parse: send "
        "text/event-stream for SSE, application/x-ndjson for NDJSON, text/plain for plain text, each "
        "without compression."
    ),
    "cacheable": "Send `Cache-Control: no-cache, no-transform` (or no-store): an answer is nobody else's.",
    "asks-for-buffering": "Send `X-Accel-Buffering: no`: this header tells nginx to collect the answer.",
    # SSE
    "sse-no-blank-line": (
        "End every event with an empty line (two line feeds): without it no event is ever delivered."
    ),
    "sse-unfinished-event": "End the last event with an empty line, too: parsers throw away what has none.",
    "broken-characters": (
        "A token may end inside a character: hold its bytes back until the character is whole (an "
        "incremental decoder), never decode token by token with replacement, and cut UTF-8 only between "
        "characters."
    ),
    "invalid-json": "Every `data:` line must be one whole JSON value, encoded by a JSON library.",
    "empty-event": (
        "Send no event with empty data: OpenAI's Python SDK fails on it. For heartbeats use comments."
    ),
    "sse-id": (
        "Send no `id:` lines on this contract: with one, OpenAI's Python SDK fails on the next comment."
    ),
    # OpenAI
    "missing-done": (
        "End every stream, failed ones too, with `data: [DONE]` (OpenAI) or the contract's last event: "
        "clients wait for it."
    ),
    "missing-finish-reason": (
        "Send one last chunk with `finish_reason`: strict clients take its absence for a cut."
    ),
    "repeated-finish-reason": (
        "Send `finish_reason` in exactly one chunk of each choice, and null in all others."
    ),
    "repeated-role": "Send the role once, in the first chunk: the SDK's helper joins strings.",
    "early-role-chunk": (
        "Send the chunk with the role together with the first text: alone and early it makes every "
        "measurement of the first token wrong."
    ),
    "missing-usage": (
        "With `stream_options.include_usage` send one last chunk with `choices: []` and the usage; in "
        "Anthropic's contract message_start and message_delta carry it."
    ),
    "usage-beside-choices": (
        "Send the usage in a chunk of its own, with `choices: []`, behind the one with finish_reason."
    ),
    "wrong-object": "Name the object as the contract does (chat.completion.chunk, text_completion).",
    # Anthropic
    "missing-event-name": (
        "Write an `event:` line before every `data:` line: Anthropic's SDK skips what has none."
    ),
    "event-name-mismatch": "The `event:` line and the JSON's `type` must be the same.",
    "event-order": (
        "Keep the order: message_start, content_block_start, content_block_delta …, content_block_stop, "
        "message_delta, message_stop."
    ),
    "missing-stop-reason": "Send message_delta with a stop_reason before message_stop.",
    # Refusals
    "error-as-200": (
        "Refuse a wrong request with a 4xx status before the stream begins: clients retry, warn and bill "
        "by the status."
    ),
    "error-as-500": (
        "A wrong request is the client's fault: answer 4xx. SDKs retry every 5xx and double the load."
    ),
    "error-shape": (
        'Answer errors in the contract\'s words: OpenAI `{"error": {"message", "type", "param", "code"}}`, '
        'Anthropic `{"type": "error", "error": {"type", "message"}}`.'
    ),
}
