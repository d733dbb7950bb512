/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* cc/pert_small.h in the kernel. */
#include "cc/pert_small.h"

PERT_SMALL_PARAMETERS(CONSTANT)

#define ALGORITHM pert_adaptive
#define NAME "pert_small"
#define VALUES PERT_ADAPTIVE_VALUES
#define prepare(sk, flow)
#include "lib/controller.h"
