# SPDX-License-Identifier: Apache-2.0 OR MIT
# One flow over one link that loses a packet at each given time: its window, sampled.
# usage: ns trajectory.tcl key=value ...          -> one JSON line on stdout, prefixed "JSON "
#
#  agent   an Agent/TCP of ns-2: Sack1, Vegas, Fast (with $FAST_MODULE, see dumbbell.tcl) of alpha packets, or Linux with ca=NAME, one of its congestion controls
#  params  of that control: "name value name value"
#  bw (bit/s), rtt (s, propagation), buffer (pkts), losses (s; a packet each)
#  start (pkts) the window to start with, without a slow start; delack=1 delayed ACKs
#  step (s) between samples, end (s), window (pkts, the most)
#
# Samples are taken at step, 2 step, ... end. All times count from the start of the flow, at one second of ns-2's
# clock: to its Linux a packet sent at 0 has no time.
set zero 1.0
array set o { agent Linux ca reno params {} bw 1e9 rtt 0.1 buffer 100000 losses {} start 300 delack 0 step 0.1 end 60 window 100000 seed 1 alpha 100 }
foreach a $argv { set i [string first = $a]; set k [string range $a 0 [expr $i-1]]
  if {![info exists o($k)]} {puts stderr "unknown option $k"; exit 1}
  set o($k) [string range $a [expr $i+1] end] }
remove-all-packet-headers; add-packet-header IP TCP Flags
set ns [new Simulator]
global defaultRNG; $defaultRNG seed $o(seed)
set linux [expr {$o(agent)=="Linux"}]
Agent/TCP set window_ $o(window)
# Linux always sends timestamps, 10 bytes, and its first packet carries data; ns-2's Vegas sends packets without a header.
Agent/TCP set packetSize_ 1000
if {$linux} {Agent/TCP set timestamps_ true; Agent/TCP set syn_ false}

if {$o(agent)=="Fast"} {
  source [file join [file dirname [info script]] fast.tcl]
  load_fast $o(alpha)
}

set a [$ns node]; set b [$ns node]
set delay [expr $o(rtt)/2.0]
$ns simplex-link $a $b $o(bw) ${delay}s DropTail
$ns simplex-link $b $a $o(bw) ${delay}s DropTail
$ns queue-limit $a $b $o(buffer); $ns queue-limit $b $a 1000000
# A lost packet is the first that has left the transmitter at the given time or after it. What stands behind the
# link sees it when it has crossed the link.
set link [[$ns link $a $b] link]
foreach t [lsort -real -decreasing $o(losses)] {
  set em [new ErrorModel/Periodic]
  $em unit time; $em set period_ 1e12; $em set offset_ [expr $zero+$t+$delay]
  $em drop-target [new Agent/Null]
  $em target [$link target]; $link target $em
}
set tcp [new Agent/TCP/$o(agent)]; set sink [new Agent/TCPSink/Sack1[expr {$o(delack) ? "/DelAck" : ""}]]
$ns attach-agent $a $tcp; $ns attach-agent $b $sink; $ns connect $tcp $sink
# Linux takes the threshold over when its control is chosen.
$tcp set windowInit_ $o(start); $ns at $zero "$tcp set ssthresh_ 2"
set ftp [new Application/FTP]; $ftp attach-agent $tcp
if {$linux} {
  $ns at $zero "$tcp select_ca $o(ca)"
  foreach {name value} $o(params) { $ns at $zero "$tcp set_ca_param $o(ca) $name $value" }
}
$ns at $zero "$ftp start"
set samples {}
proc sample {} { global ns tcp o samples zero
  lappend samples [format %.6g [$tcp set cwnd_]]
  if {[llength $samples] < round($o(end)/$o(step))} { $ns at [expr $zero+([llength $samples]+1)*$o(step)] sample } else finish }
proc finish {} { global o samples tcp
  puts [format {JSON {"sim":"ns-2.35","timeouts":%d,"cuts":%d,"window":[%s]}} [$tcp set nrexmit_] [$tcp set ncwndcuts_] [join $samples ,]]
  flush stdout; exit 0 }
$ns at [expr $zero+$o(step)] sample
$ns run
