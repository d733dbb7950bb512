/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* cc/pert_pi.h in the kernel. */
#include "cc/pert_pi.h"

PERT_PI_PARAMETERS(CONSTANT)

#define ALGORITHM pert_pi
#define NAME "pert_pi"
#define VALUES PERT_PI_VALUES
#define prepare(sk, flow)
#include "lib/controller.h"
