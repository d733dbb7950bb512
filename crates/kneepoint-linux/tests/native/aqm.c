/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The law of bpf/aqm, natively: settings and packets on standard input, probabilities on standard output. */
#include <inttypes.h>
#include <stdio.h>

#include "aqm/law.h"
#include "lib/hint.h"

int main(void)
{
	struct aqm_settings set;
	struct aqm_state state = { 0 };
	uint64_t now;
	uint32_t queue, window;

	if (scanf("%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu32 "%" SCNu32 "%" SCNu64 "%" SCNu64 "%" SCNu64 "%" SCNu64, &set.a,
		  &set.b, &set.reference, &set.interval, &set.spare, &set.at_arrival, &set.spare_gain, &set.spare_weight,
		  &set.min_window, &set.min_window_share) != 10)
		return 1;
	/* The time, the queue, and the sender's window, zero without one. */
	while (scanf("%" SCNu64 "%" SCNu32 "%" SCNu32, &now, &queue, &window) == 3) {
		u8 code = window ? hint_of_window(window) : 0;

		printf("%u %" PRIu64 "\n", code, aqm_judge(&set, &state, queue, hint_window(code), now));
	}
	return 0;
}
