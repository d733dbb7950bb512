# SPDX-License-Identifier: Apache-2.0 OR MIT
# ns-2.35's FAST, which Debian leaves out, with its own defaults: $FAST_MODULE is a shared library made of tcp/tcp-fast.cc.
proc load_fast {alpha} {
  load $::env(FAST_MODULE) Fast
  foreach {k v} "cwnd_update_period_ 0.01 avgRTT_ 0 baseRTT_ 0 avg_cwnd_last_RTT_ 0 gamma_ 0.5
    mi_threshold_ 0.00075 high_accuracy_cwnd_ 2 alpha_ $alpha beta_ $alpha" {Agent/TCP/Fast set $k $v}
}
