/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Makes the controller that was compiled before known to the kernel. */

static void knee_free(struct sock *sk)
{
	kfree(*place_of(sk));
	*place_of(sk) = NULL;
}

static int __init knee_register(void)
{
	ALGORITHM.release = knee_free;
	return tcp_register_congestion_control(&ALGORITHM);
}
late_initcall(knee_register);
