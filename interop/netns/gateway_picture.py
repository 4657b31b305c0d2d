#!/usr/bin/env python3
"""gateway_picture.py NORTH SOUTH DATA - one handover as SVG: who said what when, and what the server got meanwhile.

NORTH and SOUTH have what gateway.sh's function `messages` prints of each gateway, DATA what tcpdump prints of the packets that reach the server.
"""

import re
import sys
from html import escape

LANES = {"server": 90, "north": 320, "south": 560, "host": 800}
HOSTS = {"10.0.0.1": "server", "10.1.0.1": "north", "10.2.0.1": "south", "10.1.0.50": "host", "10.2.0.100": "host"}
WIDTH, ROW, TOP = 900, 24, 70
OLD, NEW, SIP = "#1f6fb4", "#d9730d", "#333333"
PLOT_HEIGHT, PLOT_LEFT = 190, 90
BEFORE, AFTER = -0.06, 0.2
# The paper's numbers of messages, by who says what to whom; the first such message after the one before.
NUMBERS = [
    ("1", "north", "south", "RESOURCE_QUERY", ""),
    ("2", "south", "north", "200 RESOURCE_QUERY", "so much is free"),
    ("3", "north", "south", "CONTEXT_TRANSFER", ""),
    ("", "south", "server", "OPTIONS", "how far is it?"),
    ("", "server", "south", "200 OPTIONS", ""),
    ("4", "south", "north", "200 CONTEXT_TRANSFER", "its address, BDP"),
    ("5", "north", "server", "INVITE", "it will be there"),
    ("6", "server", "north", "200 INVITE", ""),
    ("7", "north", "server", "ACK", "send there from now on"),
    ("5A", "north", "host", "INVITE", "you will be there"),
    ("6A", "host", "north", "200 INVITE", ""),
    ("7A", "north", "host", "ACK", "go"),
    ("8", "host", "south", "INVITE", "I have come"),
    ("", "south", "host", "200 INVITE", "what has waited leaves"),
]


def read_messages(*names):
    """Each message of the gateways' files as (seconds, from, to, what), in order of time; what both have seen counts once, when it left."""
    seen = {}
    for name in names:
        for line in open(name, encoding="utf-8"):
            words = line.split()
            at, source, target, method = float(words[0]), HOSTS.get(words[1]), HOSTS.get(words[2]), words[-1]
            status = next((word for word in words[3:-1] if word.isdigit()), "")
            key = (source, target, f"{status} {method}".strip())
            seen.setdefault(key, []).append(at)
    messages = []
    for (source, target, what), times in seen.items():
        both = {source, target} == {"north", "south"}
        times.sort()
        messages += [(at, source, target, what) for at in (times[::2] if both else times)]
    return sorted(messages)


def numbered(messages):
    """The messages of the handover as (seconds, number, from, to, remark)."""
    found, after = [], 0.0
    for number, source, target, what, remark in NUMBERS:
        fits = [at for at, *is_one in messages if is_one == [source, target, what] and at >= after]
        if not fits:
            sys.exit(f"gateway_picture.py: no message {number or what} from {source} to {target}")
        after = fits[0]
        found.append((after, number, source, target, what, remark))
    return found


def text(x, y, words, anchor="start", colour=SIP, size=12):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{escape(words)}</text>'


def line(x1, y1, x2, y2, colour=SIP, more=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {more}/>'


def ladder(found):
    """Who says what, one line each."""
    begin, bottom = found[0][0], TOP + ROW * len(found)
    yield text(20, 24, "SIP, in the order in which the gateways say and hear it (milliseconds since the order)", size=14)
    for name, x in LANES.items():
        yield text(x, TOP - 22, f"{name} gateway" if name in ("north", "south") else name, "middle", size=13)
        yield line(x, TOP - 14, x, bottom, "#bbbbbb")
    for row, (at, number, source, target, what, remark) in enumerate(found):
        y, (x1, x2) = TOP + ROW * (row + 0.6), (LANES[source], LANES[target])
        yield text(6, y + 4, f"{(at - begin) * 1e3:.1f}", colour="#777777", size=11)
        yield line(x1, y, x2 + (-6 if x2 > x1 else 6), y, more='marker-end="url(#head)"')
        said = "200" if what.startswith("200") else what.replace("_", " ")
        words = " ".join(filter(None, [number, said])) + (f": {remark}" if remark else "")
        yield text((x1 + x2) / 2, y - 4, words, "middle", size=11)


def plot(found, data, top):
    """Bytes that have reached the server, by the address that they have come from."""
    begin = found[0][0]
    shown = [(at - begin, source, size) for at, source, size in data if BEFORE <= at - begin <= AFTER]
    total = sum(size for *_, size in shown) or 1
    across = lambda at: PLOT_LEFT + (at - BEFORE) / (AFTER - BEFORE) * (WIDTH - PLOT_LEFT - 30)
    up = lambda size: top + PLOT_HEIGHT - size / total * PLOT_HEIGHT
    yield text(20, top - 40, "Data at the server, from the old address and from the new one", size=14)
    yield line(PLOT_LEFT, top + PLOT_HEIGHT, WIDTH - 30, top + PLOT_HEIGHT)
    for ms in range(int(BEFORE * 1000), int(AFTER * 1000) + 1, 20):
        yield line(across(ms / 1e3), top + PLOT_HEIGHT, across(ms / 1e3), top + PLOT_HEIGHT + 4)
        if ms % 40 == 0:
            yield text(across(ms / 1e3), top + PLOT_HEIGHT + 18, f"{ms} ms", "middle", size=11)
    for share in (0, 0.5, 1):
        yield text(PLOT_LEFT - 6, up(total * share) + 4, f"{total * share / 1e6:.1f} MB", "end", size=11)
    for at, number, *_ in found:
        if number in ("1", "7A", "8"):
            yield line(across(at - begin), top - 12, across(at - begin), top + PLOT_HEIGHT, "#999999", 'stroke-dasharray="3 3"')
            yield text(across(at - begin) + (-3 if number == "1" else 3), top - 16, number, "end" if number == "1" else "start")
    sum_of = 0
    for at, source, size in shown:
        sum_of += size
        colour = OLD if source == "10.1.0.50" else NEW
        yield f'<circle cx="{across(at):.1f}" cy="{up(sum_of):.1f}" r="1.4" fill="{colour}"/>'
    pauses = [(later[0] - earlier[0], earlier[0], later[0]) for earlier, later in zip(shown, shown[1:])]
    pause, left, right = max(pauses)
    y = up(sum(size for at, _, size in shown if at <= left)) + 16
    yield line(across(left), y, across(right), y, NEW)
    yield text((across(left) + across(right)) / 2, y + 14, f"{pause * 1e3:.0f} ms without data", "middle", NEW)


def main(north, south, dump):
    found = numbered(read_messages(north, south))
    packet = re.compile(r"([\d.]+) IP ([\d.]+)\.\d+ > .* length (\d+)")
    data = [(float(hit[1]), hit[2], int(hit[3])) for hit in map(packet.match, open(dump, encoding="utf-8")) if hit]
    top = TOP + ROW * len(found) + 90
    height = top + PLOT_HEIGHT + 30
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" font-family="sans-serif">')
    print(f'<rect width="{WIDTH}" height="{height}" fill="white"/>')
    print(f'<defs><marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{SIP}"/></marker></defs>')
    print("\n".join([*ladder(found), *plot(found, data, top)]))
    print("</svg>")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
