# ns-2's engine alone: a greedy source over one link for so many simulated seconds; prints the DATA packets received.
#
#   ns bulk.tcl SECONDS

foreach {seconds} $argv {}
set ns [new Simulator]
set cn [$ns node]
set mn [$ns node]
$ns duplex-link $cn $mn 11e6 20ms DropTail
$ns queue-limit $cn $mn 50

proc agent {node} {
    global ns
    set agent [new Agent/SCTP]
    $agent set mtu_ 1500
    $agent set dataChunkSize_ 1468
    $ns attach-agent $node $agent
    return $agent
}
set sender [agent $cn]
set receiver [agent $mn]
$ns connect $sender $receiver
set application [new Application/FTP]
$application attach-agent $sender
# Counts what crosses the link; a trace file would cost more than the simulation.
set monitor [$ns monitor-queue $cn $mn ""]
$ns at 0.1 "$application start"
$ns at $seconds {puts [expr int([$monitor set bdepartures_] / 1500)]; exit 0}
$ns run
