package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

// How an association is ended.
const (
	closeShutdown = "shutdown"
	closeAbort    = "abort"
	closeVanish   = "vanish"
	closeWait     = "wait"
)

// options are those of the other peers that make sense for pion. It has one path, and takes its ports from the INIT or has 5000 for both.
type options struct {
	listen    bool
	connect   string
	bind      string
	udp       int
	udpRemote int
	send      int
	streams   int
	expect    int
	echo      bool
	heartbeat time.Duration
	hold      time.Duration
	close     string
	abortText string
	timeout   time.Duration
}

func parseOptions() options {
	var o options
	var heartbeat, hold, timeout int
	flag.BoolVar(&o.listen, "listen", false, "take one association")
	flag.StringVar(&o.connect, "connect", "", "set one up, to this address")
	flag.StringVar(&o.bind, "bind", "", "local address")
	flag.IntVar(&o.udp, "udp", 9899, "local UDP port")
	flag.IntVar(&o.udpRemote, "udp-remote", 9899, "the peer's UDP port")
	flag.IntVar(&o.send, "send", 0, "messages to send")
	flag.IntVar(&o.streams, "streams", 1, "round robin over this many streams")
	flag.IntVar(&o.expect, "expect", 0, "wait for so many messages before closing")
	flag.BoolVar(&o.echo, "echo", false, "send every message back on its stream")
	flag.IntVar(&heartbeat, "heartbeat", 0, "milliseconds between HEARTBEATs while held up; 0: none")
	flag.IntVar(&hold, "hold", 0, "stay up so many milliseconds before closing")
	flag.StringVar(&o.close, "close", "", "shutdown, abort, vanish or wait")
	flag.StringVar(&o.abortText, "abort-text", "bye", "reason carried in the ABORT")
	flag.IntVar(&timeout, "timeout", 60, "give up after so many seconds")
	flag.Parse()
	o.heartbeat = time.Duration(heartbeat) * time.Millisecond
	o.hold = time.Duration(hold) * time.Millisecond
	o.timeout = time.Duration(timeout) * time.Second
	if o.close == "" {
		o.close = closeShutdown
		if o.listen {
			o.close = closeWait
		}
	}
	if o.listen == (o.connect != "") || o.streams < 1 {
		fmt.Fprintln(os.Stderr, "either --listen or --connect ADDRESS, and at least one stream")
		os.Exit(2)
	}
	return o
}
