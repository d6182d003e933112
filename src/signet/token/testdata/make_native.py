#!/usr/bin/env python3
"""Writes native.txt: vectors of the native token format, made by this second implementation of it.

It follows doc/token_format.md over the Python package `cryptography` and shares no code with the library, so the
two check each other. Run it here after the format changed on purpose:  ./make_native.py > native.txt
"""
import base64
import hashlib
import hmac
import struct

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

T0 = 1_790_000_000_000  # 2026-09-21T14:13:20Z
SECRETS = {"2026-11": bytes(range(1, 33)), "2026-10": bytes(range(33, 65)), "2026-09": bytes(range(65, 97))}
RING = [("2026-11", "seal", None), ("2026-10", "accept", None), ("2026-09", "retire", T0 + 300_000)]


def hkdf(secret, info):
    prk = hmac.new(bytes(32), secret, hashlib.sha256).digest()
    return hmac.new(prk, info + b"\x01", hashlib.sha256).digest()


def aes(key, block):
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def xaes(key, nonce, associated, plaintext):
    doubled = int.from_bytes(aes(key, bytes(16)), "big") << 1
    if doubled >> 128:
        doubled = (doubled ^ 0x87) & (1 << 128) - 1
    k1 = doubled.to_bytes(16, "big")
    halves = [bytes([0, i]) + b"X\0" + nonce[:12] for i in (1, 2)]
    derived = b"".join(aes(key, bytes(a ^ b for a, b in zip(half, k1))) for half in halves)
    return AESGCM(derived).encrypt(nonce[12:], plaintext, associated)


def b64(raw):
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def text(value):
    value = value.encode()
    return bytes([len(value)]) + value if len(value) <= 64 else b"\xff" + hashlib.sha256(value).digest()


REQUEST = dict(method="tools/call", target="deploy", arguments=hashlib.sha256(b'{"env":"prod"}').hexdigest(),
               audience="tickets", principal="authenticated alice", version="2026-07-28")
STAMPS = dict(flow="f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", round=1, issued=T0, expires=T0 + 600_000,
              deadline=T0 + 86_400_000, state=b'{"step":1}'.hex())
KINDS = ["anonymous", "local", "authenticated"]


def claims(layout=1, kind=None, **f):
    name, _, ident = f["principal"].partition(" ")
    kind = KINDS.index(name) if kind is None else kind
    return (bytes([layout]) + bytes.fromhex(f["flow"]) + struct.pack(">IQQQ", f["round"], f["issued"], f["expires"],
                                                                     f["deadline"])
            + bytes.fromhex(f["arguments"]) + bytes([kind]) + text(f["method"]) + text(f["target"])
            + text(f["audience"]) + text(ident) + text(f["version"]))


count = 0


def raw_token(kid, plaintext, secret_of=None, associated=None):
    global count
    count += 1
    nonce = hashlib.sha256(b"nonce %d" % count).digest()[:24]
    key = hkdf(SECRETS[secret_of or kid], b"signet/v1/request-state")
    header = "sg1." + kid
    return nonce + xaes(key, nonce, (associated or header).encode(), plaintext)


def token(kid="2026-11", secret_of=None, associated=None, layout=1, kind=None, cut=None, **sealed):
    fields = {**REQUEST, **STAMPS, **sealed}
    plaintext = claims(layout, kind, **fields) + bytes.fromhex(fields["state"])
    return f"sg1.{kid}." + b64(raw_token(kid, plaintext[:cut], secret_of, associated))


def emit(expect, comment, tok, now=T0 + 1_000, **shown):
    print(f"expect: {expect}\ncomment: {comment}\nnow: {now}")
    for name, value in shown.items():
        print(f"{name}: {value}")
    print(f"token: {tok}\n")


def pair(expect, comment, now=T0 + 1_000, opened=None, shown=None, **sealed):
    """A token sealed for REQUEST with `sealed` changed, shown with a request that has `shown` changed."""
    emit(expect, comment, token(**sealed), now, **(shown or {}), **(opened or {}))


print("# Native tokens, made by make_native.py. Times are milliseconds since 1970, secrets, digests and states are")
print("# hexadecimal. A block with `key` is a key of the ring; the block `request: default` is what the request says")
print("# where a vector does not say otherwise; `expect: open` means that the state must come out.\n")
for kid, stage, date in RING:
    print(f"key: {kid}\nsecret: {SECRETS[kid].hex()}\nstage: {stage}")
    if date:
        print(f"retires_at: {date}")
    print()
print("request: default")
for name, value in {**REQUEST, **STAMPS}.items():
    print(f"{name}: {value}")
print()

pair("open", "sealed and shown alike")
pair("open", "an empty state", state="", opened=dict(state=""))
pair("open", "a state of every byte", state=bytes(range(256)).hex(), opened=dict(state=bytes(range(256)).hex()))
pair("open", "sealed by a key that only accepts", kid="2026-10")
pair("open", "sealed by a key that retires in one millisecond", kid="2026-09", now=T0 + 299_999)
pair("open", "an anonymous caller", principal="anonymous", shown=dict(principal="anonymous"))
pair("open", "the parent process", principal="local", shown=dict(principal="local"))
pair("open", "no audience on either side", audience="", shown=dict(audience=""))
for size in (63, 64, 65, 5000):
    target = "file:///" + "x" * (size - 8)
    pair("open", f"a target of {size} bytes", target=target, shown=dict(target=target))
pair("open", "a principal beyond 64 bytes", principal="authenticated " + "p" * 100,
     shown=dict(principal="authenticated " + "p" * 100))
pair("open", "the last round", round=16, opened=dict(round=16))
pair("open", "issued as far in the future as clocks may differ", issued=T0 + 61_000, opened=dict(issued=T0 + 61_000))
pair("open", "one millisecond before expiry", now=T0 + 599_999)

good = token()
body = good.split(".")[2]
pair("malformed", "a layout that is not ours", layout=2)
pair("malformed", "claims cut short", cut=90)
pair("malformed", "claims cut inside the last text", cut=-11, state="")
pair("malformed", "nothing inside", cut=0)
pair("malformed", "a kind of principal that does not exist", kind=3)
pair("malformed", "round zero", round=0)
pair("malformed", "issued after the year 9999", issued=253_402_300_800_000)
for comment, tok in [
    ("no token", ""), ("the prefix alone", "sg1."), ("no body", "sg1.2026-11"), ("an empty body", "sg1.2026-11."),
    ("no key id", "sg1.." + body), ("another version", "sg2" + good[3:]), ("the version in capitals", "SG1" + good[3:]),
    ("white space before", " " + good), ("white space after", good + " "),
    ("padding", good + "="), ("the other alphabet of base64", good[:60] + "+" + good[61:]),
    ("a character beyond ASCII", good[:60] + "é" + good[61:]), ("a fourth part", good + ".AAAA"),
    ("a key id of 33 characters", "sg1." + "k" * 33 + "." + body), ("a key id with a slash", "sg1.2026/11." + body),
    ("nonce and tag one byte short", "sg1.2026-11." + b64(bytes(39))),
    ("one base64 character too many", good[:good.rindex(".") + 1] + body[:len(body) // 4 * 4] + "A"),
]:
    emit("malformed", comment, tok)
respelled = None
for size in range(40):  # a body whose last character has unused bits
    tok = token(state="00" * size)
    if len(tok.split(".")[2]) % 4 == 2:
        last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".index(tok[-1])
        respelled = tok[:-1] + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[last + 1]
        break
emit("malformed", "the same bytes in another spelling: unused bits that are not zero", respelled)
emit("too_large", "one byte over the limit", good, accepted_bytes_max=len(good) - 1)
emit("open", "as large as the limit", good, accepted_bytes_max=len(good))
emit("unknown_key", "a key the ring does not have", "sg1.2027-01." + body)
emit("unknown_key", "key ids are case-sensitive", "sg1.2026-11A." + body)
pair("key_retired", "at the moment of retirement", kid="2026-09", now=T0 + 300_000)
emit("not_authentic", "shown under the id of another key", "sg1.2026-10." + body)
pair("not_authentic", "sealed by another secret under this id", secret_of="2026-10")
pair("not_authentic", "associated data without the version", associated="2026-11")
emit("not_authentic", "nothing but a nonce and a tag of zeros", "sg1.2026-11." + b64(bytes(40)))
raw = bytearray(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
for comment, at in [("first bit of the nonce", 0), ("last byte of the nonce", 23), ("first byte of the claims", 24),
                    ("last byte of the state", len(raw) - 17), ("last bit of the tag", len(raw) - 1)]:
    flipped = bytes(raw[:at]) + bytes([raw[at] ^ (0x80 if at == 0 else 1)]) + bytes(raw[at + 1:])
    emit("not_authentic", "changed: " + comment, "sg1.2026-11." + b64(flipped))
emit("not_authentic", "the last byte cut off", "sg1.2026-11." + b64(bytes(raw[:-1])))
emit("not_authentic", "a byte added", "sg1.2026-11." + b64(bytes(raw) + b"\0"))
pair("issued_in_future", "one millisecond further than clocks may differ", issued=T0 + 61_001)
pair("expired", "at the moment of expiry", now=T0 + 600_000)
pair("expired", "long after", now=T0 + 80_000_000)
pair("flow_expired", "at the deadline of the flow", deadline=T0 + 500, expires=T0 + 500, now=T0 + 500)
pair("flow_expired", "past the deadline though the state itself would live", deadline=T0 + 500)
pair("rounds_exceeded", "a seventeenth round", round=17)
pair("rounds_exceeded", "the largest number of a round", round=2**32 - 1)
pair("other_method", "sealed in a tool, shown to a prompt", shown=dict(method="prompts/get"))
pair("other_target", "sealed for one tool, shown to another", shown=dict(target="destroy"))
pair("other_target", "a target that differs in its last byte beyond 64", target="t" * 99 + "a",
     shown=dict(target="t" * 99 + "b"))
long_target = "t" * 70
digest = hashlib.sha256(long_target.encode()).digest()
pair("other_target", "a text is not its own digest", target=long_target, shown=dict(target=digest.hex()))
pair("other_arguments", "sealed for other arguments", shown=dict(arguments=hashlib.sha256(b'{"env":"dev"}').hexdigest()))
pair("other_audience", "another service", shown=dict(audience="billing"))
pair("other_audience", "an audience where none is expected", shown=dict(audience=""))
pair("other_audience", "no audience where one is expected", audience="")
pair("other_principal", "sealed for alice, shown by bob", shown=dict(principal="authenticated bob"))
pair("other_principal", "sealed for alice, shown by nobody", shown=dict(principal="anonymous"))
pair("other_principal", "sealed for nobody, shown by alice", principal="anonymous")
pair("other_principal", "sealed for the parent process, shown over HTTP", principal="local",
     shown=dict(principal="anonymous"))
pair("other_principal", "authenticated with an empty name is not the parent process", principal="authenticated ",
     shown=dict(principal="local"))
pair("other_version", "sealed under another revision of the protocol", version="2025-11-25")
