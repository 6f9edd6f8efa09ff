package device

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/dsp-go/dsp/cuda/driver"
)

// delivery is an array on its way to the host, part by part, while the device computes the rest. The copies have a
// stream of their own.
type delivery struct {
	stream  driver.Stream
	memory  unsafe.Pointer // pinned; holds room elements
	room    int
	from    Array[float32]
	sent    []sending // so far; events of earlier deliveries remain behind its end
	arrived int       // of sent
}

// sending is a copy of the elements from the end of the one before to end.
type sending struct {
	end         int
	final, here driver.Event // the elements are what they should be; the host has them
}

// Deliver begins to deliver an array: its elements up to n leave when Send(n) is called, in the order of the calls with
// all other work. Until Arrived has returned all that was sent, or Sync was called, nothing may begin another delivery.
func (d *Device) Deliver(from Array[float32]) {
	x := &d.delivery
	x.from, x.sent, x.arrived = from, x.sent[:0], 0
	if x.room >= from.n || !d.outside("Deliver") || !d.enter() {
		return
	}
	err := error(nil)
	if x.stream == 0 {
		x.stream, err = d.lib.NewStream()
	}
	if err == nil && x.memory != nil {
		err = errors.Join(d.lib.Wait(x.stream), d.lib.FreeHost(x.memory))
		x.memory, x.room = nil, 0
	}
	if err == nil {
		x.memory, err = d.lib.AllocateHost(int(from.bytes()))
		x.room = from.n
	}
	d.leave(err, "pinned memory for gradients")
}

// Send copies the elements up to end that have not left yet, when all work enqueued so far is done. Work that is
// enqueued after the last element has left may change the array.
func (d *Device) Send(end int) {
	x := &d.delivery
	from := 0
	if n := len(x.sent); n > 0 {
		from = x.sent[n-1].end
	}
	if end <= from || !d.outside("Send") || !d.enter() {
		return
	}
	d.leave(x.send(d.lib, d.stream, from, min(end, x.from.n)), "")
}

func (x *delivery) send(lib driver.Driver, main driver.Stream, from, end int) (err error) {
	n := len(x.sent)
	if n < cap(x.sent) {
		x.sent = x.sent[:n+1] // with its events
	} else {
		x.sent = append(x.sent, sending{})
	}
	s := &x.sent[n]
	if s.final == 0 {
		s.final, err = lib.NewEvent()
	}
	if err == nil && s.here == 0 {
		s.here, err = lib.NewEvent()
	}
	s.end = end
	part := x.from.Slice(from, end)
	for _, do := range []func() error{
		func() error { return lib.Record(s.final, main) },
		func() error { return lib.Await(x.stream, s.final) },
		func() error { return lib.CopyOut(unsafe.Add(x.memory, 4*from), part.at, part.bytes(), x.stream) },
		func() error { return lib.Record(s.here, x.stream) },
	} {
		if err == nil {
			err = do()
		}
	}
	if err == nil && end == x.from.n {
		err = lib.Await(main, s.here)
	}
	return err
}

// Arrived waits for elements from lo on that were sent, and copies them.
func (d *Device) Arrived(to []float32, lo int) {
	x := &d.delivery
	if !d.outside("Arrived") || !d.enter() {
		return
	}
	err := error(nil)
	for has := 0; err == nil && has < lo+len(to); {
		if x.arrived > 0 {
			has = x.sent[x.arrived-1].end
		}
		switch {
		case has >= lo+len(to):
		case x.arrived == len(x.sent):
			err = fmt.Errorf("cuda: elements up to %d have not been sent", lo+len(to))
		default:
			err = d.lib.WaitEvent(x.sent[x.arrived].here)
			x.arrived++
		}
	}
	d.leave(err, "")
	if err == nil {
		copy(to, unsafe.Slice((*float32)(x.memory), x.room)[lo:])
	}
}

func (x *delivery) close(lib driver.Driver) (err error) {
	if x.stream == 0 {
		return nil
	}
	err = errors.Join(lib.Wait(x.stream), lib.CloseStream(x.stream))
	for _, s := range x.sent[:cap(x.sent)] {
		for _, e := range []driver.Event{s.final, s.here} {
			if e != 0 {
				err = errors.Join(err, lib.CloseEvent(e))
			}
		}
	}
	if x.memory != nil {
		err = errors.Join(err, lib.FreeHost(x.memory))
	}
	return err
}

// LeastSent is how many elements are worth a copy of their own: 1 MiB. On an emulated device few are, for tests.
func (d *Device) LeastSent() int {
	if d.info.Emulated() {
		return 16
	}
	return 1 << 18
}
