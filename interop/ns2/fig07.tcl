# One run of b08 Figure 7 in ns-2 (Debian's ns2 package, its SCTP module): how long the sender stays on a dead primary path.
#
#   ns fig07.tcl PRIMARY ALTERNATE SOURCE QUEUE PMR SEED [SETTING VALUE]...
#
# PRIMARY and ALTERNATE are wlan, umts or geran; SOURCE is cbr45, cbrmax or bulk; QUEUE is in packets. Prints one line:
# failover_latency rto_at_break t3_at_failover t3_before_break, times in seconds; "none" where there was no failover, and
# "early" where there was one before the break. With the setting "events 1" it first prints a line for each time-out, and
# "packets FILE" writes ns-2's trace of all packets.

foreach {primary alternate source queue pmr seed} [lrange $argv 0 5] {}
# When the source starts. What the experiments of docs/ns2.md change: room of queues beyond QUEUE, in packets; and, by their own names, which end
# in _, variables of the SCTP agents.
array set setting {room 0 events 0 packets ""}
array set setting [lrange $argv 6 end]
incr queue $setting(room)
set breaks_at 10.0
set ends_at 300.0

array set rate {wlan 11e6 umts 384e3 geran 80e3}
array set delay {wlan 0.015 umts 0.080 geran 0.080}

set ns [new Simulator]
if {$setting(packets) != ""} {
    Trace set show_sctphdr_ 1
    $ns trace-all [open $setting(packets) w]
}

proc host {} {
    global ns
    set core [$ns node]
    set interfaces [list [$ns node] [$ns node]]
    foreach interface $interfaces { $ns multihome-add-interface $core $interface }
    return [list $core $interfaces]
}

# A wired leg and an access link, both ways; a loss model behind each queue of the access link, so that a packet that is
# waiting when the link breaks is lost, too.
proc path {from to network} {
    global ns rate delay queue
    set router [$ns node]
    $ns duplex-link $from $router 100Mb 5ms DropTail
    $ns queue-limit $from $router 1000
    $ns queue-limit $router $from 1000
    $ns duplex-link $router $to $rate($network) $delay($network) DropTail
    set losses {}
    foreach {a b} [list $router $to $to $router] {
        $ns queue-limit $a $b $queue
        set loss [new ErrorModel]
        $loss set rate_ 0.0
        $loss unit pkt
        $loss drop-target [new Agent/Null]
        $ns link-lossmodel $loss $a $b
        lappend losses $loss
    }
    return $losses
}

foreach {cn cn_interfaces} [host] {}
foreach {mn mn_interfaces} [host] {}
set primary_losses [path [lindex $cn_interfaces 0] [lindex $mn_interfaces 0] $primary]
path [lindex $cn_interfaces 1] [lindex $mn_interfaces 1] $alternate

# The profile "b08" of the scenarios: RFC 4960 with RTO.Min 20 ms and a SACK for every packet.
proc agent {node} {
    global ns pmr setting
    set agent [new Agent/SCTP]
    $agent set minRto_ 0.020
    $agent set initialRto_ 3.0
    $agent set maxRto_ 60.0
    $agent set pathMaxRetrans_ $pmr
    $agent set associationMaxRetrans_ 100
    $agent set initialCwnd_ 2
    $agent set initialRwnd_ 65536
    $agent set initialSsthresh_ 65536
    $agent set mtu_ 1500
    $agent set dataChunkSize_ 1468
    $agent set useDelayedSacks_ 0
    # Time-outs to the alternate, fast retransmissions to the same path.
    $agent set rtxToAlt_ 2
    $agent set heartbeatInterval_ 30
    foreach {name value} [array get setting *_] { $agent set $name $value }
    $ns multihome-attach-agent $node $agent
    return $agent
}

set sender [agent $cn]
set receiver [agent $mn]
$ns connect $sender $receiver
$sender set-primary-destination [lindex $mn_interfaces 0]

set log [file join [expr {[info exists env(TMPDIR)] ? $env(TMPDIR) : "/tmp"}] "ns2-fig07-[pid].log"]
set trace [open $log w]
$sender set trace_all_ 1
# Not before there are routes: a line of trace looks up the source address.
$ns at 0.0 "$sender trace errorCount_; $sender attach $trace"

# At the lab's time for this seed if that is known. The first numbers of ns-2 after seeds that are close together are close
# together, too.
set random [new RNG]
$random seed $seed
for {set draw 0} {$draw < 100} {incr draw} { set start [$random uniform 0 5] }
if {[info exists setting(start)]} { set start $setting(start) }

switch $source {
    bulk {
        set application [new Application/FTP]
    }
    default {
        set application [new Application/Traffic/CBR]
        if {$source == "cbr45"} {
            $application set packetSize_ 200
            $application set rate_ 45e3
        } else {
            $application set packetSize_ 1452
            $application set rate_ [expr 0.7 * $rate($primary)]
        }
    }
}
$application attach-agent $sender
$ns at $start "$application start"
foreach loss $primary_losses { $ns at $breaks_at "$loss set rate_ 1.0" }

# Looks for the failover ten times a second, to end early.
proc watch {} {
    global ns trace seen ends_at
    flush $trace
    if {[tell $trace] != $seen} {
        set seen [tell $trace]
        finish_if_failed_over
    }
    if {[$ns now] >= $ends_at} { report }
    $ns at [expr [$ns now] + 0.1] watch
}
set seen 0

proc finish_if_failed_over {} {
    global log primary_address
    set lines [open $log r]
    set text [read $lines]
    close $lines
    if {[string match "*daddr: $primary_address *dstatus: INACTIVE*" $text]} { report }
}
set primary_address [[lindex $mn_interfaces 0] node-addr]

proc report {} {
    global log breaks_at primary_address setting
    set rto none
    set latency none
    set expiries 0
    set before 0
    set errors 0
    set lines [open $log r]
    while {[gets $lines line] >= 0} {
        if {![regexp {time: ([0-9.]+) .*daddr: ([0-9]+) .* rto: ([0-9.]+) .*pathErrors: ([0-9]+) dstatus: ([A-Z]+)} \
                $line all time address backed_off count status]} continue
        if {$address != $primary_address} continue
        if {$count > $errors && $setting(events)} { puts "[expr $time - $breaks_at] errors $count rto $backed_off" }
        if {$time < $breaks_at && $count > $errors} { incr before }
        if {$time >= $breaks_at && $count > $errors} {
            incr expiries
            if {$rto == "none"} { set rto [expr $backed_off / 2.0] }
        }
        set errors $count
        if {$status == "INACTIVE"} {
            set latency [expr {$time < $breaks_at ? "early" : $time - $breaks_at}]
            break
        }
    }
    close $lines
    file delete $log
    puts "$latency $rto $expiries $before"
    exit 0
}

$ns at 0.05 watch
$ns run
