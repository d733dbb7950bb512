/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* pert.bpf.c in a kernel's own tree. */
#include <linux/bpf.h>
#include <net/tcp.h>

#include "pert.bpf.c"
#include "register.h"
