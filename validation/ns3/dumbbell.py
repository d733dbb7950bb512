# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A dumbbell of bulk transfers over TCP NewReno in ns-3, behind one of its queue disciplines.

usage: python dumbbell.py '{"scheme": "newreno-codel", "bw": 10e6, "rtt": 0.1, "nflows": 10, "seed": 1}'

Prints one line, `JSON {...}`. Needs ns-3 with Python bindings: `pip install ns3` (written for 3.44).

bw       rate of the bottleneck, bit/s                  rtt       round-trip time without queues, s
nflows   flows                                          buffer    packets; 0: bw rtt in packets of 1000 bytes, at least 2 nflows
t0 t1    interval of measurement, s                     startspan flows start at random within this many seconds
seed     of the starts and of ns-3's generators         sack ts delack   1 or 0
bdelay   one-way delay of the bottleneck; -1: rtt / 3   accbw     rate of the access links, bit/s
limited  limited transmit (RFC 3042), 1 or 0            tick      granularity of the retransmission timer, s
"""

import json
import random
import sys

SETTING = {
    "scheme": "newreno-fifo", "tag": "", "bw": 10e6, "rtt": 0.1, "nflows": 10, "buffer": 0, "t0": 100.0, "t1": 300.0,
    "startspan": 50.0, "seed": 1, "sack": 1, "ts": 0, "delack": 0, "bdelay": -1.0, "accbw": 1e9, "limited": 1,
    "tick": 0.01,
}

# Scheme: ns-3's discipline, its attributes. Packets limit all of them; nothing else differs from ns-3's defaults.
DISCIPLINES = {
    "fifo": ("FifoQueueDisc", {}),
    "codel": ("CoDelQueueDisc", {}),
    "codelecn": ("CoDelQueueDisc", {"UseEcn": True}),
    "fqcodel": ("FqCoDelQueueDisc", {"UseEcn": False}),
    "fqcodelecn": ("FqCoDelQueueDisc", {"UseEcn": True}),
    "pie": ("PieQueueDisc", {}),
    "pieecn": ("PieQueueDisc", {"UseEcn": True}),
    "fqpie": ("FqPieQueueDisc", {"UseEcn": False}),
    "cobalt": ("CobaltQueueDisc", {}),
}

PAYLOAD = 1000
# IP and TCP headers without options, and the two bytes of ns-3's point-to-point links.
HEADER = 20 + 20 + 2
STAMPS = 12

# Counters behind trace sources: callbacks in Python would cost more than the simulation.
METER = """
namespace kneepoint {
using namespace ns3;
struct Meter {
    double area = 0, changed = 0, waits = 0;
    uint32_t disc = 0, device = 0;
    uint64_t left = 0, bytes = 0;
    void advance() {
        double now = Simulator::Now().GetSeconds();
        area += (disc + device) * (now - changed);
        changed = now;
    }
};
void OnDisc(Meter* meter, uint32_t, uint32_t length) { meter->advance(); meter->disc = length; }
void OnDevice(Meter* meter, uint32_t, uint32_t length) { meter->advance(); meter->device = length; }
void OnLeft(Meter* meter, Time wait) { meter->waits += wait.GetSeconds(); meter->left += 1; }
void OnSent(Meter* meter, Ptr<const Packet> packet) { meter->bytes += packet->GetSize(); }
void Attach(Meter* meter, Ptr<QueueDisc> disc, Ptr<NetDevice> device) {
    auto link = DynamicCast<PointToPointNetDevice>(device);
    // The least that works: the discipline keeps all packets but the one to be sent next.
    link->GetQueue()->SetMaxSize(QueueSize("1p"));
    disc->TraceConnectWithoutContext("PacketsInQueue", MakeBoundCallback(&OnDisc, meter));
    disc->TraceConnectWithoutContext("SojournTime", MakeBoundCallback(&OnLeft, meter));
    link->GetQueue()->TraceConnectWithoutContext("PacketsInQueue", MakeBoundCallback(&OnDevice, meter));
    link->TraceConnectWithoutContext("PhyTxEnd", MakeBoundCallback(&OnSent, meter));
}
uint64_t Received(Ptr<Application> sink) { return DynamicCast<PacketSink>(sink)->GetTotalRx(); }
}
"""


def hosts(ns, setting):
    """ns-3's defaults that differ from the hosts of the other simulators."""
    count, flag, seconds = ns.UintegerValue, ns.BooleanValue, lambda value: ns.TimeValue(ns.Seconds(value))
    controls = setting["scheme"].split("-")[0]
    assert controls == "newreno", f"{controls}: only newreno"
    defaults = {
        "TcpL4Protocol::SocketType": ns.TypeIdValue(ns.TcpNewReno.GetTypeId()),
        # By default ns-3 paces recovery out by RFC 6937.
        "TcpL4Protocol::RecoveryType": ns.TypeIdValue(ns.TcpClassicRecovery.GetTypeId()),
        "TcpSocket::SegmentSize": count(PAYLOAD),
        "TcpSocket::InitialCwnd": count(2),
        "TcpSocket::DelAckCount": count(2 if setting["delack"] else 1),
        "TcpSocket::SndBufSize": count(1 << 25),
        "TcpSocket::RcvBufSize": count(1 << 25),
        "TcpSocketBase::Sack": flag(bool(setting["sack"])),
        "TcpSocketBase::Timestamp": flag(bool(setting["ts"])),
        "TcpSocketBase::LimitedTransmit": flag(bool(setting["limited"])),
        "TcpSocketBase::MinRto": seconds(0.2),
        "TcpSocketBase::ClockGranularity": seconds(setting["tick"]),
        "TcpSocketBase::UseEcn": ns.StringValue("On" if setting["scheme"].endswith("ecn") else "Off"),
    }
    for name, value in defaults.items():
        ns.Config.SetDefault(f"ns3::{name}", value)


def discipline(ns, setting, buffer):
    """A helper that installs the scheme's discipline."""
    kind, attributes = DISCIPLINES[setting["scheme"].split("-")[1]]
    ns.Config.SetDefault(f"ns3::{kind}::MaxSize", ns.StringValue(f"{buffer}p"))
    for name, value in attributes.items():
        ns.Config.SetDefault(f"ns3::{kind}::{name}", ns.BooleanValue(value))
    helper = ns.TrafficControlHelper()
    helper.SetRootQueueDisc(f"ns3::{kind}")
    return helper


def wires(ns, rate, delay):
    """A point-to-point link, whose devices have unlimited buffers."""
    link = ns.PointToPointHelper()
    link.SetDeviceAttribute("DataRate", ns.StringValue(f"{round(rate)}bps"))
    link.SetChannelAttribute("Delay", ns.TimeValue(ns.NanoSeconds(round(delay * 1e9))))
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns.StringValue("1000000p"))
    return link


def run(ns, setting):
    """Runs the setting; returns the row."""
    bw, rtt, flows = float(setting["bw"]), float(setting["rtt"]), int(setting["nflows"])
    product = round(bw * rtt / 8 / PAYLOAD)
    buffer = int(setting["buffer"]) or max(product, 2 * flows)
    bdelay = setting["bdelay"] if setting["bdelay"] >= 0 else rtt / 3
    ns.RngSeedManager.SetSeed(1)
    ns.RngSeedManager.SetRun(int(setting["seed"]))
    starts = random.Random(int(setting["seed"]))
    hosts(ns, setting)

    nodes = ns.NodeContainer()
    nodes.Create(2 + 2 * flows)
    ns.InternetStackHelper().Install(nodes)
    node = nodes.Get
    addresses = ns.Ipv4AddressHelper()
    addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.252"))

    def connect(link, first, second, install=None):
        devices = link.Install(node(first), node(second))
        # Assigning addresses installs a discipline where there is none.
        disc = install.Install(devices.Get(0)).Get(0) if install else None
        interfaces = addresses.Assign(devices)
        none = ns.TrafficControlHelper()
        none.Uninstall(devices.Get(1))
        if not install:
            none.Uninstall(devices.Get(0))
        addresses.NewNetwork()
        return devices, interfaces, disc

    links, _, disc = connect(wires(ns, bw, bdelay), 0, 1, discipline(ns, setting, buffer))
    access = wires(ns, setting["accbw"], (rtt / 2 - bdelay) / 2)
    sinks = []
    for flow in range(flows):
        sender, receiver = 2 + flow, 2 + flows + flow
        connect(access, sender, 0)
        _, interfaces, _ = connect(access, receiver, 1)
        there = ns.InetSocketAddress(interfaces.GetAddress(0), 5000).ConvertTo()
        source = ns.BulkSendHelper("ns3::TcpSocketFactory", there)
        source.SetAttribute("MaxBytes", ns.UintegerValue(0))
        source.SetAttribute("SendSize", ns.UintegerValue(PAYLOAD))
        source.Install(node(sender)).Start(ns.Seconds(starts.uniform(0, setting["startspan"])))
        anywhere = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 5000).ConvertTo()
        applications = ns.PacketSinkHelper("ns3::TcpSocketFactory", anywhere).Install(node(receiver))
        applications.Start(ns.Seconds(0))
        sinks.append(applications.Get(0))
    ns.Ipv4GlobalRoutingHelper.PopulateRoutingTables()

    ns.cppyy.cppdef(METER)
    own = ns.cppyy.gbl.kneepoint
    meter = own.Meter()
    own.Attach(meter, disc, links.Get(0))

    def counters():
        meter.advance()
        stats = disc.GetStats()
        return {
            "area": meter.area, "waits": meter.waits, "left": meter.left, "bytes": meter.bytes,
            "arrivals": stats.nTotalReceivedPackets, "drops": stats.nTotalDroppedPackets,
            "marks": stats.nTotalMarkedPackets, "received": [own.Received(sink) for sink in sinks],
        }

    ns.Simulator.Stop(ns.Seconds(setting["t0"]))
    ns.Simulator.Run()
    before = counters()
    span = setting["t1"] - setting["t0"]
    ns.Simulator.Stop(ns.Seconds(span))
    ns.Simulator.Run()
    after = counters()
    grown = {key: after[key] - before[key] for key in before if key != "received"}
    goodputs = [8 * (new - old) / span for new, old in zip(after["received"], before["received"])]
    arrivals = max(grown["arrivals"], 1)
    return {
        "sim": "ns-3.44", "topo": "dumbbell", **setting, "buffer": buffer,
        "wire": PAYLOAD + HEADER + (STAMPS if setting["ts"] else 0),
        "q_pkts": round(grown["area"] / span, 4), "q_norm": round(grown["area"] / span / buffer, 5),
        "delay_mean": round(grown["waits"] / max(grown["left"], 1), 6), "drops_per_s": round(grown["drops"] / span, 4),
        "arrivals": grown["arrivals"], "drops": grown["drops"], "drop_rate": round(grown["drops"] / arrivals, 7),
        "marks": grown["marks"], "mark_rate": round(grown["marks"] / arrivals, 7),
        "util_wire": round(8 * grown["bytes"] / (bw * span), 5), "util_goodput_long": round(sum(goodputs) / bw, 5),
        "jain": round(sum(goodputs) ** 2 / (flows * sum(rate * rate for rate in goodputs)), 5),
        "goodputs_mbps": [round(rate / 1e6, 4) for rate in goodputs],
    }


def main():
    setting = dict(SETTING)
    given = json.loads(sys.argv[1])
    unknown = set(given) - set(setting)
    assert not unknown, f"unknown: {', '.join(sorted(unknown))}"
    setting.update(given)
    from ns import ns
    print("JSON " + json.dumps(run(ns, setting)))


if __name__ == "__main__":
    main()
