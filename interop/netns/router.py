"""router.py INTERFACE PREFIX: a router that tells a network's NAT64 prefix (PREF64, RFC 8781) and nothing else, until it is ended.

Its advertisements make nobody's default route and no address (RFC 4861 section 4.2: a router lifetime of 0). They come five times a second.
"""

import ipaddress
import socket
import struct
import sys
import time

ALL_NODES, ADVERTISEMENT, PREF64 = "ff02::1", 134, 38
INTERVAL, LIFETIME = 0.2, 600


def pref64(prefix):
    code = [96, 64, 56, 48, 40, 32].index(prefix.prefixlen)
    return struct.pack("!BBH", PREF64, 2, LIFETIME // 8 << 3 | code) + prefix.network_address.packed[:12]


def main(interface, prefix):
    index = socket.if_nametoindex(interface)
    icmp = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    icmp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
    icmp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
    # Hop limit, flags, router lifetime, reachable time, retransmission timer. The kernel adds the checksum and a link-local source.
    message = struct.pack("!BBHBBHII", ADVERTISEMENT, 0, 0, 64, 0, 0, 0, 0) + pref64(ipaddress.IPv6Network(prefix))
    while True:
        try:
            icmp.sendto(message, (ALL_NODES, 0, 0, index))
        except OSError as error:
            # No carrier yet, or no address.
            print(error, file=sys.stderr)
        time.sleep(INTERVAL)


main(*sys.argv[1:])
