/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* cc/pert_adaptive.h in the kernel. */
#include "cc/pert_adaptive.h"

PERT_ADAPTIVE_PARAMETERS(CONSTANT)

#define ALGORITHM pert_adaptive
#define NAME "pert_adaptive"
#define VALUES PERT_ADAPTIVE_VALUES
#define prepare(sk, flow)
#include "lib/controller.h"
