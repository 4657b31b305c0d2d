package main

import (
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
)

// conn is the net.Conn that pion wants: SCTP packets directly in UDP datagrams, as RFC 6951 has them. A listener answers to whoever sent
// the first datagram, and drops what others send.
type conn struct {
	*net.UDPConn
	peer atomic.Pointer[netip.AddrPort]
}

func newConn(o options) (*conn, error) {
	local, err := netip.ParseAddr(o.bind)
	if err != nil {
		return nil, err
	}
	socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(local, uint16(o.udp))))
	if err != nil {
		return nil, err
	}
	_ = socket.SetReadBuffer(4 << 20)
	c := &conn{UDPConn: socket}
	if !o.listen {
		remote, err := netip.ParseAddr(o.connect)
		if err != nil {
			return nil, err
		}
		peer := netip.AddrPortFrom(remote, uint16(o.udpRemote))
		c.peer.Store(&peer)
	}
	return c, nil
}

func (c *conn) Read(buffer []byte) (int, error) {
	for {
		n, from, err := c.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return n, err
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		if c.peer.CompareAndSwap(nil, &from) || *c.peer.Load() == from {
			return n, nil
		}
	}
}

func (c *conn) Write(packet []byte) (int, error) {
	peer := c.peer.Load()
	if peer == nil {
		return 0, fmt.Errorf("nobody to send to yet")
	}
	return c.WriteToUDPAddrPort(packet, *peer)
}
