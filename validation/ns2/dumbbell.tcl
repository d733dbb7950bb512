# SPDX-License-Identifier: Apache-2.0 OR MIT
# Reference dumbbell for ns-2.35 (written for this data set; no code copied from the papers).
# usage: ns dumbbell.tcl key=value ...          -> one JSON line on stdout, prefixed "JSON "
#
#  scheme  sack-droptail | sack-redecn | sack-red | vegas-droptail | newreno-droptail | sack-pi | sack-piecn | newreno-pi |
#          sack-rem | sack-remecn | sack-avq | sack-avqecn | sack-rio |
#          fast-droptail (alpha pkts; $FAST_MODULE is a shared library with ns-2.35's tcp/tcp-fast.cc, which Debian leaves out) |
#          cubic/illinois/compound/highspeed/htcp/bic/reno/vegasL -droptail   (Agent/TCP/Linux)
#  bw (bit/s) rtt (s, propagation) nflows nweb buffer (pkts, 0 = max(bw*rtt/8000, 2*nflows))
#  t0 t1 measurement window, startspan flows start U(0,startspan); seed; overhead (s, -1 = one bottleneck pkt time)
#  rtts=list (s) : explicit per-flow RTTs (overrides rtt for flows;  rtt still used for buffer and web)
#  bdelay one-way bottleneck delay (default rtt/3);  accbw access rate (1e9)
#  qref reference queue of PI (pkts)
#  tagrate tagdepth  profile of each long flow at RIO, a token bucket: bit/s, bytes; other packets are out
#  nslots web slots: one object after another over one agent each, `slotoff` s apart; sizes are Pareto II of mean `slotmean` kB,
#         clamped to slotmin..slotmax kB and rounded up to packets; ssthresh initial threshold (0 = window);
#         cbr bit/s of 1000-byte packets against the data
#  webpage mean inter-page (s) 1, webobj mean object packets 12, webshape 1.2
array set o {
  scheme sack-droptail bw 150e6 rtt 0.06 nflows 50 nweb 0 buffer 0 t0 100 t1 300 startspan 50 seed 1
  overhead -1 rtts {} bdelay -1 accbw 1e9 webpage 1.0 webobj 12 webshape 1.2 webnodes 10 payload 1000
  window 0 rev 0 sched Calendar allheaders 0 ts 0 qweight -1 minrto 0.2 tick 0.01 tag "" delack 0 redtarget 0.005
  qtrace 0 qref 200 redmin 0 redmax 0 adaptive 1 redbytes 0 redmean 0
  tagrate 5e5 tagdepth 10000 nslots 0 slotoff 0.5 slotmean 10 slotmin 1 slotmax 2000 slotshape 1.2 ssthresh 0 cbr 0
  alpha 100
}
foreach a $argv { set i [string first = $a]; set k [string range $a 0 [expr $i-1]]
  if {![info exists o($k)]} {puts stderr "unknown option $k"; exit 1}
  set o($k) [string range $a [expr $i+1] end] }
foreach k {bw rtt nflows nweb buffer t0 t1 seed} { set $k [expr $o($k)] }
set hdr 40
if {!$o(allheaders)} { remove-all-packet-headers; add-packet-header IP TCP Flags RTP }
set ns [new Simulator]
$ns use-scheduler $o(sched)
$ns rtproto Manual
global defaultRNG; $defaultRNG seed $seed
set rng [new RNG]; for {set j 0} {$j<3} {incr j} {$rng next-substream}

set bdp [expr int(round($bw*$rtt/8000.0))]
if {$buffer<=0} { set buffer [expr max($bdp, 2*$nflows)] }
set wire [expr $o(payload)+$hdr]
set overhead $o(overhead); if {$overhead<0} { set overhead [expr $wire*8.0/$bw] }
set bdelay $o(bdelay); if {$bdelay<0} { set bdelay [expr $rtt/3.0] }
set win $o(window)
if {$win<=0} { set win [expr max(1000, 2*($bdp+$buffer))] }

regexp {^([^-]+)-(.*)$} $o(scheme) _ cc aqm
Agent/TCP set packetSize_ $o(payload)
Agent/TCP set window_ $win
Agent/TCP set overhead_ $overhead
Agent/TCP set minrto_ $o(minrto)
Agent/TCP set tcpTick_ $o(tick)
if {$o(ts)} {Agent/TCP set timestamps_ true}
if {[string match *ecn $aqm]} {Agent/TCP set ecn_ 1}
set linux 0
switch $cc {
  sack    {set tcptype TCP/Sack1}
  vegas   {set tcptype TCP/Vegas}
  newreno {set tcptype TCP/Newreno}
  fast    {set tcptype TCP/Fast}
  default {set tcptype TCP/Linux; set linux 1; set ca $cc; if {$ca=="vegasL"} {set ca vegas}}
}
if {$cc=="fast"} {
  source [file join [file dirname [info script]] fast.tcl]
  load_fast $o(alpha)
}
set sinktype TCPSink/Sack1
if {$cc=="newreno"} {set sinktype TCPSink}
if {$o(ssthresh)>0} {Agent/TCP set ssthresh_ $o(ssthresh)}
if {$o(delack)} {set sinktype TCPSink/Sack1/DelAck}
# RED settings: adaptive RED of Floyd, Gummadi, Shenker 2001, in packet mode
Queue/RED set bytes_ $o(redbytes)
Queue/RED set queue_in_bytes_ $o(redbytes)
Queue/RED set mean_pktsize_ [expr $o(redmean)>0 ? $o(redmean) : $wire]
Queue/RED set gentle_ true
Queue/RED set adaptive_ $o(adaptive)
Queue/RED set q_weight_ $o(qweight)
Queue/RED set thresh_ $o(redmin)
Queue/RED set maxthresh_ $o(redmax)
Queue/RED set targetdelay_ $o(redtarget)
Queue/RED set setbit_ [expr {$aqm=="redecn" ? "true" : "false"}]
Queue/PI set qref_ $o(qref)
Queue/PI set setbit_ [expr {$aqm=="piecn" ? "true" : "false"}]
Queue/PI set bytes_ false
Queue/PI set queue_in_bytes_ false
Queue/PI set mean_pktsize_ $wire
Queue/REM set mean_pktsize_ $wire
Queue/REM set markpkts_ [string match *ecn $aqm]
Queue/Vq set mean_pktsize_ $wire
Queue/Vq set markpkts_ [string match *ecn $aqm]
Queue/RED/RIO set mean_pktsize_ $wire
Queue/RED/RIO set adaptive_ 0
array set kinds { droptail DropTail red RED pi PI rem REM avq Vq rio RED/RIO }
set qt $kinds([regsub {ecn$} $aqm {}])

proc defroute {n adj} {[$n get-module "Manual"] add-route-to-adj-node -default $adj}
proc route {n adj} {[$n get-module "Manual"] add-route-to-adj-node $adj}

set r1 [$ns node]; set r2 [$ns node]
$ns simplex-link $r1 $r2 $bw ${bdelay}s $qt
$ns simplex-link $r2 $r1 $bw ${bdelay}s DropTail
$ns queue-limit $r1 $r2 $buffer
$ns queue-limit $r2 $r1 [expr max(10000,$buffer)]
defroute $r1 $r2; defroute $r2 $r1
proc acc {h r d} { global ns o
  $ns duplex-link $h $r $o(accbw) ${d}s DropTail
  $ns queue-limit $h $r 1000000; $ns queue-limit $r $h 1000000
  defroute $h $r; route $r $h }

proc mkflow {i s d} {
  global ns tcptype sinktype linux ca tcp o
  set t [new Agent/$tcptype]; set k [new Agent/$sinktype]
  $ns attach-agent $s $t; $ns attach-agent $d $k; $ns connect $t $k
  $t set fid_ $i
  if {$linux} { $ns at 0.0 "$t select_ca $ca"; $t set timestamps_ true }
  return $t
}
set nf $nflows
if {$aqm=="rio"} {set tagger [$ns maketbtagger Fid]}
for {set i 0} {$i<$nf} {incr i} {
  set r $rtt
  if {[llength $o(rtts)]>0} {set r [lindex $o(rtts) [expr $i % [llength $o(rtts)]]]}
  set d [expr ($r/2.0-$bdelay)/2.0]
  set s [$ns node]; set k [$ns node]
  acc $s $r1 $d; acc $k $r2 $d
  if {$aqm=="rio"} { $ns attach-tagger [$ns link $s $r1] $tagger; defroute $s $r1
    [$tagger classifier] set-rate 0 0 $i auto $o(tagrate) $o(tagdepth) $o(tagdepth) }
  set tcp($i) [mkflow $i $s $k]
  set ftp($i) [new Application/FTP]; $ftp($i) attach-agent $tcp($i)
  $ns at [$rng uniform 0 $o(startspan)] "$ftp($i) start"
}
# optional reverse long flows (r2 -> r1), not counted in Jain
for {set i 0} {$i<$o(rev)} {incr i} {
  set d [expr ($rtt/2.0-$bdelay)/2.0]
  set s [$ns node]; set k [$ns node]
  acc $s $r2 $d; acc $k $r1 $d
  set rt [mkflow [expr 100000+$i] $s $k]
  set rf [new Application/FTP]; $rf attach-agent $rt
  $ns at [$rng uniform 0 $o(startspan)] "$rf start"
}
if {$nweb>0} {
  PagePool/WebTraf set TCPTYPE_ Sack1
  PagePool/WebTraf set TCPSINKTYPE_ TCPSink/Sack1
  PagePool/WebTraf set FID_ASSIGNING_MODE_ 2
  set pool [new PagePool/WebTraf]; $pool set sameFid_ 999999
  set nw $o(webnodes)
  $pool set-num-client $nw; $pool set-num-server $nw
  set d [expr ($rtt/2.0-$bdelay)/2.0]
  for {set i 0} {$i<$nw} {incr i} {
    set s [$ns node]; set c [$ns node]; acc $s $r1 $d; acc $c $r2 $d
    $pool set-server $i $s; $pool set-client $i $c }
  $pool set-num-session $nweb
  for {set i 0} {$i<$nweb} {incr i} {
    set ip [new RandomVariable/Exponential]; $ip set avg_ $o(webpage)
    set ps [new RandomVariable/Constant]; $ps set val_ 1
    set io [new RandomVariable/Exponential]; $io set avg_ 0.01
    set os [new RandomVariable/ParetoII]; $os set avg_ $o(webobj); $os set shape_ $o(webshape)
    $pool create-session $i 1000000 [$rng uniform 0 $o(startspan)] $ip $ps $io $os
  }
}
set objects 0
proc nextobj {i} { global slot slotsink sizes o
  $slot($i) reset; $slotsink($i) reset; $slot($i) set ssthresh_ [Agent/TCP set ssthresh_]
  set kb [expr $o(slotmean)*($o(slotshape)-1)*(pow(1-[$sizes uniform 0 1],-1.0/$o(slotshape))-1)]
  $slot($i) advanceby [expr int(ceil(1000.0*min(max($kb,$o(slotmin)),$o(slotmax))/$o(payload)))] }
proc objdone {i} { global ns objects o; incr objects; $ns at [expr [$ns now]+$o(slotoff)] "nextobj $i" }
if {$o(nslots)>0} {
  set sizes [new RNG]
  set d [expr ($rtt/2.0-$bdelay)/2.0]
  for {set i 0} {$i<$o(nslots)} {incr i} {
    set s [$ns node]; set k [$ns node]; acc $s $r1 $d; acc $k $r2 $d
    set slot($i) [new Agent/$tcptype]; set slotsink($i) [new Agent/$sinktype]
    $ns attach-agent $s $slot($i); $ns attach-agent $k $slotsink($i); $ns connect $slot($i) $slotsink($i)
    $slot($i) set fid_ 999999
    $slot($i) proc done {} "objdone $i"
    $ns at [$rng uniform 0 $o(startspan)] "nextobj $i"
  }
}
if {$o(cbr)>0} {
  set d [expr ($rtt/2.0-$bdelay)/2.0]
  set s [$ns node]; set k [$ns node]; acc $s $r2 $d; acc $k $r1 $d
  set u [new Agent/UDP]; set z [new Agent/Null]; $ns attach-agent $s $u; $ns attach-agent $k $z; $ns connect $u $z
  $u set packetSize_ 1000
  set c [new Application/Traffic/CBR]; $c set packetSize_ 1000; $c set rate_ $o(cbr); $c set random_ 1
  $c attach-agent $u; $ns at 0.0 "$c start"
}
set qm [$ns monitor-queue $r1 $r2 0]
set integ [$qm get-pkts-integrator]
foreach v {pdrops_ parrivals_ pdepartures_ bdepartures_ pmarks_ barrivals_} {set base($v) 0}
proc snap {arr} { global ns qm integ tcp nf objects
  upvar #0 $arr a
  $integ newpoint [$ns now] [$integ set lasty_]
  set a(sum) [$integ set sum_]
  foreach v {pdrops_ parrivals_ pdepartures_ bdepartures_ pmarks_ barrivals_} {set a($v) [$qm set $v]}
  set a(obj) $objects
  set a(to) 0; set a(cuts) 0; set a(rtx) 0
  for {set i 0} {$i<$nf} {incr i} { set a(ack$i) [$tcp($i) set ack_]
    incr a(to) [$tcp($i) set nrexmit_]; incr a(cuts) [$tcp($i) set ncwndcuts_]; incr a(rtx) [$tcp($i) set nrexmitpack_] }
}
proc redinfo {} { global ns r1 r2 qt; if {$qt!="RED"} {return ""}; set q [[$ns link $r1 $r2] queue]
  return [format {min=%g max=%g wq=%g curmaxp=%g bottom=%g} [$q set thresh_] [$q set maxthresh_] [$q set q_weight_] [$q set cur_max_p_] [$q set bottom_]] }
proc finish {} {
  global ns A B nf bw t0 t1 o buffer bdp rtt seed win overhead wire qm nweb bdelay
  snap B
  set T [expr double($t1-$t0)]
  foreach k {sum pdrops_ parrivals_ pdepartures_ bdepartures_ pmarks_ obj to cuts rtx} {set D($k) [expr $B($k)-$A($k)]}
  # bdepartures_ is a 32-bit int in ns-2: unwrap the difference with the help of the packet count
  set est [expr double($D(pdepartures_))*$wire]; set bd [expr $D(bdepartures_) & 0xffffffff]
  set D(bdepartures_) [expr $bd + 4294967296.0*round(($est-$bd)/4294967296.0)]
  set s 0.0; set s2 0.0; set mn 1e99; set mx 0; set gl {}
  for {set i 0} {$i<$nf} {incr i} { set g [expr ($B(ack$i)-$A(ack$i))*$o(payload)*8.0/$T]
    set s [expr $s+$g]; set s2 [expr $s2+$g*$g]; if {$g<$mn} {set mn $g}; if {$g>$mx} {set mx $g}
    if {$nf<=20} {lappend gl [format %.4g [expr $g/1e6]]} }
  set jain [expr $s2>0 ? $s*$s/($nf*$s2) : 0]
  set q [expr $D(sum)/$T]
  set arr [expr double($D(parrivals_))]
  puts [format {JSON {"sim":"ns-2.35","topo":"dumbbell","scheme":"%s","tag":"%s","bw":%g,"rtt":%g,"rtts":[%s],"nflows":%d,"nweb":%d,"rev":%d,"buffer":%d,"bdp1000":%d,"seed":%d,"t0":%g,"t1":%g,"window":%d,"overhead":%g,"ts":%d,"wire":%d,"q_pkts":%.4f,"q_norm":%.5f,"arrivals":%d,"drops":%d,"drop_rate":%.4e,"marks":%d,"mark_rate":%.4e,"departures":%d,"util_wire":%.5f,"goodput_long":%.6g,"util_goodput_long":%.5f,"wire_bytes":%.0f,"jain":%.5f,"gmin":%.4g,"gmax":%.4g,"timeouts":%d,"cwndcuts":%d,"rtx":%d,"departures_total":%d,"red":"%s","objects":%d,"goodputs_mbps":[%s]}} \
   $o(scheme) $o(tag) $bw $rtt [join $o(rtts) ,] $nf $nweb $o(rev) $buffer $bdp $seed $t0 $t1 $win $overhead $o(ts) $wire \
   $q [expr $q/$buffer] $D(parrivals_) $D(pdrops_) [expr $arr>0?$D(pdrops_)/$arr:0] $D(pmarks_) [expr $arr>0?$D(pmarks_)/$arr:0] \
   $D(pdepartures_) [expr $D(bdepartures_)*8.0/($bw*$T)] $s [expr $s/$bw] $D(bdepartures_) $jain $mn $mx $D(to) $D(cuts) $D(rtx) [$qm set pdepartures_] [redinfo] $D(obj) [join $gl ,]]
  flush stdout; exit 0
}
proc qsample {} { global ns qm o; puts [format {Q %.4f %d} [$ns now] [$qm set pkts_]]; $ns at [expr [$ns now]+$o(qtrace)] qsample }
if {$o(qtrace)>0} {$ns at $t0 qsample}
$ns at $t0 "snap A"
$ns at $t1 "finish"
$ns run
