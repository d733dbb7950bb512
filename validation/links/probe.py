#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Probes through Linux's queue disciplines: the effects of `tc` on datagrams and acknowledgements, as lines of `case,figure,value`.

Two network namespaces, `ka` and `kb`, with a pair of interfaces; the disciplines are at the sender's.

    probe.py tbf                                           on a kernel with sch_tbf, as root
    probe.py reorder duplicate corrupt ack-filter police   on one with sch_netem, sch_cake and act_police, such as User-Mode Linux
"""

import re
import socket
import struct
import subprocess
import sys
import time

INSIDE = ["nsenter", "--net=/run/netns/kb"]
PROBES, SIZE, GAP = 20_000, 1000, 0.001
TIMESTAMPS = 35  # SO_TIMESTAMPNS


def run(*words):
    subprocess.run([word for part in words for word in part.split()], check=True)


def network(forward, backward=""):
    for name in ("ka", "kb"):
        subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)
        run("ip netns add", name)
    run("ip link add name va type veth peer name vb")
    for name, interface, address in (("ka", "va", "10.9.0.1/24"), ("kb", "vb", "10.9.0.2/24")):
        run("ip link set", interface, "netns", name)
        inside = f"nsenter --net=/run/netns/{name}"
        run(inside, "ip addr add", address, "dev", interface)
        run(inside, "ip link set", interface, "gso_max_segs 1 up")  # no segments of several packets
    run("nsenter --net=/run/netns/ka tc qdisc add dev va root", forward)
    if backward:
        run("nsenter --net=/run/netns/kb tc qdisc add dev vb root", backward)


def inside(name, *words):
    command = ["nsenter", f"--net=/run/netns/{name}", sys.executable, __file__, *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def receive():
    """Prints the number of each datagram and when it came."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
    sock.setsockopt(socket.SOL_SOCKET, TIMESTAMPS, 1)
    sock.bind(("10.9.0.2", 9))
    sock.settimeout(3)
    came = []
    try:
        while True:
            data, (control, *_), *_ = sock.recvmsg(2000, 64)
            seconds, nanos = struct.unpack("qq", control[2])
            came.append((int(data[:9]), seconds + 1e-9 * nanos))
    except TimeoutError:
        print("\n".join(f"{number} {at:.6f}" for number, at in came))


def send(count, gap):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, 32, 1 << 24)  # SO_SNDBUFFORCE
    sock.sendto(b"%09d" % 999_999_999, ("10.9.0.2", 9))
    time.sleep(0.5)
    begins = time.time()
    print(f"{begins:.6f}")
    for number in range(count):
        sock.sendto((b"%09d" % number).ljust(SIZE - 28, b"."), ("10.9.0.2", 9))
        if gap:
            time.sleep(max(0.0, begins + (number + 1) * gap - time.time()))


def probes(count, gap):
    """When the first was sent, and the numbers and times of those that came."""
    receiver = inside("kb", "receive")
    time.sleep(0.5)
    sender = inside("ka", "send", str(count), str(gap))
    begins = float(sender.communicate()[0])
    lines = receiver.communicate()[0].split()
    came = [(int(number), float(at)) for number, at in zip(lines[::2], lines[1::2])]
    return begins, [(number, at) for number, at in came if number < count]


def tell(case, figure, value):
    print(f"{case},{figure},{value:.6g}", flush=True)


def tbf():
    network("tbf rate 20mbit burst 100kb limit 2mb")
    count = 500
    begins, came = probes(count, 0.0)
    # A frame is the packet and an Ethernet header of 14 bytes.
    tell("tbf", "packets", len(came))
    for share in (0.2, 0.5, 1.0):
        tell("tbf", f"ms_to_{int(100 * share)}_percent", 1e3 * (came[int(share * count) - 1][1] - begins))


def reorder():
    network("netem delay 5500us reorder 99% limit 100000")
    _, came = probes(PROBES, GAP)
    # RFC 4737, as the laboratory measures it.
    reordered, far, extents, lates = 0, 0, [], []
    for place, (number, at) in enumerate(came):
        before = came[max(0, place - 256):place]
        first = next((index for index, (other, _) in enumerate(before) if other > number), None)
        if first is None:
            continue
        reordered += 1
        extents.append(len(before) - first)
        lates.append(at - before[first][1])
        far += len(before) >= 3 and all(other > number for other, _ in before[-3:])
    tell("reorder", "reordered_percent", 100 * reordered / len(came))
    tell("reorder", "three_reordered_percent", 100 * far / len(came))
    tell("reorder", "extent_packets", sum(extents) / len(extents))
    tell("reorder", "late_ms", 1e3 * sum(lates) / len(lates))


def duplicate():
    network("netem duplicate 1% limit 100000")
    _, came = probes(PROBES, GAP)
    tell("duplicate", "duplicated_percent", 100 * (len(came) - len({number for number, _ in came})) / PROBES)


def corrupt():
    network("netem corrupt 1% limit 100000")
    _, came = probes(PROBES, GAP)
    tell("corrupt", "missing_percent", 100 * (PROBES - len(came)) / PROBES)


def sink():
    server = socket.socket()
    server.bind(("10.9.0.2", 10))
    server.listen()
    connection, _ = server.accept()
    ends, total = time.time() + 12, 0
    while time.time() < ends:
        total += len(connection.recv(1 << 16))
    print(total)


def flood(controller):
    sock = socket.create_connection(("10.9.0.2", 10))
    sock.setsockopt(socket.IPPROTO_TCP, 13, controller.encode())
    data, ends = bytes(1 << 16), time.time() + 13
    try:
        while time.time() < ends:
            sock.send(data)
    except OSError:
        pass


def transfer(controller):
    """What the receiver has after 12 s, in bytes."""
    server = inside("kb", "sink")
    time.sleep(0.5)
    client = inside("ka", "flood", controller)
    total = int(server.communicate()[0])
    client.communicate()
    return total


def police():
    def policed(forward):
        network(forward)
        run("nsenter --net=/run/netns/kb tc qdisc add dev vb ingress")
        run("nsenter --net=/run/netns/kb tc filter add dev vb parent ffff: matchall",
            "action police rate 20mbit burst 100kb conform-exceed drop")

    # A policer at the receiver's entrance counts IP packets, without Ethernet's header.
    policed("pfifo limit 1000")
    _, came = probes(PROBES, 0.00025)
    tell("police", "first_percent", 100 * sum(number < 500 for number, _ in came) / 500)
    tell("police", "passed_percent", 100 * len(came) / PROBES)
    for controller in ("cubic", "bbr"):
        policed("netem delay 40ms rate 100mbit -14 limit 10000")
        tell("police", f"{controller}_mbit", 8e-6 * transfer(controller) / 12)


def ack_filter():
    for word, mode in (("off", "no-ack-filter"), ("conservative", "ack-filter"), ("aggressive", "ack-filter-aggressive")):
        # Sizes are those of IP packets. The limit counts what is on its way, too: 67 packets.
        network("netem delay 40ms rate 20mbit -14 limit 200", f"cake bandwidth 200kbit overhead 0 {mode}")
        total = transfer("cubic")
        shown = subprocess.run(
            ["nsenter", "--net=/run/netns/kb", "tc", "-s", "qdisc", "show", "dev", "vb"],
            check=True, capture_output=True, text=True).stdout
        sent = int(re.search(r"Sent \d+ bytes (\d+) pkt", shown)[1])
        dropped = sum(int(one) for one in re.search(r"ack_drop((?: +\d+)+)", shown)[1].split())
        tell("ack-filter", f"{word}_mbit", 8e-6 * total / 12)
        tell("ack-filter", f"{word}_filtered_percent", 100 * dropped / (sent + dropped))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["receive"]:
            receive()
        case ["send", count, gap]:
            send(int(count), float(gap))
        case ["sink"]:
            sink()
        case ["flood", controller]:
            flood(controller)
        case cases:
            for name in cases:
                {"tbf": tbf, "reorder": reorder, "duplicate": duplicate, "corrupt": corrupt,
                 "ack-filter": ack_filter, "police": police}[name]()
