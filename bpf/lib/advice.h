/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The rate that the network announced to a connection in a TCP option. Shared by the program that reads the option and the controller. */
#ifndef KNEE_ADVICE_H
#define KNEE_ADVICE_H

#include "lib/kernel.h"

/* The controller that heeds it. */
#define ADVISED "ratcp"

/* For so long a rate counts, ns. */
#define FRESH 2000000000ULL

struct advice {
	u64 rate;      /* bits per second; zero if unknown */
	u64 at;        /* when it came, CLOCK_MONOTONIC, ns */
	u32 stamped;   /* what this host's peer is to be told, as it came */
	u32 padding;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct advice);
} advices SEC(".maps");

#endif
