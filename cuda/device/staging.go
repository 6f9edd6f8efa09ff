package device

import (
	"errors"
	"unsafe"

	"github.com/dsp-go/dsp/cuda/driver"
)

const (
	buffers     = 4       // in the staging ring
	bufferBytes = 4 << 20 // of pinned memory
)

// staging is pinned memory for copies to and from the device. Uploads fill the buffers of a ring in turn. An event
// marks when the device has read a buffer, which can then be refilled, or written it.
type staging struct {
	ring   [buffers]buffer
	buffer int // the buffer being filled
	used   int // bytes of that buffer
	down   [2]buffer
}

type buffer struct {
	memory unsafe.Pointer
	read   driver.Event // or written, in downloads
	full   bool         // filled by an upload, and the device may not have read it
}

func (s *staging) upload(lib driver.Driver, stream driver.Stream, to driver.Address, from []byte) error {
	for len(from) > 0 {
		if s.used == bufferBytes {
			p := &s.ring[s.buffer]
			if err := lib.Record(p.read, stream); err != nil {
				return err
			}
			p.full = true
			s.buffer, s.used = (s.buffer+1)%buffers, 0
		}
		p := &s.ring[s.buffer]
		if err := p.ready(lib); err != nil {
			return err
		}
		at := unsafe.Add(p.memory, s.used)
		n := copy(unsafe.Slice((*byte)(at), bufferBytes-s.used), from)
		if err := lib.CopyIn(to, at, int64(n), stream); err != nil {
			return err
		}
		to += driver.Address(n)
		from = from[n:]
		s.used = min(bufferBytes, (s.used+n+Alignment-1)/Alignment*Alignment)
	}
	return nil
}

// ready waits until the buffer may be refilled; the first call allocates it.
func (p *buffer) ready(lib driver.Driver) (err error) {
	if p.full {
		err = lib.WaitEvent(p.read)
		p.full = false
	}
	if p.memory == nil {
		if p.read, err = lib.NewEvent(); err == nil {
			p.memory, err = lib.AllocateHost(bufferBytes)
		}
	}
	return err
}

// download copies a buffer from the device while the host empties the one before.
func (s *staging) download(lib driver.Driver, stream driver.Stream, to []byte, from driver.Address) error {
	for next := 0; len(to) > 0; next++ { // to begins with buffer next−1, unless that is the first
		before := 0
		if next > 0 {
			before = min(len(to), bufferBytes)
		}
		if n := min(len(to)-before, bufferBytes); n > 0 {
			p := &s.down[next%2]
			if err := p.ready(lib); err != nil {
				return err
			}
			if err := lib.CopyOut(p.memory, from, int64(n), stream); err != nil {
				return err
			}
			if err := lib.Record(p.read, stream); err != nil {
				return err
			}
			from += driver.Address(n)
		}
		if before > 0 {
			p := &s.down[(next-1)%2]
			if err := lib.WaitEvent(p.read); err != nil {
				return err
			}
			copy(to[:before], unsafe.Slice((*byte)(p.memory), before))
			to = to[before:]
		}
	}
	return nil
}

func (s *staging) close(lib driver.Driver) error {
	var errs []error
	for _, p := range append(s.ring[:], s.down[:]...) {
		if p.memory != nil {
			errs = append(errs, lib.FreeHost(p.memory))
		}
		if p.read != 0 {
			errs = append(errs, lib.CloseEvent(p.read))
		}
	}
	return errors.Join(errs...)
}
