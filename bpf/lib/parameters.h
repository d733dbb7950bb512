/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A list of parameters NAME_PARAMETERS(P), each P(type, name, default), is written once and becomes a structure for the algorithm,
 * constants that a loader sets before the program is verified, and a table for the native twin.
 */
#ifndef KNEE_PARAMETERS_H
#define KNEE_PARAMETERS_H

#define FIELD(type, name, value) type name;
#ifdef __KERNEL__
#define CONSTANT(type, name, value) static const volatile type name = value;
#else
#define CONSTANT(type, name, value) const volatile type name = value;
#endif
#define COPY(type, name, value) .name = name,

#define PARAMETERS(algorithm, LIST) \
	struct algorithm##_parameters { LIST(FIELD) }

#endif
