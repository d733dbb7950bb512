# SPDX-License-Identifier: Apache-2.0 OR MIT
# PERT fig. 10 parking lot: R1..R6, 150 Mb/s 5 ms; clouds of 20 nodes, 1 Gb/s 5 ms. cloud k -> cloud k+1 (20 flows each),
# and every node of cloud 1 -> cloud 6 (20 more flows, one per node).   usage: ns parkinglot.tcl key=value
array set o { scheme sack-droptail bw 150e6 d 0.005 accbw 1e9 ad 0.005 ncloud 20 buffer 563 t0 100 t1 300 startspan 50 seed 1 overhead -1 tag "" window 0}
foreach a $argv { set i [string first = $a]; set k [string range $a 0 [expr $i-1]]
  if {![info exists o($k)]} {puts stderr "unknown $k"; exit 1}; set o($k) [string range $a [expr $i+1] end] }
foreach k {bw d ad ncloud buffer t0 t1 seed} {set $k [expr $o($k)]}
remove-all-packet-headers; add-packet-header IP TCP Flags
set ns [new Simulator]; $ns rtproto Manual
global defaultRNG; $defaultRNG seed $seed
set rng [new RNG]; for {set j 0} {$j<3} {incr j} {$rng next-substream}
regexp {^([^-]+)-(.*)$} $o(scheme) _ cc aqm
set wire 1040
Agent/TCP set packetSize_ 1000
set win $o(window); if {$win<=0} {set win 6000}
Agent/TCP set window_ $win
Agent/TCP set overhead_ [expr $o(overhead)<0 ? $wire*8.0/$bw : $o(overhead)]
if {$aqm=="redecn"} {Agent/TCP set ecn_ 1}
array set TT {sack TCP/Sack1 vegas TCP/Vegas}
set tcptype $TT($cc); set sinktype TCPSink/Sack1
Queue/RED set bytes_ false; Queue/RED set queue_in_bytes_ false; Queue/RED set mean_pktsize_ $wire
Queue/RED set gentle_ true; Queue/RED set adaptive_ 1; Queue/RED set q_weight_ -1
Queue/RED set thresh_ 0; Queue/RED set maxthresh_ 0; Queue/RED set targetdelay_ 0.005
Queue/RED set setbit_ true
set qt [expr {$aqm=="redecn" ? "RED" : "DropTail"}]
proc defroute {n adj} {[$n get-module "Manual"] add-route-to-adj-node -default $adj}
proc rt {n dst adj} { global ns;  # route dst (node) via adj
  set m [$n get-module "Manual"]; $m add-route [$dst set address_] [[$ns link $n $adj] head] }
for {set k 1} {$k<=6} {incr k} {set R($k) [$ns node]}
for {set k 1} {$k<6} {incr k} { set n [expr $k+1]
  $ns simplex-link $R($k) $R($n) $bw ${d}s $qt; $ns simplex-link $R($n) $R($k) $bw ${d}s DropTail
  $ns queue-limit $R($k) $R($n) $buffer; $ns queue-limit $R($n) $R($k) 10000 }
for {set k 1} {$k<=6} {incr k} { for {set i 0} {$i<$ncloud} {incr i} { set c [$ns node]; set N($k,$i) $c
  $ns duplex-link $c $R($k) $o(accbw) ${ad}s DropTail
  $ns queue-limit $c $R($k) 1000000; $ns queue-limit $R($k) $c 1000000
  defroute $c $R($k) } }
for {set k 1} {$k<=6} {incr k} { for {set j 1} {$j<=6} {incr j} { for {set i 0} {$i<$ncloud} {incr i} {
  if {$j==$k} {set adj $N($j,$i)} elseif {$j>$k} {set adj $R([expr $k+1])} else {set adj $R([expr $k-1])}
  rt $R($k) $N($j,$i) $adj } } }
set nf 0
proc mk {s dd} { global ns tcp nf tcptype sinktype rng o
  set t [new Agent/$tcptype]; set k [new Agent/$sinktype]; $ns attach-agent $s $t; $ns attach-agent $dd $k; $ns connect $t $k
  $t set fid_ $nf; set tcp($nf) $t; set f [new Application/FTP]; $f attach-agent $t; $ns at [$rng uniform 0 $o(startspan)] "$f start"; incr nf; return [expr $nf-1] }
for {set k 1} {$k<6} {incr k} { set grp($k) {}; for {set i 0} {$i<$ncloud} {incr i} { lappend grp($k) [mk $N($k,$i) $N([expr $k+1],$i)] } }
set grp(long) {}; for {set i 0} {$i<$ncloud} {incr i} { lappend grp(long) [mk $N(1,$i) $N(6,$i)] }
set VV {pdrops_ parrivals_ pdepartures_ bdepartures_ pmarks_}
for {set k 1} {$k<6} {incr k} { set qm($k) [$ns monitor-queue $R($k) $R([expr $k+1]) 0]; set ig($k) [$qm($k) get-pkts-integrator] }
proc snap {arr} { global ns qm ig tcp nf VV; upvar #0 $arr a
  for {set k 1} {$k<6} {incr k} { $ig($k) newpoint [$ns now] [$ig($k) set lasty_]; set a(sum$k) [$ig($k) set sum_]; foreach v $VV {set a($v$k) [$qm($k) set $v]} }
  for {set i 0} {$i<$nf} {incr i} {set a(ack$i) [$tcp($i) set ack_]; set a(to$i) [$tcp($i) set nrexmit_]} }
proc jain {l} { global A B; set s 0.0; set s2 0.0; foreach i $l {set g [expr double($B(ack$i)-$A(ack$i))]; set s [expr $s+$g]; set s2 [expr $s2+$g*$g]}; expr $s2>0?$s*$s/([llength $l]*$s2):0 }
proc gp {l} { global A B t0 t1; set s 0.0; foreach i $l {set s [expr $s+$B(ack$i)-$A(ack$i)]}; expr $s*8000.0/($t1-$t0) }
proc finish {} { global A B o bw t0 t1 buffer VV grp seed nf
  snap B; set T [expr double($t1-$t0)]; set L {}
  for {set k 1} {$k<6} {incr k} { set q [expr ($B(sum$k)-$A(sum$k))/$T]; foreach v $VV {set D($v) [expr $B($v$k)-$A($v$k)]}
    set bd [expr $D(bdepartures_) & 0xffffffff]; set D(bdepartures_) [expr $bd + 4294967296.0*round((1040.0*$D(pdepartures_)-$bd)/4294967296.0)]
    lappend L [format {{"link":"R%d-R%d","q_pkts":%.3f,"q_norm":%.5f,"drop_rate":%.4e,"drops":%d,"mark_rate_cum":%.4e,"util_wire":%.5f,"arrivals":%d,"jain_adjacent":%.5f,"jain_all_on_link":%.5f,"goodput_adjacent_mbps":%.4f}} $k [expr $k+1] $q [expr $q/$buffer] \
     [expr double($D(pdrops_))/$D(parrivals_)] $D(pdrops_) [expr double($D(pmarks_))/$D(parrivals_)] [expr $D(bdepartures_)*8.0/$bw/$T] $D(parrivals_) [jain $grp($k)] [jain [concat $grp($k) $grp(long)]] [expr [gp $grp($k)]/1e6]] }
  set to 0; for {set i 0} {$i<$nf} {incr i} {incr to [expr $B(to$i)-$A(to$i)]}
  puts [format {JSON {"sim":"ns-2.35","topo":"parkinglot","scheme":"%s","tag":"%s","bw":%g,"buffer":%d,"seed":%d,"t0":%g,"t1":%g,"nflows":%d,"links":[%s],"jain_long":%.5f,"goodput_long_mbps":%.4f,"timeouts":%d}} $o(scheme) $o(tag) $bw $buffer $seed $t0 $t1 $nf [join $L ,] [jain $grp(long)] [expr [gp $grp(long)]/1e6] $to]
  flush stdout; exit 0 }
$ns at $t0 "snap A"; $ns at $t1 finish
$ns run
