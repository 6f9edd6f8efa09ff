package device

import (
	"errors"
	"unsafe"

	"github.com/dsp-go/dsp/cuda/driver"
)

const (
	pieces     = 4       // in the staging ring
	pieceBytes = 4 << 20 // of pinned memory
)

// staging is pinned memory for copies to and from the device. Uploads fill the pieces of a ring in turn. An event marks when the
// device has read a piece, which can then be refilled.
type staging struct {
	ring  [pieces]piece
	piece int // the piece being filled
	used  int // bytes of that piece
	down  unsafe.Pointer
}

type piece struct {
	memory unsafe.Pointer
	read   driver.Event
	full   bool // filled, and the device may not have read it
}

func (s *staging) upload(lib driver.Driver, stream driver.Stream, to driver.Address, from []byte) error {
	for len(from) > 0 {
		if s.used == pieceBytes {
			p := &s.ring[s.piece]
			if err := lib.Record(p.read, stream); err != nil {
				return err
			}
			p.full = true
			s.piece, s.used = (s.piece+1)%pieces, 0
		}
		p := &s.ring[s.piece]
		if err := p.ready(lib); err != nil {
			return err
		}
		at := unsafe.Add(p.memory, s.used)
		n := copy(unsafe.Slice((*byte)(at), pieceBytes-s.used), from)
		if err := lib.CopyIn(to, at, int64(n), stream); err != nil {
			return err
		}
		to += driver.Address(n)
		from = from[n:]
		s.used = min(pieceBytes, (s.used+n+Alignment-1)/Alignment*Alignment)
	}
	return nil
}

// ready waits until the piece may be refilled; the first call allocates it.
func (p *piece) ready(lib driver.Driver) (err error) {
	if p.full {
		err = lib.WaitEvent(p.read)
		p.full = false
	}
	if p.memory == nil {
		if p.read, err = lib.NewEvent(); err == nil {
			p.memory, err = lib.AllocateHost(pieceBytes)
		}
	}
	return err
}

func (s *staging) download(lib driver.Driver, stream driver.Stream, to []byte, from driver.Address) (err error) {
	if s.down == nil {
		if s.down, err = lib.AllocateHost(pieceBytes); err != nil {
			return err
		}
	}
	for len(to) > 0 {
		n := min(len(to), pieceBytes)
		if err := lib.CopyOut(s.down, from, int64(n), stream); err != nil {
			return err
		}
		if err := lib.Wait(stream); err != nil {
			return err
		}
		copy(to[:n], unsafe.Slice((*byte)(s.down), n))
		to, from = to[n:], from+driver.Address(n)
	}
	return nil
}

func (s *staging) close(lib driver.Driver) error {
	var errs []error
	for _, p := range s.ring {
		if p.memory != nil {
			errs = append(errs, lib.FreeHost(p.memory))
		}
		if p.read != 0 {
			errs = append(errs, lib.CloseEvent(p.read))
		}
	}
	if s.down != nil {
		errs = append(errs, lib.FreeHost(s.down))
	}
	return errors.Join(errs...)
}
