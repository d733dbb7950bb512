/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fixed-point arithmetic, for kernel programs and, compiled natively, for their tests.
 *
 *   fixed     32 fractional bits: 2^-32 = 2.3e-10, nine decimals
 *   span_ns   nanoseconds
 *
 * A loader derives the form of a parameter from the names of the types. Products and quotients round down and are exact
 * to 2^-32; a divisor of
 * more than 56 bits loses its last eight.
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
#elif defined(__KERNEL__)
#include <linux/types.h>
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

/* a / b of two numbers with the same unit, saturating at the greatest number. */
INLINE fixed quotient(u64 a, u64 b)
{
	u64 result, rest;

	if (b >> 56) {
		a >>= 8;
		b >>= 8;
	}
	if (!b || a / b >> 32)
		return MOST;
	result = a / b;
	rest = a % b;
	/* A remainder has 56 bits at most: eight bits of the fraction at a time. */
	for (int digits = 0; digits < 4; digits++) {
		rest <<= 8;
		result = result << 8 | rest / b;
		rest %= b;
	}
	return result;
}

/* a - b, or nothing. */
INLINE u64 excess(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

#endif
