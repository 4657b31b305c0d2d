// pion-peer: the peer on pion/sctp, with the options and reports of the other peers of this directory.
package main

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/pion/logging"
	"github.com/pion/sctp"
)

func main() {
	o := parseOptions()
	report("start", member{"stack", "pion"}, member{"pid", os.Getpid()})
	arrived := newTotals()
	time.AfterFunc(o.timeout, func() {
		arrived.report()
		report("error", member{"call", "timeout"}, member{"error", o.timeout.String() + " are over"})
		exit(3)
	})
	association, err := open(o)
	if err != nil {
		report("closed", member{"how", "cannot_start"}, member{"cause", 0}, member{"text", err.Error()})
		exit(1)
	}
	report("up", member{"remote", []string{o.connect}}, member{"mtu", association.MTU()})
	s := newSession(o, association, arrived)
	if s.run() {
		exit(0)
	}
	exit(1)
}

func open(o options) (*sctp.Association, error) {
	c, err := newConn(o)
	if err != nil {
		return nil, err
	}
	logs := logging.NewDefaultLoggerFactory()
	logs.DefaultLogLevel = logging.LogLevelWarn
	logs.Writer = os.Stderr
	common := []sctp.AssociationOption{
		sctp.WithNetConn(c), sctp.WithLoggerFactory(logs), sctp.WithName("pion"), sctp.WithBlockWrite(true),
		sctp.WithMaxMessageSize(messageSizeMax), sctp.WithMaxReceiveBufferSize(4 << 20),
	}
	if o.listen {
		report("listening", member{"udp", o.udp})
		var server []sctp.ServerOption
		for _, one := range common {
			server = append(server, one)
		}
		return sctp.ServerWithOptions(server...)
	}
	var client []sctp.ClientOption
	for _, one := range common {
		client = append(client, one)
	}
	return sctp.ClientWithOptions(client...)
}

// session is one association from its beginning to its end.
type session struct {
	options     options
	association *sctp.Association
	arrived     *totals
	lock        sync.Mutex
	streams     map[uint16]*sctp.Stream
	readers     sync.WaitGroup
	ended       chan struct{}
	reason      error
}

func newSession(o options, association *sctp.Association, arrived *totals) *session {
	s := &session{
		options: o, association: association, arrived: arrived, streams: map[uint16]*sctp.Stream{}, ended: make(chan struct{}),
	}
	// The first stream is there in any case: what its reader is told at the end is how the association ended.
	for id := range max(o.streams, 1) {
		if stream, err := association.OpenStream(uint16(id), ppidOf(uint16(id))); err == nil {
			s.take(stream)
		}
	}
	go func() {
		for {
			stream, err := association.AcceptStream()
			if err != nil {
				break
			}
			s.take(stream)
		}
		s.readers.Wait()
		close(s.ended)
	}()
	return s
}

// take reads a stream from now on, unless it is read already.
func (s *session) take(stream *sctp.Stream) {
	s.lock.Lock()
	defer s.lock.Unlock()
	id := stream.StreamIdentifier()
	if s.streams[id] == stream {
		return
	}
	s.streams[id] = stream
	stream.SetReliabilityParams(isUnordered(id), sctp.ReliabilityTypeReliable, 0)
	s.readers.Add(1)
	go func() {
		defer s.readers.Done()
		buffer := make([]byte, 2*messageSizeMax)
		for {
			n, ppid, err := stream.ReadSCTP(buffer)
			if err != nil {
				s.end(err)
				return
			}
			s.arrived.add(id, ppid, buffer[:n])
			if !s.options.echo {
				continue
			}
			if _, err := stream.WriteSCTP(buffer[:n], ppid); err != nil {
				report("error", member{"call", "echo"}, member{"error", err.Error()})
			}
		}
	}()
}

func (s *session) end(reason error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.reason == nil {
		s.reason = reason
	}
}

func (s *session) sendAll() bool {
	for i := range s.options.send {
		id := uint16(i % s.options.streams)
		s.lock.Lock()
		stream := s.streams[id]
		s.lock.Unlock()
		if _, err := stream.WriteSCTP(payload(uint64(i/s.options.streams), id), ppidOf(id)); err != nil {
			report("sent", member{"messages", i}, member{"error", err.Error()})
			return false
		}
	}
	if s.options.send > 0 {
		report("sent", member{"messages", s.options.send}, member{"error", nil})
	}
	return true
}

func (s *session) run() bool {
	ok := s.sendAll()
	for s.arrived.count() < s.options.expect && ok {
		select {
		case <-s.arrived.changed:
		case <-s.ended:
			ok = s.arrived.count() >= s.options.expect
		}
	}
	s.holdUp()
	closing := s.options.close
	switch closing {
	case closeShutdown:
		if err := s.association.Shutdown(context.Background()); err != nil {
			report("error", member{"call", "shutdown"}, member{"error", err.Error()})
		}
	case closeAbort:
		report("abort", member{"by", "us"})
		s.association.Abort(s.options.abortText)
	case closeVanish:
		s.arrived.report()
		report("vanish")
		os.Exit(0)
	}
	<-s.ended
	how, text := s.ending()
	report("closed", member{"how", how}, member{"cause", cause(s.reason)}, member{"text", text})
	s.arrived.report()
	return ok && s.arrived.ok() && (how == "shutdown_complete" || closing == closeAbort || errors.Is(s.reason, sctp.ErrChunk))
}

func (s *session) holdUp() {
	end := time.After(s.options.hold)
	if s.options.heartbeat == 0 {
		<-end
		return
	}
	beat := time.NewTicker(s.options.heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			s.association.ActiveHeartbeat()
		case <-end:
			report("status", member{"srtt", s.association.SRTT()}, member{"cwnd", s.association.CWND()})
			return
		}
	}
}

// ending is how it ended. Pion closes the net.Conn itself after SHUTDOWN COMPLETE, and readers are told that.
func (s *session) ending() (how, text string) {
	switch {
	case s.reason == nil, errors.Is(s.reason, io.EOF), errors.Is(s.reason, net.ErrClosed):
		return "shutdown_complete", ""
	default:
		return "lost", s.reason.Error()
	}
}

func cause(reason error) int {
	if errors.Is(reason, sctp.ErrUserInitiatedAbort) {
		return 12
	}
	return 0
}
