/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* cc/pert.h in the kernel. */
#include "cc/pert.h"

PERT_PARAMETERS(CONSTANT)

#define ALGORITHM pert
#define NAME "pert"
#define VALUES PERT_VALUES
#define prepare(sk, flow)
#include "lib/controller.h"
