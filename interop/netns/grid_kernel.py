#!/usr/bin/env python3
"""grid_kernel.py [-w WIRE] [-c CONGESTION] [-s SEED] [CELL...]

One transfer of the kernel's TCP through the bottleneck of a cell of the grid (docs/grid.md), for what `tcp-cubic` there is worth. The bottleneck is an
emulated cable (whimbrel-wire) between two namespaces: the link model of virtual time in real time. A cell is RATE,RTT,QUEUE,TROUBLE as in
`10,20,0.1,none` (Mbit/s, ms, bandwidth-delay products; none, loss or jitter); without any, all of the comparison run. Needs root. What the grid's TCP does in the same cells is printed by

    cargo test -p whimbrel-rivals --test tcp_linux -- --ignored --nocapture

Prints goodput in Mbit/s of a run of 10 s or 200 round trips, what share was sent again, timeouts and tail loss probes.
"""
import argparse, itertools, json, os, socket, struct, subprocess, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
PORT = 5001


def sink(seconds):
    listener = socket.create_server(("10.73.0.2", PORT))
    print("ready", flush=True)
    stream, _ = listener.accept()
    end, total = time.monotonic() + seconds, 0
    buffer = bytearray(1 << 20)
    while (left := end - time.monotonic()) > 0:
        stream.settimeout(left)
        try:
            total += stream.recv_into(buffer)
        except TimeoutError:
            break
    print(json.dumps({"bytes": total}), flush=True)


def flow(seconds, congestion):
    stream = socket.socket()
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    stream.connect(("10.73.0.2", PORT))
    end, content = time.monotonic() + seconds, bytes(1 << 16)
    while (left := end - time.monotonic()) > 0:
        stream.settimeout(left)
        try:
            stream.send(content)
        except TimeoutError:
            break
    # struct tcp_info of linux/tcp.h: tcpi_total_retrans and tcpi_data_segs_out.
    info = stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    again, sent = struct.unpack_from("I", info, 100)[0], struct.unpack_from("I", info, 156)[0]
    lines = [line.split() for line in open("/proc/net/netstat") if line.startswith("TcpExt:")]
    counters = dict(zip(lines[0][1:], map(int, lines[1][1:])))
    print(json.dumps({"sent": sent, "again": again, "timeouts": counters["TCPTimeouts"], "probes": counters["TCPLossProbes"],
                      "needless": counters["TCPDSACKRecv"], "undone": counters["TCPDSACKUndo"] + counters["TCPFullUndo"] + counters["TCPPartialUndo"],
                      "recoveries": counters["TCPSackRecovery"], "hystart": counters["TCPHystartTrainDetect"] + counters["TCPHystartDelayDetect"]}), flush=True)


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def run(wire, congestion, seed, rate, rtt, queue, trouble):
    seconds = max(10, rtt * 200 / 1000)
    bytes_queued = max(int(rate * 1000 / 8 * rtt * queue), 6000)
    near, far = f"grid{os.getpid()}a", f"grid{os.getpid()}b"
    urgent = ["chrt", "-f", "10"] if subprocess.run(["chrt", "-f", "10", "true"], stderr=subprocess.DEVNULL).returncode == 0 else []
    inside = lambda name, *words: subprocess.Popen([*urgent, "ip", "netns", "exec", name, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    children = []
    try:
        for name in (near, far):
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            subprocess.run(["ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv4.tcp_no_metrics_save=1",
                            "net.ipv4.tcp_rmem=4096 33554432 134217728", "net.ipv4.tcp_wmem=4096 33554432 134217728"], check=True)
        troubles = {"none": [], "loss": ["--loss", "0.1%"], "jitter": ["--jitter", "5ms", "--overtaking"]}[trouble]
        cable = inside(near, wire, "near", "far", "--rate", f"{rate}mbit", "--delay", f"{rtt / 2}ms", "--queue", f"{bytes_queued}bytes", "--seed", str(seed), "--exact", *troubles)
        children.append(cable)
        cable.stdout.readline()
        # The way back is as fast, and neither loses nor delays more.
        cable.stdin.write("back queue 1073741824bytes\nback loss 0%\nback jitter 0ms\n")
        cable.stdin.flush()
        ip("-n", near, "link", "set", "far", "netns", far)
        for name, device, address in ((near, "near", "10.73.0.1/24"), (far, "far", "10.73.0.2/24")):
            ip("-n", name, "link", "set", device, "up", "txqueuelen", "10000")
            ip("-n", name, "addr", "add", address, "dev", device)
        for name, device, other, peer, address in ((near, "near", far, "far", "10.73.0.2"), (far, "far", near, "near", "10.73.0.1")):
            mac = subprocess.run(["ip", "netns", "exec", other, "cat", f"/sys/class/net/{peer}/address"], check=True, capture_output=True, text=True).stdout.strip()
            ip("-n", name, "neigh", "replace", address, "lladdr", mac, "dev", device, "nud", "permanent")
        receiver = inside(far, sys.executable, __file__, "--sink", str(seconds))
        children.append(receiver)
        receiver.stdout.readline()
        sender = inside(near, sys.executable, __file__, "--flow", str(seconds), "-c", congestion)
        children.append(sender)
        result = json.loads(receiver.stdout.readline()) | json.loads(sender.stdout.readline())
        # The cable tells what it has carried when nobody commands it any more.
        cable.stdin.close()
        result["cable"] = json.loads(cable.stdout.readline())["forth"]
        result["goodput"] = result["bytes"] * 8e-6 / seconds
        return result
    finally:
        for child in children:
            child.kill()
            child.wait()
        for name in (near, far):
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-w", "--wire", default=os.path.join(HERE, "../../target/release/whimbrel-wire"), help="the program (cargo build --release -p whimbrel-emulator)")
    parser.add_argument("-c", "--congestion", default="cubic")
    parser.add_argument("-s", "--seed", type=int, default=1)
    parser.add_argument("--sink", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--flow", type=float, help=argparse.SUPPRESS)
    parser.add_argument("cells", nargs="*")
    options = parser.parse_args()
    if options.sink:
        return sink(options.sink)
    if options.flow:
        return flow(options.flow, options.congestion)
    cells = [cell.split(",") for cell in options.cells] or [
        *itertools.product((10, 100), (20, 50, 100), (0.1, 1, 4), ("none",)), *itertools.product((10, 100), (20, 50), (1,), ("loss", "jitter"))]
    print("| rate | RTT, ms | queue, BDP | trouble | Mbit/s | sent again, % | timeouts | probes | recoveries | HyStart |\n|---|---|---|---|---|---|---|---|---|---|")
    for rate, rtt, queue, trouble in cells:
        got = run(options.wire, options.congestion, options.seed, int(rate), int(rtt), float(queue), trouble)
        print(f"| {rate} | {rtt} | {queue} | {trouble} | {got['goodput']:.2f} | {100 * got['again'] / max(got['sent'], 1):.2f} | {got['timeouts']} | {got['probes']} | {got['recoveries']} | {got['hystart']} |", flush=True)
        print(json.dumps(got), file=sys.stderr)


if __name__ == "__main__":
    main()
