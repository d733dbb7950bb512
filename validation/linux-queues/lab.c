/* SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * Bulk transfers through a bottleneck, in three network namespaces of one kernel.
 *
 *	lab PLAN
 *
 * PLAN has a word and its value a line:
 *
 *	parent HEX     handle of the parent of the queue discipline under test (ffffffff: root of the device `bott`)
 *	from S, to S   measurement window, in seconds after the first whole second
 *	series FILE    TCP_INFO of every flow at each sample, for traces (optional)
 *	every MS       interval between samples
 *	flow CC S      a transfer with this controller from this second on
 *
 * Prints one JSON object: counters of the queue in the window, its mean backlog, and the data that each flow delivered.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FLOWS = 128, PORT = 6000, CHUNK = 1 << 18 };

struct flow {
	char control[32];
	double start;
	int socket;
	/* At the start of the window: bytes acknowledged, segments retransmitted, segments delivered with a mark. */
	unsigned long long acked;
	unsigned retransmitted, marked;
};

struct counters {
	unsigned packets, drops, waiting, waiting_bytes;
	unsigned long long bytes;
};

static struct flow flows[FLOWS];
static int count;
static unsigned parent = TC_H_ROOT;
static double from, to, every = 20;
static char series[256];
static char zeros[CHUNK];

static void fail(const char *what)
{
	fprintf(stderr, "lab: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void enter(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	int fd = open(path, O_RDONLY);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		fail(path);
	close(fd);
}

static void read_plan(const char *path)
{
	FILE *file = fopen(path, "r");
	char word[32], value[sizeof(series)];

	if (!file)
		fail(path);
	while (fscanf(file, "%31s %255s", word, value) == 2) {
		if (!strcmp(word, "parent")) {
			parent = strtoul(value, NULL, 16);
		} else if (!strcmp(word, "from")) {
			from = atof(value);
		} else if (!strcmp(word, "to")) {
			to = atof(value);
		} else if (!strcmp(word, "every")) {
			every = atof(value);
		} else if (!strcmp(word, "series")) {
			strcpy(series, value);
		} else if (!strcmp(word, "flow") && count < FLOWS) {
			snprintf(flows[count].control, sizeof(flows[count].control), "%.31s", value);
			if (fscanf(file, "%lf", &flows[count++].start) != 1)
				fail("flow without a start");
		} else {
			errno = EINVAL;
			fail(word);
		}
	}
	fclose(file);
}

/* Reads and discards all input, in its own process. */
static void receive(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(PORT)};
	struct epoll_event ready[32];
	struct epoll_event event = {.events = EPOLLIN};

	enter("sink");
	int poll = epoll_create1(0), listener = socket(AF_INET, SOCK_STREAM, 0);

	event.data.fd = listener;
	/* A receiver echoes marks as DCTCP wants them only if DCTCP is its controller, too. */
	if (setsockopt(listener, IPPROTO_TCP, TCP_CONGESTION, flows->control, strlen(flows->control)))
		fail(flows->control);
	if (bind(listener, (void *)&at, sizeof(at)) || listen(listener, FLOWS))
		fail("listen");
	epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		int n = epoll_wait(poll, ready, 32, -1);

		for (int i = 0; i < n; i++) {
			int fd = ready[i].data.fd;

			if (fd == listener) {
				event.data.fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
				epoll_ctl(poll, EPOLL_CTL_ADD, event.data.fd, &event);
			} else {
				while (recv(fd, NULL, 1 << 30, MSG_TRUNC) > 0)
					;
			}
		}
	}
}

static int netlink, bottleneck;

/* The counters of the queue discipline under test. */
static struct counters look(void)
{
	struct {
		struct nlmsghdr head;
		struct tcmsg tc;
	} ask = {
		.head = {.nlmsg_len = sizeof(ask), .nlmsg_type = RTM_GETQDISC, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.tc = {.tcm_ifindex = bottleneck},
	};
	static char answer[1 << 17];
	struct counters now = {0};
	int found = 0;

	if (send(netlink, &ask, sizeof(ask), 0) < 0)
		fail("netlink");
	for (;;) {
		int left = recv(netlink, answer, sizeof(answer), 0);

		for (struct nlmsghdr *m = (void *)answer; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
			struct tcmsg *tc = NLMSG_DATA(m);

			if (m->nlmsg_type == NLMSG_DONE) {
				if (!found)
					fail("no queue discipline has this parent");
				return now;
			}
			if (m->nlmsg_type != RTM_NEWQDISC || tc->tcm_ifindex != bottleneck || tc->tcm_parent != parent)
				continue;
			found = 1;
			int rest = m->nlmsg_len - NLMSG_LENGTH(sizeof(*tc));

			for (struct rtattr *a = TCA_RTA(tc); RTA_OK(a, rest); a = RTA_NEXT(a, rest)) {
				if ((a->rta_type & NLA_TYPE_MASK) != TCA_STATS2)
					continue;
				int inner = RTA_PAYLOAD(a);

				for (struct rtattr *s = RTA_DATA(a); RTA_OK(s, inner); s = RTA_NEXT(s, inner)) {
					if (s->rta_type == TCA_STATS_BASIC) {
						struct gnet_stats_basic *basic = RTA_DATA(s);

						now.bytes = basic->bytes;
						now.packets = basic->packets;
					} else if (s->rta_type == TCA_STATS_QUEUE) {
						struct gnet_stats_queue *queue = RTA_DATA(s);

						now.drops = queue->drops;
						now.waiting = queue->qlen;
						now.waiting_bytes = queue->backlog;
					}
				}
			}
		}
	}
}

static int netstat;

/* How often retransmission timers of the source expired. */
static long timeouts(void)
{
	static char text[1 << 15];
	long length = pread(netstat, text, sizeof(text) - 1, 0);

	if (length <= 0)
		fail("netstat");
	text[length] = 0;
	char *names = strstr(text, "TcpExt:"), *values = names ? strstr(names + 1, "TcpExt:") : NULL;

	if (!values)
		fail("netstat");
	char *name, *value, *in_names, *in_values;

	values[-1] = 0;
	name = strtok_r(names, " ", &in_names);
	value = strtok_r(values, " \n", &in_values);
	while (name && value && strcmp(name, "TCPTimeouts")) {
		name = strtok_r(NULL, " ", &in_names);
		value = strtok_r(NULL, " \n", &in_values);
	}
	return value ? atol(value) : 0;
}

static struct timespec origin;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec - origin.tv_sec + t.tv_nsec * 1e-9;
}

static void open_flow(struct flow *flow, int poll)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = inet_addr("10.0.3.1")};
	struct epoll_event event = {.events = EPOLLOUT, .data.ptr = flow};

	if (setsockopt(flow->socket, IPPROTO_TCP, TCP_CONGESTION, flow->control, strlen(flow->control)))
		fail(flow->control);
	if (connect(flow->socket, (void *)&at, sizeof(at)) && errno != EINPROGRESS)
		fail("connect");
	epoll_ctl(poll, EPOLL_CTL_ADD, flow->socket, &event);
}

/* Keeps the send buffers of all flows full until `end`, and starts those that are due. */
static void send_until(double end, int poll)
{
	struct epoll_event ready[FLOWS];
	static int begun;

	for (double t = now(); t < end; t = now()) {
		double next = end;

		if (begun < count && flows[begun].start <= t) {
			open_flow(&flows[begun++], poll);
			continue;
		}
		if (begun < count && flows[begun].start < next)
			next = flows[begun].start;
		struct timespec wait = {.tv_sec = (long)(next - t), .tv_nsec = (long)((next - t - (long)(next - t)) * 1e9) + 1};
		int n = epoll_pwait2(poll, ready, FLOWS, &wait, NULL);

		for (int i = 0; i < n; i++) {
			struct flow *flow = ready[i].data.ptr;

			while (send(flow->socket, zeros, CHUNK, MSG_NOSIGNAL) > 0)
				;
		}
	}
}

static struct tcp_info info_of(struct flow *flow)
{
	struct tcp_info info = {0};
	socklen_t length = sizeof(info);

	getsockopt(flow->socket, IPPROTO_TCP, TCP_INFO, &info, &length);
	return info;
}

static void note(FILE *file, double t)
{
	for (int i = 0; i < count; i++) {
		struct tcp_info one = info_of(&flows[i]);

		fprintf(file, "%.3f %d state %u cwnd %u ssthresh %u unacked %u sacked %u lost %u retrans %u total %u acked %llu rto %u backoff %u\n",
			t, i, one.tcpi_ca_state, one.tcpi_snd_cwnd, one.tcpi_snd_ssthresh, one.tcpi_unacked, one.tcpi_sacked, one.tcpi_lost,
			one.tcpi_retrans, one.tcpi_total_retrans, (unsigned long long)one.tcpi_bytes_acked, one.tcpi_rto, one.tcpi_backoff);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct flow *one = a, *other = b;

	return (one->start > other->start) - (one->start < other->start);
}

int main(int argc, char **argv)
{
	struct counters first = {0}, last;
	double packets = 0, bytes = 0;
	long samples = 0, expired = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: lab PLAN\n");
		return 2;
	}
	read_plan(argv[1]);
	qsort(flows, count, sizeof(*flows), by_start);
	if (fork() == 0)
		receive();
	enter("source");
	for (int i = 0; i < count; i++)
		flows[i].socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	netstat = open("/proc/thread-self/net/netstat", O_RDONLY);
	enter("near");
	bottleneck = if_nametoindex("bott");
	netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	int poll = epoll_create1(0);
	FILE *file = *series ? fopen(series, "w") : NULL;

	/* Flows start on the same phase of the kernel's ticks in every run. */
	clock_gettime(CLOCK_MONOTONIC, &origin);
	origin.tv_sec += 2;
	send_until(0, poll);
	for (long i = 0; i * every / 1000 < to; i++) {
		double t = i * every / 1000;

		send_until(t, poll);
		struct counters one = look();

		if (file)
			note(file, t);
		if (t < from)
			continue;
		if (samples++ == 0) {
			first = one;
			expired = timeouts();
			for (int j = 0; j < count; j++) {
				struct tcp_info info = info_of(&flows[j]);

				flows[j].acked = info.tcpi_bytes_acked;
				flows[j].retransmitted = info.tcpi_total_retrans;
				flows[j].marked = info.tcpi_delivered_ce;
			}
		}
		packets += one.waiting;
		bytes += one.waiting_bytes;
	}
	send_until(to, poll);
	last = look();
	printf("{\"bytes\": %llu, \"packets\": %u, \"drops\": %u, \"queue\": %.4f, \"queue_bytes\": %.1f, \"timeouts\": %ld, \"flows\": [",
	       last.bytes - first.bytes, last.packets - first.packets, last.drops - first.drops, packets / samples, bytes / samples,
	       timeouts() - expired);
	for (int i = 0; i < count; i++) {
		struct tcp_info info = info_of(&flows[i]);

		printf("%s{\"control\": \"%s\", \"acked\": %llu, \"retransmitted\": %u, \"marked\": %u}", i ? ", " : "", flows[i].control,
		       (unsigned long long)info.tcpi_bytes_acked - flows[i].acked, info.tcpi_total_retrans - flows[i].retransmitted,
		       info.tcpi_delivered_ce - flows[i].marked);
	}
	printf("]}\n");
	if (file)
		fclose(file);
	fflush(stdout);
	return 0;
}
