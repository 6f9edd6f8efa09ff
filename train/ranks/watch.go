package ranks

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// watch tells every rank when another one ends. Each rank has a connection to rank 0, over which both send a beat from
// time to time. When a process dies, its system closes the connection; when a machine or a network does, the beats
// stop. Rank 0 passes on what it learns.
type watch struct {
	names     []string         // of the ranks, for messages
	interrupt func()           // is called when another rank was interrupted
	after     func(lost error) // goes on beside all else once a rank is lost; nil: nothing

	mu    sync.Mutex
	lost  *LostError // the first loss
	last  string     // what rank 0 said when it failed
	stop  bool       // another rank was interrupted, and takes part in nothing more
	over  bool       // all ends from here on are in order
	conns map[int]net.Conn
	ended map[int]chan struct{} // closed when nothing more comes from a rank
}

const (
	beat     = 5 * time.Second
	patience = 30 * time.Second // without a beat
	farewell = 20 * time.Second // for rank 0 to save a checkpoint
)

// dialling is how long a connection may take. Tests change it.
var dialling = 5 * time.Second

// What a message says.
const (
	alive       = 'a'
	failed      = 'f' // the sender has failed, and why
	refused     = 'r' // the same, for bad input
	lostRank    = 'l' // a rank is lost, and which
	lostRefused = 'd' // the same, for bad input
	interrupted = 'i'
	leaves      = 'b' // the sender leaves in order
)

// place is where rank 0 listens.
type place struct {
	Host      string
	Addresses []string
	Port      int
	Token     []byte // the others show it
}

// listen opens the place of rank 0.
func listen() (net.Listener, place, error) {
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		return nil, place{}, err
	}
	p := place{Port: l.Addr().(*net.TCPAddr).Port, Token: make([]byte, 16)}
	p.Host, _ = os.Hostname()
	_, _ = rand.Read(p.Token) // never fails
	own, _ := net.InterfaceAddrs()
	p.Addresses = reachable(own)
	return l, p, nil
}

// reachable returns those of this host's addresses that mean it on other hosts, too.
func reachable(own []net.Addr) (addresses []string) {
	for _, a := range own {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && !ip.IP.IsLinkLocalUnicast() {
			addresses = append(addresses, ip.IP.String())
		}
	}
	return addresses
}

// accept waits for the connections of ranks 1 to size−1, until ctx ends.
func (w *watch) accept(ctx context.Context, l net.Listener, p place, size int) error {
	defer l.Close()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(2 * dialling))
	for len(w.conns) < size-1 {
		c, err := l.Accept()
		if err != nil {
			return cmp.Or(ctx.Err(), err)
		}
		hello := make([]byte, len(p.Token)+4)
		_ = c.SetReadDeadline(time.Now().Add(dialling))
		_, err = io.ReadFull(c, hello)
		rank := int(binary.LittleEndian.Uint32(hello[len(p.Token):]))
		if err != nil || subtle.ConstantTimeCompare(hello[:len(p.Token)], p.Token) == 0 || rank < 1 || rank >= size || w.conns[rank] != nil {
			_ = c.Close() // no rank of this run
			continue
		}
		w.conns[rank] = c
	}
	return nil
}

// dial connects to rank 0.
func (w *watch) dial(ctx context.Context, p place, rank int) error {
	addresses := p.Addresses
	if host, err := os.Hostname(); err == nil && host == p.Host {
		addresses = slices.Insert(slices.Clone(addresses), 0, "127.0.0.1")
	}
	err := errors.New("it has no address")
	for _, a := range addresses {
		var c net.Conn
		to := net.Dialer{Timeout: dialling / time.Duration(len(addresses))}
		if c, err = to.DialContext(ctx, "tcp", net.JoinHostPort(a, fmt.Sprint(p.Port))); err != nil {
			continue
		}
		if _, err = c.Write(binary.LittleEndian.AppendUint32(slices.Clone(p.Token), uint32(rank))); err == nil {
			w.conns[0] = c
			return nil
		}
		_ = c.Close()
	}
	return err
}

// begin starts to watch the connections.
func (w *watch) begin() {
	for rank, c := range w.conns {
		end := make(chan struct{})
		w.ended[rank] = end
		go func() {
			defer close(end)
			w.read(rank, c)
		}()
		go func() {
			for w.send(rank, alive, "") == nil {
				time.Sleep(beat)
			}
		}()
	}
}

// send sends a message to a rank.
func (w *watch) send(rank int, kind byte, text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.conns[rank]
	if c == nil {
		return net.ErrClosed
	}
	_ = c.SetWriteDeadline(time.Now().Add(beat))
	_, err := c.Write(append(binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(text))), text...))
	return err
}

// tell sends a message to all connected ranks but one.
func (w *watch) tell(except int, kind byte, text string) {
	for rank := range w.names {
		if rank != except {
			_ = w.send(rank, kind, text)
		}
	}
}

// read follows a connection to its end.
func (w *watch) read(rank int, c net.Conn) {
	for stops := false; ; {
		kind, text, err := receive(c)
		switch {
		case err != nil && stops:
			return
		case err != nil:
			why := "it died"
			if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
				why = fmt.Sprintf("nothing was heard of it for %v", patience)
			}
			w.lose(rank, fmt.Sprintf("%s is lost: %s", w.names[rank], why), false)
			return
		case kind == failed || kind == refused:
			w.mu.Lock()
			if rank == 0 {
				w.last = text
			}
			w.mu.Unlock()
			w.lose(rank, fmt.Sprintf("%s failed: %s", w.names[rank], text), kind == refused)
			return
		case kind == lostRank || kind == lostRefused:
			w.lose(rank, text, kind == lostRefused)
			return
		case kind == interrupted:
			stops = true
			w.interrupt() // before the waits of this rank end, which then know why
			w.mu.Lock()
			first := !w.stop
			w.stop = true
			w.mu.Unlock()
			if first {
				w.tell(rank, interrupted, "")
			}
		case kind == leaves:
			return
		}
	}
}

// receive reads a message.
func receive(c net.Conn) (kind byte, text string, err error) {
	var head [5]byte
	_ = c.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return 0, "", err
	}
	body := make([]byte, min(binary.LittleEndian.Uint32(head[1:]), 1<<16))
	_, err = io.ReadFull(c, body)
	return head[0], string(body), err
}

// lose notes the loss of a rank, which may have refused bad input, and tells the others.
func (w *watch) lose(rank int, text string, badInput bool) {
	lost := &LostError{Rank: rank, Text: text, BadInput: badInput}
	w.mu.Lock()
	first := w.lost == nil && !w.over
	if first {
		w.lost = lost
	}
	w.mu.Unlock()
	if first && w.after != nil {
		go w.after(lost)
	}
	if first && len(w.names) > 0 {
		w.tell(rank, lost.kind(), text)
	}
}

// kind is how messages tell the loss.
func (e *LostError) kind() byte {
	if e.BadInput {
		return lostRefused
	}
	return lostRank
}

// loss returns the first loss as an error, or context.Canceled if another rank was interrupted, or nil.
func (w *watch) loss() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.lost != nil:
		return w.lost
	case w.stop:
		return context.Canceled
	}
	return nil
}

// leave ends the watch of a rank that has done its work, or that was interrupted or has failed. A rank that has failed
// waits until rank 0 has ended: launchers kill all ranks when the first one exits, and rank 0 may be saving a
// checkpoint.
func (w *watch) leave(kind byte, text string) {
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	w.tell(-1, kind, text)
	if end := w.ended[0]; end != nil && kind != leaves {
		select {
		case <-end:
		case <-time.After(farewell):
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for rank, c := range w.conns {
		_ = c.Close()
		delete(w.conns, rank)
	}
}
