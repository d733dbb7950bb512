# SPDX-License-Identifier: Apache-2.0 OR MIT
# Two kinds of TCP on one drop-tail link: what each gets and loses.
# usage: ns mix.tcl key=value ...          -> one JSON line on stdout, prefixed "JSON "
#
#  a, b    sack, or one of the congestion controls of Agent/TCP/Linux; a also fast (alpha pkts; FAST_MODULE as for dumbbell.tcl)
#  na, nb  flows of each
#  bw (bit/s) rtt (s, propagation) buffer (pkts, 0 = bw*rtt/8000);  t0 t1 measurement window;  startspan;  seed
#  overhead (s, -1 = one bottleneck pkt time)
array set o { a sack b illinois na 33 nb 33 bw 150e6 rtt 0.06 buffer 0 t0 100 t1 300 startspan 10 seed 1 overhead -1 payload 1000 alpha 100 }
foreach arg $argv { set i [string first = $arg]; set k [string range $arg 0 [expr $i-1]]
  if {![info exists o($k)]} {puts stderr "unknown option $k"; exit 1}
  set o($k) [string range $arg [expr $i+1] end] }
remove-all-packet-headers; add-packet-header IP TCP Flags
set ns [new Simulator]
$ns use-scheduler Calendar
$ns rtproto Manual
$defaultRNG seed $o(seed)
set rng [new RNG]; for {set j 0} {$j<3} {incr j} {$rng next-substream}
set buffer $o(buffer); if {$buffer<=0} {set buffer [expr int(round($o(bw)*$o(rtt)/8000.0))]}
Agent/TCP set packetSize_ $o(payload)
Agent/TCP set window_ 5000
Agent/TCP set overhead_ [expr $o(overhead)<0 ? ($o(payload)+40)*8.0/$o(bw) : $o(overhead)]
Agent/TCP set minrto_ 0.2
if {$o(a)=="fast"} {
  source [file join [file dirname [info script]] fast.tcl]
  load_fast $o(alpha)
}
proc defroute {n adj} {[$n get-module "Manual"] add-route-to-adj-node -default $adj}
proc route {n adj} {[$n get-module "Manual"] add-route-to-adj-node $adj}
proc access {h r d} {global ns
  $ns duplex-link $h $r 1e9 ${d}s DropTail
  $ns queue-limit $h $r 1000000; $ns queue-limit $r $h 1000000
  defroute $h $r; route $r $h}
set r1 [$ns node]; set r2 [$ns node]
set delay [expr $o(rtt)/3.0]
$ns simplex-link $r1 $r2 $o(bw) ${delay}s DropTail
$ns simplex-link $r2 $r1 $o(bw) ${delay}s DropTail
$ns queue-limit $r1 $r2 $buffer; $ns queue-limit $r2 $r1 10000
defroute $r1 $r2; defroute $r2 $r1
set n [expr $o(na)+$o(nb)]
for {set i 0} {$i<$n} {incr i} {
  set d [expr ($o(rtt)/2.0-$delay)/2.0]
  set s [$ns node]; set k [$ns node]; access $s $r1 $d; access $k $r2 $d
  set kind [expr {$i<$o(na) ? $o(a) : $o(b)}]
  set t [new Agent/TCP/[expr {$kind=="sack" ? "Sack1" : $kind=="fast" ? "Fast" : "Linux"}]]; set sink [new Agent/TCPSink/Sack1]
  $ns attach-agent $s $t; $ns attach-agent $k $sink; $ns connect $t $sink
  $t set fid_ $i
  if {$kind!="sack" && $kind!="fast"} {$ns at 0.0 "$t select_ca $kind"; $t set timestamps_ true}
  set f [new Application/FTP]; $f attach-agent $t
  $ns at [$rng uniform 0 $o(startspan)] "$f start"
}
set fm [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $r1 $r2] $fm
proc seen {} {global fm
  set all {}
  foreach f [$fm flows] {lappend all [$f set flowid_] [list [$f set parrivals_] [$f set pdrops_] [$f set bdepartures_]]}
  return $all}
$ns at $o(t0) {array set before [seen]}
$ns at $o(t1) {
  array set after [seen]
  foreach g {a b} {foreach c {arr drop bytes} {set sum($g,$c) 0}}
  foreach i [array names after] {
    set g [expr {$i<$o(na) ? "a" : "b"}]
    set was [expr {[info exists before($i)] ? $before($i) : {0 0 0}}]
    foreach c {arr drop bytes} now $after($i) then $was {set sum($g,$c) [expr $sum($g,$c)+$now-$then]}
  }
  set total [expr double($sum(a,bytes)+$sum(b,bytes))]
  puts [format {JSON {"a": "%s", "b": "%s", "na": %d, "nb": %d, "alpha": %d, "seed": %d, "share_a": %.4f, "share_b": %.4f, "drop_a": %.6f, "drop_b": %.6f, "util": %.4f}} \
    $o(a) $o(b) $o(na) $o(nb) $o(alpha) $o(seed) [expr $sum(a,bytes)/$total] [expr $sum(b,bytes)/$total] \
    [expr double($sum(a,drop))/$sum(a,arr)] [expr double($sum(b,drop))/$sum(b,arr)] [expr $total*8/$o(bw)/($o(t1)-$o(t0))]]
  exit 0
}
$ns run
