"""How vocabularies spell bytes: each token's exact bytes, so that half characters are seen as they are.

Two spellings are in use: GPT-2's, where every byte is a printable character, and SentencePiece's,
where a token is text, a low block a space and ``<0x0A>`` a byte. Pure but for the tokenizer that
it is asked about. It refuses to know templates and how text is cut.
"""

from __future__ import annotations

from typing import Any


def token_bytes(backend: Any) -> list[bytes]:
    """Every token's bytes, by id; empty for control tokens."""
    added = backend.get_added_tokens_decoder()
    vocabulary: dict[str, int] = backend.get_vocab(with_added_tokens=True)
    table = [b""] * (max(vocabulary.values(), default=-1) + 1)
    spell = _spell_byte_level if _is_byte_level(backend) else _spell_sentencepiece
    for token, index in vocabulary.items():
        if index in added:
            table[index] = b"" if added[index].special else token.encode()
        else:
            table[index] = spell(token)
    return table


# Private


def _is_byte_level(backend: Any) -> bool:
    """Whether the vocabulary spells bytes as printable characters, as GPT-2 began to."""
    return "ByteLevel" in repr(backend.decoder)


def _byte_alphabet() -> dict[str, int]:
    """Character -> byte: printable Latin-1 stands for itself, the others for U+0100 and up, in order."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}


_BYTES = _byte_alphabet()


def _spell_byte_level(token: str) -> bytes:
    try:
        return bytes(_BYTES[character] for character in token)
    except KeyError:
        return token.encode()


def _spell_sentencepiece(token: str) -> bytes:
    """``<0x0A>`` is a byte, the low block a space, everything else itself."""
    if len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
        return bytes([int(token[3:5], 16)])
    return token.replace("\u2581", " ").encode()
