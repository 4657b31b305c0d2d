package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

var (
	started    = time.Now()
	reportLock sync.Mutex
)

// member is one member of a report, in the order in which it is printed.
type member struct {
	name  string
	value any
}

// report prints one JSON object on a line: t, event, then the members.
func report(event string, members ...member) {
	var line strings.Builder
	fmt.Fprintf(&line, `{"t":%.6f,"event":%q`, time.Since(started).Seconds(), event)
	for _, m := range members {
		value, err := json.Marshal(m.value)
		if err != nil {
			value = []byte("null")
		}
		fmt.Fprintf(&line, ",%q:%s", m.name, value)
	}
	line.WriteString("}\n")
	reportLock.Lock()
	defer reportLock.Unlock()
	_, _ = os.Stdout.WriteString(line.String())
}

func (t *totals) report() {
	ok := t.ok()
	t.lock.Lock()
	defer t.lock.Unlock()
	report("received", member{"messages", t.messages}, member{"bytes", t.bytes}, member{"bad", t.bad},
		member{"ok", ok}, member{"streams_seen", len(t.streams)})
}

func exit(status int) {
	report("exit", member{"status", status})
	os.Exit(status)
}
