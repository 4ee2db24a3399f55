"""Signatures of thinking blocks: a later request shows whether a block is ours and whether its prefix has changed.

A signature contains the hash of the prefix it was made for (`prompt.binding`) and a keyed hash over that and the text.
The key isn't secret: the signature guards against mistakes, not against forgery.
"""

import base64
from hashlib import blake2b

KEY = b"recall offline server"
SIZE = 16


def sign(prefix: bytes, thinking: str) -> str:
    """The signature of a thinking text, shown or omitted, after this prefix."""
    return base64.b64encode(prefix + _seal(prefix, thinking)).decode()


def signed_for(signature: str, thinking: str) -> bytes | None:
    """The prefix hash a signature was made for; None if it isn't this server's or the text has changed."""
    try:
        raw = base64.b64decode(signature, validate=True)
    except ValueError:  # binascii.Error, or letters outside ASCII
        return None
    prefix, seal = raw[:SIZE], raw[SIZE:]
    return prefix if seal == _seal(prefix, thinking) else None


def _seal(prefix: bytes, thinking: str) -> bytes:
    return blake2b(prefix + thinking.encode("utf-8", "surrogatepass"), digest_size=SIZE, key=KEY).digest()
