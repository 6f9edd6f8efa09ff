package device

import (
	"errors"
	"runtime"
	"time"

	"github.com/dsp-go/dsp/cuda/driver"
)

// Event marks a point in a device's stream.
type Event struct {
	of *Device
	at driver.Event
}

// Record returns an event that is reached when all work enqueued so far is done.
func (d *Device) Record() *Event {
	e := &Event{of: d}
	if !d.outside("Record") || !d.enter() {
		return e
	}
	d.spare.Lock()
	if n := len(d.spare.events); n > 0 {
		e.at, d.spare.events = d.spare.events[n-1], d.spare.events[:n-1]
	}
	d.spare.Unlock()
	var err error
	if e.at == 0 {
		e.at, err = d.lib.NewEvent()
	}
	if err == nil {
		err = d.lib.Record(e.at, d.stream)
		runtime.AddCleanup(e, d.reuse, e.at)
	}
	d.leave(err, "")
	return e
}

// Since waits for the event and returns the device time since an earlier event; 0 after an error.
func (e *Event) Since(from *Event) time.Duration {
	d := e.of
	if !d.outside("Since") || !d.enter() {
		return 0
	}
	err := d.lib.WaitEvent(e.at)
	var ms float64
	if err == nil {
		ms, err = d.lib.Elapsed(from.at, e.at)
	}
	d.leave(err, "")
	runtime.KeepAlive(e)
	runtime.KeepAlive(from)
	return time.Duration(ms * float64(time.Millisecond))
}

// reuse keeps the driver event of an unreferenced Event for a later Record.
func (d *Device) reuse(e driver.Event) {
	d.spare.Lock()
	defer d.spare.Unlock()
	d.spare.events = append(d.spare.events, e)
}

func (d *Device) closeEvents() error {
	d.spare.Lock()
	defer d.spare.Unlock()
	var errs []error
	for _, e := range d.spare.events {
		errs = append(errs, d.lib.CloseEvent(e))
	}
	d.spare.events = nil
	return errors.Join(errs...)
}
