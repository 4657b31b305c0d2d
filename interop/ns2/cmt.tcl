# One run of b09 in ns-2 (Debian's ns2 package, its SCTP module with concurrent transfer, Agent/SCTP/CMT): a file over two unequal networks.
#
#   ns cmt.tcl SEED [SETTING VALUE]...
#
# Prints one line, times in seconds, "none" for what there was not:
#
#   transfer_time     from the first DATA chunk that is sent until all of the file has arrived in order
#   spurious_frtx     DATA chunks that arrive a second time
#   sacks_per_packet  SACK chunks that arrive for each packet with DATA that arrives
#   goodput           bit/s of the file
#   retransmissions   DATA chunks that are sent again
#   timeouts          times at which T3-rtx expires
#
# Both hosts have two addresses from the beginning, as ns-2 adds none to an association. A network in which the mobile node is not loses all packets.
# No DATA is sent to an address before a HEARTBEAT has been answered. The first one is lost, and the next one leaves when RTO.Initial is over, so
# that RTO.Initial decides when the second address is in use: when the lab's sender would have heard of it.

set seed [lindex $argv 0]
# ratio: rate of the fast network, of the slow one's. wired: one-way delay of the wires, ms. rbuf: kB. file: bytes. first: where the mobile node is at
# first. enters: when it enters the second network, in seconds after the association is up; 0: both are there all the time. dwell: how long it stays in
# both. queue: packets that wait for a network, 0 for any number. loss: share of the packets lost in the slow network on the way to the mobile node.
# ssthresh: bytes, 0 for the receive buffer or 65,536. more_window: bytes of the receive window beyond rbuf. back: one-way delay of the air on the way
# back, in seconds, where it is another one. packets: a file for ns-2's trace of all packets. ends_at: when a run is given up. Names that end in _ are
# variables of the agents.
array set setting {
    ratio 4 wired 5 rbuf 2048 file 8000000 first fast enters 0 dwell 0 queue 50 loss 0 ssthresh 0 more_window 0 back "" packets "" ends_at 400
}
array set setting [lrange $argv 1 end]
set slow_rate 384e3
array set rate [list fast [expr $setting(ratio) * $slow_rate] slow $slow_rate]
array set delay {fast 0.015 slow 0.080}
set order [expr {$setting(first) == "fast" ? {fast slow} : {slow fast}}]
# Of DATA, without and with its header.
set user_data 1452
set chunk 1468
set starts_at 0.5
# Seconds that a packet takes to a network at least, and when DATA can leave: after two round trips for the association and one for the HEARTBEAT to the
# first network, with a little for what packets take to be sent.
proc one_way {network} { expr $::setting(wired) / 1e3 + $::delay($network) }
set up [expr $starts_at + 6 * [one_way [lindex $order 0]] + 0.003]
set retry [expr 2 * [one_way [lindex $order 0]] + $setting(enters) + [one_way [lindex $order 1]]]

set generator [new RNG]
$generator seed $seed
set ns [new Simulator]
Trace set show_sctphdr_ 1
set directory [expr {[info exists env(TMPDIR)] ? $env(TMPDIR) : "/tmp"}]
set log [file join $directory "ns2-cmt-[pid].packets"]
set packets [open $log w]
set states_log [file join $directory "ns2-cmt-[pid].log"]
set states [open $states_log w]
if {$setting(packets) != ""} { $ns trace-all [open $setting(packets) w] }

proc host {} {
    global ns
    set core [$ns node]
    set interfaces [list [$ns node] [$ns node]]
    foreach interface $interfaces { $ns multihome-add-interface $core $interface }
    return [list $core $interfaces]
}

# Loses this share of the packets from one node to another, behind the queue: what waits when a network is left is lost, too.
proc losing {from to share} {
    global ns generator
    set loss [new ErrorModel]
    $loss set rate_ $share
    $loss unit pkt
    set random [new RandomVariable/Uniform]
    $random use-rng $generator
    $loss ranvar $random
    $loss drop-target [new Agent/Null]
    $ns link-lossmodel $loss $from $to
    return $loss
}

# Wires and the air of a network, both ways; means(EVENT FROM TO) is what a line of the trace says.
proc path {network from to} {
    global ns rate delay setting packets means
    set router [$ns node]
    $ns duplex-link $from $router 100Mb $setting(wired)ms DropTail
    $ns simplex-link $router $to $rate($network) $delay($network) DropTail
    set back [expr {$setting(back) != "" ? $setting(back) : $delay($network)}]
    $ns simplex-link $to $router $rate($network) $back DropTail
    set room [expr {$setting(queue) ? $setting(queue) : 1000000}]
    foreach {a b limit} [list $from $router 1000000 $router $from 1000000 $router $to $room $to $router $room] {
        $ns queue-limit $a $b $limit
    }
    foreach {a b event what} [list $from $router + sent $router $to r received $router $from r sack] {
        $ns trace-queue $a $b $packets
        set means([list $event [$a id] [$b id]]) $what
    }
    set share [expr {$network == "slow" ? $setting(loss) : 0}]
    return [list [losing $router $to $share] [losing $to $router 0]]
}

foreach {cn cn_interfaces} [host] {}
foreach {mn mn_interfaces} [host] {}
foreach network $order from $cn_interfaces to $mn_interfaces {
    lappend losses [path $network $from $to]
}

# The profile "b09" of the scenarios.
proc agent {node} {
    global ns setting chunk retry
    set agent [new Agent/SCTP/CMT]
    $agent set minRto_ 0.050
    $agent set initialRto_ [expr {$setting(enters) ? $retry : 3.0}]
    $agent set maxRto_ 60.0
    $agent set pathMaxRetrans_ 5
    $agent set associationMaxRetrans_ 100
    $agent set initialCwnd_ 2
    set buffer [expr $setting(rbuf) * 1024]
    $agent set initialRwnd_ [expr $buffer + $setting(more_window)]
    $agent set initialSsthresh_ [expr {$setting(ssthresh) ? $setting(ssthresh) : max($buffer, 65536)}]
    $agent set mtu_ 1500
    $agent set dataChunkSize_ $chunk
    $agent set useDelayedSacks_ 1
    $agent set sackDelay_ 0.2
    $agent set heartbeatInterval_ 30
    # All of concurrent transfer, lost data to the path with the largest window, and one packet after a path was found alive.
    $agent set useCmtReordering_ 1
    $agent set useCmtCwnd_ 1
    $agent set useCmtDelAck_ 1
    $agent set eCmtRtxPolicy_ 4
    $agent set useCmtPF_ 1
    $agent set cmtPFCwnd_ 1
    foreach {name value} [array get setting *_] { $agent set $name $value }
    $ns multihome-attach-agent $node $agent
    return $agent
}
set sender [agent $cn]
set receiver [agent $mn]
# All agents share one variable for the place of the round robin. A receiver that is given a HEARTBEAT ACK looks for the sender's place among its own
# addresses, and for ever. So it sends no HEARTBEATs after those of the handshake.
$receiver set heartbeatInterval_ 0
$receiver set initialRto_ [expr 2.0 * $setting(ends_at)]
$ns connect $sender $receiver
$sender set-primary-destination [lindex $mn_interfaces 0]
# The loss rates that RTX-LOSSRATE goes by are told, not measured.
foreach network $order to $mn_interfaces {
    if {$network == "slow"} { $sender set-destination-lossrate $to $setting(loss) }
}
$sender set trace_all_ 1
$ns at 0.0 "$sender trace timeoutCount_; $sender attach $states"

set application [new Application/FTP]
$application attach-agent $sender
# The first of the messages opens the association. The module holds all of them back until every address is confirmed, but the mended program sends
# what it has when the application hands over more: so the last message sets the others free.
proc hand_over {messages} {
    global application user_data
    for {set message 0} {$message < $messages} {incr message} { $application send $user_data }
}
set last_tsn [expr int(ceil(double($setting(file)) / $user_data))]
$ns at $starts_at "hand_over [expr $last_tsn - 1]"
$ns at $up "hand_over 1"

# In which network the mobile node is when.
proc reaches {number at share} {
    global ns losses
    foreach loss [lindex $losses $number] { $ns at $at "$loss set rate_ $share" }
}
if {$setting(enters)} {
    reaches 1 0.0 1.0
    reaches 1 [expr $up + $setting(enters)] 0.0
    if {$setting(dwell)} { reaches 0 [expr $up + $setting(enters) + $setting(dwell)] 1.0 }
}

# What is known so far. The sender's TSNs begin with 1.
array set count {spurious 0 sacks 0 data 0 again 0}
set began none
set ended none
set next_tsn 1
set highest 0
array set offset [list $log 0]

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

# What the links have carried, a line for each chunk: EVENT TIME FROM TO sctp SIZE FLAGS FLOW SOURCE DESTINATION CHUNKS TSN.
proc read_packets {} {
    global log means count began ended last_tsn next_tsn highest arrived
    foreach line [lines $log] {
        lassign $line event time from to type size flags flow source destination chunks tsn
        if {![info exists means([list $event $from $to])]} continue
        set kind [string index $flags end]
        switch "$means([list $event $from $to]) $kind" {
            "sent D" {
                if {$began == "none"} { set began $time }
                if {$tsn <= $highest} { incr count(again) } else { set highest $tsn }
            }
            "sack S" { incr count(sacks) }
            "received D" {
                incr count(data)
                if {[info exists arrived($tsn)]} { incr count(spurious) }
                set arrived($tsn) 1
                while {[info exists arrived($next_tsn)]} { incr next_tsn }
                if {$next_tsn > $last_tsn} { set ended $time; return }
            }
        }
    }
}

# Looks once a second, to end early.
proc watch {} {
    global ns packets setting ended
    flush $packets
    read_packets
    if {$ended != "none" || [$ns now] >= $setting(ends_at)} { report }
    $ns at [expr [$ns now] + 1.0] watch
}

proc report {} {
    global log states states_log began ended count setting
    flush $states
    set file [open $states_log r]
    set timeouts [regexp -all {DataTimeout} [read $file]]
    close $file
    file delete $log $states_log
    set time [expr {$ended == "none" ? "none" : $ended - $began}]
    set rate [expr {$count(data) ? double($count(sacks)) / $count(data) : "none"}]
    set goodput [expr {$ended == "none" ? "none" : $setting(file) * 8.0 / $time}]
    puts "$time $count(spurious) $rate $goodput $count(again) $timeouts"
    exit 0
}

$ns at 1.0 watch
$ns run
