# b08 Figure 12 in ns-2: when packet 1, 2, ... 20 of a greedy source arrives over a path that nothing has been sent on yet.
#
#   ns fig12.tcl PRIMARY ALTERNATE INITIAL_WINDOW [SETTING VALUE]...
#
# The initial window is in packets. Prints one line per packet: its number and the seconds from the first
# transmission to its reception. The primary plays no part in it: what counts begins with a fresh alternate.

foreach {primary alternate window} [lrange $argv 0 2] {}
# Variables of the SCTP agents that the experiments of docs/ns2.md change.
array set setting [lrange $argv 3 end]
array set rate {wlan 11e6 umts 384e3 geran 80e3}
array set delay {wlan 0.015 umts 0.080 geran 0.080}

set ns [new Simulator]
set log [file join [expr {[info exists env(TMPDIR)] ? $env(TMPDIR) : "/tmp"}] "ns2-fig12-[pid].log"]
set trace [open $log w]
Trace set show_sctphdr_ 1

set cn [$ns node]
set router [$ns node]
set mn [$ns node]
$ns duplex-link $cn $router 100Mb 5ms DropTail
$ns duplex-link $router $mn $rate($alternate) $delay($alternate) DropTail
foreach {a b} [list $cn $router $router $mn] { $ns queue-limit $a $b 50 }
$ns trace-queue $cn $router $trace
$ns trace-queue $router $mn $trace

proc agent {node window} {
    global ns setting
    set agent [new Agent/SCTP]
    $agent set minRto_ 0.020
    $agent set initialCwnd_ $window
    $agent set mtu_ 1500
    $agent set dataChunkSize_ 1468
    $agent set useDelayedSacks_ 0
    $agent set heartbeatInterval_ 0
    foreach {name value} [array get setting] { $agent set $name $value }
    $ns attach-agent $node $agent
    return $agent
}
set sender [agent $cn $window]
$ns connect $sender [agent $mn $window]
set application [new Application/FTP]
$application attach-agent $sender
$ns at 0.5 "$application start"
$ns at 10.0 report

# A full packet is 1500 bytes; the handshake's are smaller.
proc report {} {
    global ns trace log cn router mn
    $ns flush-trace
    close $trace
    set first none
    set number 0
    set lines [open $log r]
    while {[gets $lines line] >= 0} {
        foreach {event time from to kind size} [lrange $line 0 5] {}
        if {$kind != "sctp" || $size != 1500} continue
        if {$event == "+" && $from == [$cn id] && $first == "none"} { set first $time }
        if {$event == "r" && $to == [$mn id]} {
            incr number
            puts "$number [expr $time - $first]"
            if {$number == 20} break
        }
    }
    close $lines
    file delete $log
    exit 0
}
$ns run
