/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The sender's window in the six DSCP bits of a packet: a logarithmic code with four steps an octave.
 *
 * Code 0 is not a hint; code c >= 1 is a window of 2^((c - 1) / 4) packets, so 1 is one packet and 63 is 46341.
 */
#ifndef KNEE_HINT_H
#define KNEE_HINT_H

#include "lib/fixed.h"

#define HINT_GREATEST 63

/* Left to itself clang puts a table of this size into a separate section, which is absent from its type information. */
#define HINT_TABLE __attribute__((section(".rodata")))

/* 2^0, 2^(1/4), 2^(1/2), 2^(3/4), with 32 fractional bits. */
static const u64 hint_quarters[4] HINT_TABLE = { 0x100000000, 0x1306fe0a3, 0x16a09e668, 0x1ae89f996 };
/* 2^(1/8), 2^(3/8), 2^(5/8), 2^(7/8), with 31 fractional bits: where the nearest step changes. */
static const u32 hint_limits[4] HINT_TABLE = { 0x8b95c1e4, 0xa5fed6aa, 0xc5672a11, 0xeac0c6e8 };

/* The code whose window is nearest on a logarithmic scale. */
INLINE u8 hint_of_window(u32 window)
{
	u32 octave = 0, quarter = 0, code, mantissa;

	if (window <= 1)
		return 1;
	/* The highest bit, by halves. */
	for (u32 bits = 16; bits; bits >>= 1)
		if (window >> (octave + bits))
			octave += bits;
	mantissa = window << (31 - octave);
	for (u32 step = 0; step < 4; step++)
		if (mantissa > hint_limits[step])
			quarter = step + 1;
	code = 1 + 4 * octave + quarter;
	return code < HINT_GREATEST ? code : HINT_GREATEST;
}

/* The window of a code, in packets with 32 fractional bits; zero without a hint. */
INLINE u64 hint_window(u8 code)
{
	if (!code || code > HINT_GREATEST)
		return 0;
	return hint_quarters[(code - 1) & 3] << ((code - 1) >> 2);
}

#endif
