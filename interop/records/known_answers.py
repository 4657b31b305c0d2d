"""Known answers for protected packets, from a library that Whimbrel does not use (pip install cryptography).

Prints what crates/proto/src/protection/record_tests.rs and crates/secure/src/cipher_tests.rs hold: packets sealed as the SCTP DTLS chunk
(draft-ietf-tsvwg-sctp-dtls-chunk-04) with the record layer of DTLS 1.3 (RFC 9147 section 4), without their checksum.
"""

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

HEADER = bytes.fromhex("1388 0007 01020304 00000000".replace(" ", ""))  # ports 5000 and 7, the tag, no checksum
CHUNKS = bytes.fromhex("07 00 0008 00000011".replace(" ", ""))  # SHUTDOWN


def mask(suite, key, sample):
    if suite == "aes":
        encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        return encryptor.update(sample)[:2]
    # RFC 9147 section 4.2.3: the sample is the block counter (little endian) and the nonce.
    cipher = Cipher(algorithms.ChaCha20(key, sample), mode=None).encryptor()
    return cipher.update(bytes(2))


def sealed(suite, key, number_key, iv, epoch, number):
    record_header = bytes([0b0010_1000 | epoch & 3]) + (number & 0xFFFF).to_bytes(2, "big")
    nonce = (int.from_bytes(iv, "big") ^ number).to_bytes(12, "big")
    aead = AESGCM(key) if suite == "aes" else ChaCha20Poly1305(key)
    ciphertext = aead.encrypt(nonce, CHUNKS + b"\x17", record_header)
    masked = bytes(a ^ b for a, b in zip(record_header[1:], mask(suite, number_key, ciphertext[:16])))
    chunk = bytes([0x41, 0]) + (8 + len(ciphertext)).to_bytes(2, "big") + b"\0" + record_header[:1] + masked + ciphertext
    return HEADER + chunk + bytes(-len(chunk) % 4)


for suite, length in (("aes", 16), ("chacha", 32)):
    key, number_key, iv = bytes(range(length)), bytes(range(64, 64 + length)), bytes(range(128, 140))
    for epoch, number in ((3, 0), (3, 0x1_2345), (4, 0x1234_5678_9ABC)):
        print(suite, epoch, hex(number), sealed(suite, key, number_key, iv, epoch, number).hex())
