"""Sends UDP datagrams from one address to another, as many bits a second as told, until it is ended: flood.py FROM TO RATE.

Goes to the discard port, 1,400 bytes each, in steps of 5 ms: what others do on a network that is shared.
"""

import socket
import sys
import time

DISCARD, SIZE, STEP = 9, 1400, 0.005


def main():
    source, target, rate = sys.argv[1], sys.argv[2], float(sys.argv[3])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flood:
        flood.bind((source, 0))
        begin, sent = time.monotonic(), 0
        while True:
            while sent < (time.monotonic() - begin) * rate / 8:
                try:
                    flood.sendto(bytes(SIZE), (target, DISCARD))
                except OSError:
                    pass  # A full buffer, or an ICMP error: somebody who floods does not care.
                sent += SIZE
            time.sleep(STEP)


main()
