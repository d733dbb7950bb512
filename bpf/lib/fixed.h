/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixed-point arithmetic, for kernel programs and, compiled natively, for their tests.
 *
 *   fixed     32 fractional bits: 2^-32 = 2.3e-10, nine decimals
 *   span_ns   nanoseconds
 *
 * The names of the types tell a loader how a parameter is written. Products round down and are exact to 2^-32; quotients round down and are
 * exact to 2^-32, or to 2^-31 of themselves where the divisor has more than 32 bits.
 */
#ifndef KNEE_FIXED_H
#define KNEE_FIXED_H

#ifdef __bpf__
#include <linux/types.h>
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
#else
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
#endif

#define INLINE static inline __attribute__((always_inline, unused))

typedef u64 fixed;
typedef u64 span_ns;
typedef u32 whole;
typedef u8 flag;

#define ONE ((fixed)1 << 32)
#define MOST (~(u64)0)

/* A constant; the compiler computes it. */
#define FIXED(number) ((fixed)((number) * 4294967296.0 + 0.5))

#define LESSER(a, b) ((a) < (b) ? (a) : (b))
#define GREATER(a, b) ((a) > (b) ? (a) : (b))

/* a b */
INLINE u64 product(u64 a, fixed b)
{
	u64 high = a >> 32, low = (u32)a;

	return high * (b >> 32 << 32) + high * (u32)b + low * (b >> 32) + (low * (u32)b >> 32);
}

/* The bits of a number without leading zeros. */
INLINE u32 bits(u64 number)
{
	u32 count = 0;

	if (number >> 32) { count += 32; number >>= 32; }
	if (number >> 16) { count += 16; number >>= 16; }
	if (number >> 8) { count += 8; number >>= 8; }
	if (number >> 4) { count += 4; number >>= 4; }
	if (number >> 2) { count += 2; number >>= 2; }
	if (number >> 1) { count += 1; number >>= 1; }
	return count + (u32)number;
}

/* a / b of two numbers with one unit; as much as there is where that is more. */
INLINE fixed quotient(u64 a, u64 b)
{
	u64 whole_part, rest, part;
	u32 length, shift;

	if (!b)
		return MOST;
	whole_part = a / b;
	if (whole_part >> 32)
		return MOST;
	rest = a - whole_part * b;
	length = bits(b);
	shift = length > 32 ? length - 32 : 0;
	part = ((rest >> shift) << 32) / (b >> shift);
	return (whole_part << 32) + LESSER(part, ONE - 1);
}

/* a - b, or nothing. */
INLINE u64 excess(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

#endif
