# One run of b08 Figure 7 in ns-2 (Debian's ns2 package, its SCTP module): how long the sender stays on a dead primary path.
#
#   ns fig07.tcl PRIMARY ALTERNATE SOURCE QUEUE PMR SEED [SETTING VALUE]...
#
# PRIMARY and ALTERNATE are wlan, umts or geran; SOURCE is cbr45, cbrmax or bulk; QUEUE is in packets. Prints one line, with "none" for what there
# was not and times in seconds:
#
#   failover_latency  from the break until the primary path is inactive; "early" where that was before the break
#   first_new_sent    from the break until DATA with a new TSN is sent over the alternate
#   first_new_latency from the break until it is received
#   gap_to_any        from the last DATA received over the primary to the next over the alternate
#   gap_to_new        the same, to the first with a new TSN
#   rto_at_break t3_at_failover t3_before_break
#
# With the setting "events 1" it first prints a line for each time-out, and "packets FILE" writes ns-2's trace of all packets. "readings 0" ends a
# run when the path is inactive, and looks at no packets: speed is measured so. With "arrivals N" a run goes on, and a second line has the times
# from when the path is inactive until the first N packets of new data have been received over the alternate.

foreach {primary alternate source queue pmr seed} [lrange $argv 0 5] {}
# When the source starts. What the experiments of docs/ns2.md change: room of queues beyond QUEUE, in packets; and, by their own names, which end
# in _, variables of the SCTP agents.
array set setting {room 0 events 0 packets "" readings 1 arrivals 0}
array set setting [lrange $argv 6 end]
incr queue $setting(room)
set breaks_at 10.0
set ends_at 310.0

array set rate {wlan 11e6 umts 384e3 geran 80e3}
array set delay {wlan 0.015 umts 0.080 geran 0.080}

set ns [new Simulator]
Trace set show_sctphdr_ 1
set directory [expr {[info exists env(TMPDIR)] ? $env(TMPDIR) : "/tmp"}]
set log [file join $directory "ns2-fig07-[pid].log"]
set packets_log [file join $directory "ns2-fig07-[pid].packets"]
set packets [open $packets_log w]
if {$setting(packets) != ""} { $ns trace-all [open $setting(packets) w] }

proc host {} {
    global ns
    set core [$ns node]
    set interfaces [list [$ns node] [$ns node]]
    foreach interface $interfaces { $ns multihome-add-interface $core $interface }
    return [list $core $interfaces]
}

# A wired leg and an access link, both ways; a loss model behind each queue of the access link, so that a packet that is
# waiting when the link breaks is lost, too. If readings are wanted, what is sent and what arrives is traced; means(EVENT FROM TO) is what such a
# line says.
proc path {name from to network} {
    global ns rate delay queue setting packets means
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
    if {$setting(readings)} {
        foreach {a b event what} [list $from $router + sent $router $to r received] {
            $ns trace-queue $a $b $packets
            set means([list $event [$a id] [$b id]]) [list $what $name]
        }
    }
    return $losses
}

foreach {cn cn_interfaces} [host] {}
foreach {mn mn_interfaces} [host] {}
set primary_losses [path primary [lindex $cn_interfaces 0] [lindex $mn_interfaces 0] $primary]
path alternate [lindex $cn_interfaces 1] [lindex $mn_interfaces 1] $alternate

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

# What is known so far, in seconds of the run.
array set at {inactive none new_sent none new_received none last_old none next_any none}
array set count {errors 0 before 0 expiries 0}
set rto none
set highest 0
set new_from none
array set arrived {}
set primary_address [[lindex $mn_interfaces 0] node-addr]
array set offset [list $log 0 $packets_log 0]

# Looks ten times a second, to end early.
proc watch {} {
    global ns trace packets at setting ends_at breaks_at arrived
    flush $trace
    flush $packets
    read_errors
    read_packets
    set inactive [expr {$at(inactive) != "none"}]
    set known [expr {!$setting(readings) || $at(new_received) != "none" || $at(inactive) < $breaks_at}]
    set enough [expr {[array size arrived] >= $setting(arrivals) || $at(inactive) < $breaks_at}]
    if {($inactive && $known && $enough) || [$ns now] >= $ends_at} { report }
    $ns at [expr [$ns now] + 0.1] watch
}

# The lines that have been written since the last time. Read by a channel that stays open, a file that grows is now and then an error.
proc lines {file} {
    global offset
    set grown [open $file r]
    seek $grown $offset($file)
    set text [read $grown]
    set offset($file) [tell $grown]
    close $grown
    return [split $text "\n"]
}

# What the agent says of its error counts.
proc read_errors {} {
    global log primary_address breaks_at at count rto setting
    foreach line [lines $log] {
        if {![regexp {time: ([0-9.]+) .*daddr: ([0-9]+) .* rto: ([0-9.]+) .*pathErrors: ([0-9]+) dstatus: ([A-Z]+)} \
                $line all time address backed_off errors status]} continue
        if {$address != $primary_address || $at(inactive) != "none"} continue
        if {$errors > $count(errors)} {
            if {$setting(events)} { puts "[expr $time - $breaks_at] errors $errors rto $backed_off" }
            incr count([expr {$time < $breaks_at ? "before" : "expiries"}])
            if {$time >= $breaks_at && $rto == "none"} { set rto [expr $backed_off / 2.0] }
        }
        set count(errors) $errors
        if {$status == "INACTIVE"} { set at(inactive) $time }
    }
}

# What the links have carried, a line for each chunk: EVENT TIME FROM TO sctp SIZE FLAGS FLOW SOURCE DESTINATION CHUNKS TSN.
proc read_packets {} {
    global packets_log means breaks_at at highest new_from arrived
    foreach line [lines $packets_log] {
        lassign $line event time from to type size flags flow source destination chunks tsn
        if {![string match "*D" $flags] || ![info exists means([list $event $from $to])]} continue
        switch $means([list $event $from $to]) {
            "sent primary" { if {$tsn > $highest} { set highest $tsn } }
            "sent alternate" {
                if {$tsn <= $highest || $time < $breaks_at} continue
                set highest $tsn
                if {$new_from == "none"} { set new_from $tsn; set at(new_sent) $time }
            }
            "received primary" { set at(last_old) $time; set at(next_any) none }
            "received alternate" {
                if {$at(next_any) == "none"} { set at(next_any) $time }
                if {$new_from == "none" || $tsn < $new_from} continue
                if {$at(new_received) == "none"} { set at(new_received) $time }
                if {![info exists arrived($tsn)]} { set arrived($tsn) $time }
            }
        }
    }
}

proc between {from to} { expr {$from == "none" || $to == "none" ? "none" : $to - $from} }

proc report {} {
    global log packets_log breaks_at at count rto setting arrived new_from
    file delete $log $packets_log
    if {$at(inactive) != "none" && $at(inactive) < $breaks_at} {
        puts "early none none none none none 0 $count(before)"
        exit 0
    }
    foreach to {inactive new_sent new_received} { puts -nonewline "[between $breaks_at $at($to)] " }
    foreach to {next_any new_received} { puts -nonewline "[between $at(last_old) $at($to)] " }
    puts "$rto $count(expiries) $count(before)"
    for {set packet 0} {$packet < $setting(arrivals)} {incr packet} {
        set tsn [expr {$new_from == "none" ? "none" : $new_from + $packet}]
        puts -nonewline "[between $at(inactive) [expr {[info exists arrived($tsn)] ? $arrived($tsn) : "none"}]] "
    }
    exit 0
}

$ns at 0.05 watch
$ns run
