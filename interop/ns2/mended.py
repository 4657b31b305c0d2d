#!/usr/bin/env python3
"""A copy of Debian's ns-2 in which a source that the application limits does not stall.

    interop/ns2/mended.py    writes target/ns2/ns-mended and prints its path

Since October 2007 `SctpAgent::sendmsg` of its SCTP module, in ESTABLISHED, sends what an application hands over only while
`eSendNewDataChunks` is TRUE. The flag was to hold data back until all paths are confirmed, but whatever sends data clears it, and
after that only a SACK sets it, for an instant: a message waits for the next SACK even if the window is open. In 2005 (revision
1.8 of sctp.cc) every message was sent at once. The copy leaves that one jump out, and so does not wait for all paths either.

The installed program is not changed. Another version than the one known (2.35+dfsg-5, amd64) is refused unless it has the same
instructions at that place.
"""

import os
import pathlib
import re
import shutil
import struct
import sys

KNOWN = "Debian's ns2 2.35+dfsg-5, amd64"
CACHE = pathlib.Path(__file__).resolve().parent.parent.parent / "target/ns2/ns-mended"
SENDMSG = b"_ZN9SctpAgent7sendmsgEiPKc"
DYNSYM = 11
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
NOP = b"\x90"
# If the flag is set and nothing is marked for retransmission: send, and clear the flag.
TEST = re.compile(
    rb"\x83\xbb(?P<flag>.{4})\x01"  # cmpl $1, flag(%rbx)
    rb"(?P<jump>\x75.)"  # jne
    rb"\x8b\x83.{4}\x85\xc0\x75."  # mov pending(%rbx), %eax; test %eax, %eax; jne
    rb"\x48\x8b\x03\x48\x89\xdf\xff\x90.{4}"  # mov (%rbx), %rax; mov %rbx, %rdi; call *SendMuch(%rax)
    rb"\xc7\x83(?P=flag)\x00{4}",  # movl $0, flag(%rbx)
    re.DOTALL,
)


class Unknown(Exception):
    """Not the program that this knows how to mend."""


def sections(program):
    """Type, address, offset, size and link of each section of a 64-bit ELF file."""
    if program[:6] != b"\x7fELF\x02\x01":
        raise Unknown("not a little-endian 64-bit ELF file")
    (offset,) = struct.unpack_from("<Q", program, 0x28)
    size, count = struct.unpack_from("<HH", program, 0x3A)
    for number in range(count):
        _, kind, _, address, start, length, link, *_ = SECTION.unpack_from(program, offset + number * size)
        yield kind, address, start, length, link


def function(program, name):
    """Where the code of a function that the program exports begins and ends in the file."""
    found = list(sections(program))
    for kind, _, start, length, link in found:
        if kind != DYNSYM:
            continue
        names = found[link][2]
        for place in range(start, start + length, SYMBOL.size):
            at, _, _, _, value, size = SYMBOL.unpack_from(program, place)
            end = names + at + len(name)
            if program[names + at : end] == name and program[end] == 0:
                for _, address, offset, extent, _ in found:
                    if address and address <= value < address + extent:
                        begin = value - address + offset
                        return begin, begin + size
    raise Unknown(f"no function {name.decode()}")


def mended(program):
    """The program without the jump."""
    begin, end = function(program, SENDMSG)
    places = list(TEST.finditer(program, begin, end))
    if len(places) != 1:
        raise Unknown(f"SctpAgent::sendmsg has the instructions {len(places)} times, not once")
    first, last = places[0].span("jump")
    return program[:first] + NOP * (last - first) + program[last:]


def mend(installed=None, copy=CACHE):
    """Writes the mended copy of the installed program, and returns where."""
    installed = installed or shutil.which("ns")
    if installed is None:
        raise Unknown("there is no ns: apt-get install ns2")
    try:
        program = mended(pathlib.Path(installed).read_bytes())
    except (Unknown, struct.error, IndexError) as why:
        raise Unknown(f"{installed} cannot be mended, it is not {KNOWN}: {why}") from why
    copy.parent.mkdir(parents=True, exist_ok=True)
    # Another run may be using the one that is there.
    fresh = copy.with_name(f"{copy.name}.{os.getpid()}")
    fresh.write_bytes(program)
    fresh.chmod(0o755)
    fresh.replace(copy)
    return copy


if __name__ == "__main__":
    try:
        print(mend())
    except Unknown as why:
        sys.exit(str(why))
