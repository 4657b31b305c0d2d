"""dns64.py ADDRESS PREFIX: a resolver that knows the name ipv4only.arpa alone, and makes its IPv6 addresses with this prefix of 96 bits (RFC 7050), until
it is ended.
"""

import ipaddress
import socket
import struct
import sys

NAME, A, AAAA, REFUSED = b"\x08ipv4only\x04arpa\x00", 1, 28, 5
V4 = [ipaddress.IPv4Address(text).packed for text in ("192.0.0.170", "192.0.0.171")]


def answer(question, prefix):
    end = question.index(b"\0", 12) + 1
    name, kind = question[12:end], struct.unpack_from("!H", question, end)[0]
    asked = question[12 : end + 4]
    if name.lower() != NAME or kind not in (A, AAAA):
        return question[:2] + struct.pack("!HHHHH", 0x8180 | REFUSED, 1, 0, 0, 0) + asked
    addresses = V4 if kind == A else [prefix[:12] + v4 for v4 in V4]
    records = [struct.pack("!HHHIH", 0xC00C, kind, 1, 60, len(address)) + address for address in addresses]
    return question[:2] + struct.pack("!HHHHH", 0x8180, 1, len(records), 0, 0) + asked + b"".join(records)


def main(address, prefix):
    prefix = ipaddress.IPv6Network(prefix).network_address.packed
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as server:
        server.bind((address, 53))
        while True:
            question, client = server.recvfrom(512)
            server.sendto(answer(question, prefix), client)


main(*sys.argv[1:])
