"""Prints twice a second how many bytes the TCP and MPTCP connections of this namespace have sent again, until it is ended.

One JSON object a line, of which the last counts: TCP retransmits on each connection or subflow, and MPTCP sends again on one subflow what another
one has lost. A connection that is gone keeps its last figure. Asks by NETLINK_SOCK_DIAG, since `ss` does not know MPTCP's figure.
"""

import json
import socket
import struct
import time

NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST_DUMP, NLMSG_DONE, NLMSG_ERROR = 4, 20, 0x301, 3, 2
INET_DIAG_INFO, INET_DIAG_REQ_PROTOCOL = 2, 3
# Protocol, and where bytes_retrans is in struct tcp_info and struct mptcp_info.
PROTOCOLS = {"tcp": (6, 208), "mptcp": (262, 48)}
HEADER, MESSAGE, COOKIE = 16, 72, slice(44, 52)


def ask(diag, family, protocol):
    request = struct.pack("=BBBBI48x", family, protocol & 0xFF, 1 << (INET_DIAG_INFO - 1), 0, 0xFFFFFFFF)
    request += struct.pack("=HHI", 8, INET_DIAG_REQ_PROTOCOL, protocol)
    diag.send(struct.pack("=IHHII", HEADER + len(request), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST_DUMP, 1, 0) + request)
    while True:
        data = diag.recv(1 << 18)
        while data:
            length, kind = struct.unpack_from("=IH", data)
            if kind in (NLMSG_DONE, NLMSG_ERROR):
                return
            yield data[HEADER:length]
            data = data[(length + 3) & ~3 :]


def info(message):
    """The structure that the protocol tells of itself."""
    at = MESSAGE
    while at + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        if kind == INET_DIAG_INFO:
            return message[at + 4 : at + length]
        at += max(4, (length + 3) & ~3)
    return b""


def main():
    known = {}
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as diag:
        while True:
            for name, (protocol, offset) in PROTOCOLS.items():
                for family in (socket.AF_INET, socket.AF_INET6):
                    for message in ask(diag, family, protocol):
                        told = info(message)
                        if len(told) >= offset + 8:
                            known[name, message[COOKIE]] = struct.unpack_from("=Q", told, offset)[0]
            print(json.dumps({"sent_again": sum(known.values())}), flush=True)
            time.sleep(0.5)


main()
