package main

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"sync"

	"github.com/pion/sctp"
)

// The assorted content of ../common/assorted.rs, which describes it.
var assortedSizes = [...]int{1, 3, 4, 5, 100, 1000, 1163, 1164, 1200, 1452, 4096, 16384, 65535, 65536, 100000, 262144}

const messageSizeMax = 262144

func isUnordered(stream uint16) bool { return stream%2 == 1 }

func ppidOf(stream uint16) sctp.PayloadProtocolIdentifier {
	return [...]sctp.PayloadProtocolIdentifier{53, 51, 57, 56}[stream%4]
}

func payload(n uint64, stream uint16) []byte {
	size := assortedSizes[(n+uint64(stream))%uint64(len(assortedSizes))]
	out := make([]byte, 0, size+8)
	state := uint64(stream)<<32 ^ n
	for len(out) < size {
		state += 0x9e3779b97f4a7c15
		word := state
		word = (word ^ word>>30) * 0xbf58476d1ce4e5b9
		word = (word ^ word>>27) * 0x94d049bb133111eb
		out = binary.LittleEndian.AppendUint64(out, word^word>>31)
	}
	return out[:size]
}

func hash(data []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(data)
	return h.Sum64()
}

type ofStream struct {
	messages uint64
	// Of unordered messages, whose numbers are not known: what is left of the sum of their hashes.
	received, expected uint64
}

// totals is what has arrived.
type totals struct {
	lock     sync.Mutex
	messages int
	bytes    int
	bad      int
	streams  map[uint16]*ofStream
	changed  chan struct{}
}

func newTotals() *totals {
	return &totals{streams: map[uint16]*ofStream{}, changed: make(chan struct{}, 1)}
}

func (t *totals) add(stream uint16, ppid sctp.PayloadProtocolIdentifier, data []byte) {
	t.lock.Lock()
	defer t.lock.Unlock()
	of := t.streams[stream]
	if of == nil {
		of = &ofStream{}
		t.streams[stream] = of
	}
	expected := payload(of.messages, stream)
	good := ppid == ppidOf(stream)
	if isUnordered(stream) {
		of.received += hash(data)
		of.expected += hash(expected)
	} else {
		good = good && bytes.Equal(data, expected)
	}
	if !good {
		t.bad++
	}
	of.messages++
	t.messages++
	t.bytes += len(data)
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

func (t *totals) count() int {
	t.lock.Lock()
	defer t.lock.Unlock()
	return t.messages
}

func (t *totals) ok() bool {
	t.lock.Lock()
	defer t.lock.Unlock()
	for _, of := range t.streams {
		if of.received != of.expected {
			return false
		}
	}
	return t.bad == 0
}
