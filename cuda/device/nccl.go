package device

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/dsp-go/dsp/cuda/driver"
)

// NCCL is NVIDIA's library for exchanges between devices, if the machine has it.
type NCCL struct {
	library driver.NCCL
	file    string
}

// Identifier is what the ranks of a group need to find each other.
type Identifier = driver.Identifier

const (
	ncclFile     = "libnccl.so.2"
	ncclVariable = "DSP_NCCL_LIBRARY"
	noNCCL       = "off"

	// NCCL 2.22 and later connects ranks in their first exchange, where a rank that is gone would hold it up before the
	// exchange can be aborted. 0 lets ranks connect when they join.
	connectVariable = "NCCL_RUNTIME_CONNECT"
)

// OpenNCCL returns the library, for emulated devices or for real ones; nil if there is none that works, and why not.
// The environment variable DSP_NCCL_LIBRARY names another file, which must exist, or is off. For emulated devices it
// must name one. Ranks connect when they join a group, unless NCCL_RUNTIME_CONNECT is set.
func OpenNCCL(emulated bool) (n *NCCL, why string, err error) {
	file := os.Getenv(ncclVariable)
	switch {
	case !Built:
		return nil, "this build has no CUDA", nil
	case file == noNCCL:
		return nil, ncclVariable + "=" + noNCCL, nil
	case file == "" && emulated:
		return nil, "a real NCCL cannot use an emulated device", nil
	}
	named := file != ""
	if !named {
		file = ncclFile
	}
	if _, given := os.LookupEnv(connectVariable); !given {
		if err := os.Setenv(connectVariable, "0"); err != nil { // which the library reads
			return nil, "", err
		}
	}
	library, err := driver.OpenNCCL(file)
	switch {
	case err != nil && named:
		return nil, "", fmt.Errorf("%s: %w", ncclVariable, err)
	case err != nil && strings.HasPrefix(err.Error(), ncclFile+": cannot open shared object file: No such file"):
		return nil, ncclFile + " not found", nil
	case err != nil:
		return nil, err.Error(), nil
	}
	return &NCCL{library, file}, "", nil
}

// Version returns the name and version of the library.
func (n *NCCL) Version() string { return "NCCL " + ncclVersion(n.library.Version()) }

// String names the library's version and file.
func (n *NCCL) String() string { return n.Version() + " (" + n.file + ")" }

// ncclVersion writes a version, whose encoding has changed in 2.9.
func ncclVersion(v int) string {
	major := 1000
	if v >= 10000 {
		major = 10000
	}
	return fmt.Sprintf("%d.%d.%d", v/major, v%major/100, v%100)
}

// NewIdentifier returns that of a new group, which one rank gives to the others.
func (n *NCCL) NewIdentifier() (Identifier, error) { return n.library.NewIdentifier() }

// Communicator is a device's place in a group of devices, a rank each.
type Communicator struct {
	of   *Device
	rank driver.Communicator
	size int
}

// Join makes the device a rank of a group, and waits until all ranks have joined it. ended is asked now and then why
// not to wait any longer; nil: there is no reason. The device, which can be in one group, leaves it when it is closed.
// After such a reason the device is of no more use.
func (d *Device) Join(n *NCCL, size, rank int, group Identifier, ended func() error) (*Communicator, error) {
	if d.err != nil {
		return nil, d.err
	}
	type result struct {
		of  driver.Communicator
		err error
	}
	joined, abandoned := make(chan result), make(chan struct{})
	go func() { // the library does not say how to end the wait; it ends with the process
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var r result
		if r.err = d.lib.SetCurrent(d.context); r.err == nil {
			r.of, r.err = n.library.Join(size, rank, group)
		}
		select {
		case joined <- r:
		case <-abandoned:
			if r.err == nil {
				_ = r.of.Abort() // nobody is left whom an error would help
			}
		}
	}()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case r := <-joined:
			if r.err != nil {
				return nil, explain(r.err, fmt.Sprintf("a group of %d devices", size))
			}
			d.communicator = &Communicator{of: d, rank: r.of, size: size}
			return d.communicator, nil
		case <-look.C:
			if err := ended(); err != nil {
				close(abandoned)
				d.joining = true
				d.Fail(err)
				return nil, err
			}
		}
	}
}

// Size returns the number of ranks.
func (c *Communicator) Size() int { return c.size }

// AllGather enqueues an exchange: to [Size×n] becomes what all ranks have in from [n], in their order. All ranks call
// it with the same n, in the same order.
func (c *Communicator) AllGather(to, from Array[float32]) {
	d := c.of
	if to.n != c.size*from.n {
		d.Fail(fmt.Errorf("cuda: %d ranks gather %d elements each in %d", c.size, from.n, to.n))
	}
	if from.n > 0 && d.outside("AllGather") && d.enter() {
		d.leave(c.rank.AllGather(to.at, from.at, from.n, d.stream), "")
	}
}

// How often Wait looks: all the time at first, and then less and less often.
const (
	spinning   = 50 * time.Microsecond
	firstPause = 20 * time.Microsecond
	lastPause  = 2 * time.Millisecond
)

// Wait waits until all enqueued work is done, so that a rank that is gone cannot hold it up for ever: ended is asked
// now and then why not to wait any longer. If there is a reason, exchanges under way are aborted, the device is of no
// more use, and the reason is returned.
func (c *Communicator) Wait(ended func() error) error {
	d := c.of
	reached := d.Record()
	begun, pause := time.Now(), firstPause
	for d.enter() {
		done, err := d.lib.Reached(reached.at)
		if err == nil && !done {
			err = c.rank.Failed()
		}
		d.leave(err, "")
		if done || err != nil {
			break
		}
		if time.Since(begun) < spinning {
			continue
		}
		if err := ended(); err != nil {
			d.Fail(err)
			break
		}
		time.Sleep(pause)
		pause = min(2*pause, lastPause)
	}
	runtime.KeepAlive(reached)
	if d.err != nil && d.communicator != nil {
		_ = d.inContext(func() error { return c.close(true) }) // the first error counts
	}
	return d.err
}

// close ends the communicator, in the device's context; it aborts what is under way.
func (c *Communicator) close(abort bool) error {
	c.of.communicator = nil
	if abort {
		return c.rank.Abort()
	}
	return c.rank.Close()
}

// inContext calls f in the device's context, also after an error.
func (d *Device) inContext(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return errors.Join(d.lib.SetCurrent(d.context), f())
}
