#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# The first process of a User-Mode Linux: four namespaces in a row, a queue between the middle ones, and lab.
#
#   source --- near ===[ bott: the queue under test ]=== far --- sink
#
# JOB, from the kernel's command line, is a directory with `queue` (commands for the device `bott`, in the namespace near),
# `settings` (LAB, AHEAD, BACK) and `plan` (for lab).
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
mount -t proc none /proc
mount -t sysfs none /sys
mount -t tmpfs none /run
mkdir /run/netns
. "$JOB/settings"

for space in source near far sink; do
	ip netns add $space
	ip -n $space link set lo up
done

# cable SPACE DEVICE ADDRESS SPACE DEVICE ADDRESS: neither end segments, and each has the other's hardware address.
cable() {
	ip link add "$2" netns "$1" type veth peer name "$5" netns "$4"
	end "$1" "$2" "$3"
	end "$4" "$5" "$6"
	knows "$1" "$2" "$6" "$4" "$5"
	knows "$4" "$5" "$3" "$1" "$2"
}
end() {
	ip -n "$1" address add "$3/24" dev "$2"
	ip -n "$1" link set "$2" gso_max_segs 1 up
}
knows() {
	hardware=$(ip netns exec "$4" cat "/sys/class/net/$5/address")
	ip -n "$1" neighbour replace "$3" lladdr "$hardware" dev "$2" nud permanent
}
cable source out 10.0.1.1 near in 10.0.1.2
cable near bott 10.0.2.1 far from 10.0.2.2
cable far on 10.0.3.2 sink end 10.0.3.1
ip -n source route add default via 10.0.1.2
ip -n sink route add default via 10.0.3.2
ip -n near route add 10.0.3.0/24 via 10.0.2.2
ip -n far route add 10.0.1.0/24 via 10.0.2.1

for space in near far; do
	ip netns exec $space sysctl -qw net.ipv4.ip_forward=1
done
for host in source sink; do
	ip netns exec $host sysctl -qw net.ipv4.tcp_no_metrics_save=1 \
		"net.ipv4.tcp_wmem=4096 16384 67108864" "net.ipv4.tcp_rmem=4096 131072 67108864"
done

# The delay is behind the queue, where packets no longer count as their sender's (TCP small queues).
tc -n far qdisc add dev on root netem delay "$AHEAD" limit 1000000
tc -n near qdisc add dev in root netem delay "$BACK" limit 1000000
ip netns exec near sh -e "$JOB/queue"
tc -n near qdisc show dev bott >"$JOB/shown"

"$LAB" "$JOB/plan" >"$JOB/result"
exec poweroff -f
