package device

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/dsp-go/dsp/cuda/driver"
)

// callerAlignment is what kernels that load several numbers at once expect of an array.
const callerAlignment = 16

// At returns the array of n elements at an address that another library allocated, who keeps it while work with it is
// enqueued; what names it in errors. An address that is not in the device's memory, or not a multiple of 16 bytes, is
// an error, which is not sticky.
func At[E Element](d *Device, address uint64, n int, what string) (Array[E], error) {
	x := Array[E]{driver.Address(address), n}
	if n == 0 {
		return Array[E]{}, nil
	}
	if address == 0 {
		return x, fmt.Errorf("%s: no address", what)
	}
	ordinal, err := d.lib.Owner(x.at)
	switch {
	case err != nil:
		return x, explain(err, what)
	case ordinal < 0:
		return x, fmt.Errorf("%s: the address %#x is in the host's memory, expected that of cuda:%d",
			what, address, d.info.Ordinal)
	case ordinal != d.info.Ordinal:
		return x, fmt.Errorf("%s: the address %#x is in the memory of cuda:%d, expected cuda:%d",
			what, address, ordinal, d.info.Ordinal)
	case address%callerAlignment != 0:
		return x, fmt.Errorf("%s: the address %#x is no multiple of %d, as the start of an array is",
			what, address, callerAlignment)
	}
	return x, nil
}

// OwnerOf returns the number of the device in whose memory an address is, and −1 for the host's.
func OwnerOf(address uint64) (int, error) {
	lib, err := driver.Load()
	if err != nil {
		return 0, explain(err, "")
	}
	ordinal, err := lib.Owner(driver.Address(address))
	return ordinal, explain(err, "")
}

// In runs do, whose work goes into a stream of the caller, a CUstream, in place of the device's own: after what the
// caller has enqueued there, and after all work of the device. It does not wait for the work; Close does, also after an
// error. The caller's stream must not be captured in a graph.
func (d *Device) In(stream uint64, do func()) error {
	own, theirs := d.stream, driver.Stream(stream)
	if d.err == nil {
		d.order(own, theirs)
	}
	if d.err == nil {
		d.stream = theirs
		func() {
			defer func() { d.stream = own }() // also if do panics
			do()
		}()
		d.order(theirs, own)
	}
	return d.err
}

// order makes later work of a stream wait for all that another one holds.
func (d *Device) order(before, after driver.Stream) {
	runtime.LockOSThread()
	err := d.lib.SetCurrent(d.context)
	var e driver.Event
	d.spare.Lock()
	if n := len(d.spare.events); n > 0 {
		e, d.spare.events = d.spare.events[n-1], d.spare.events[:n-1]
	}
	d.spare.Unlock()
	if e == 0 && err == nil {
		e, err = d.lib.NewEvent()
	}
	if err == nil {
		err = d.lib.Record(e, before)
	}
	if err == nil {
		err = d.lib.Await(after, e) // of this record, also if the event is recorded again
	}
	if e != 0 {
		d.reuse(e)
	}
	d.leave(err, "")
}

// Aside runs do on one thread, which has the context of before again when do returns: the host of a library need not
// notice that it called a device.
func Aside(do func() error) error {
	lib, err := driver.Load()
	if err != nil {
		return explain(err, "")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := lib.Current()
	if err != nil {
		return explain(err, "")
	}
	err = do()
	return errors.Join(err, explain(lib.SetCurrent(before), ""))
}
