/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* pert_adaptive.bpf.c in a kernel's own tree. */
#include <linux/bpf.h>
#include <net/tcp.h>

#include "pert_adaptive.bpf.c"
#include "register.h"
