package training

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/dsp-go/dsp/cuda/device"
)

// meet says which device each rank has, and joins them.
func (on *onDevice) meet(ctx context.Context, r *Run) error {
	if !r.o.Several() { // there is nobody to tell
		return nil
	}
	all, err := r.o.Ranks.AllGather(ctx, []byte(on.Info().String()))
	if err != nil {
		return err
	}
	for rank, name := range all {
		r.o.Log.Info(fmt.Sprintf("device of %s: %s", r.o.Ranks.Name(rank), name))
	}
	if r.deviceParts() <= 1 {
		return nil
	}
	return on.join(ctx, r)
}

// place is where a rank computes, and how it can exchange gradients.
type place struct {
	Library string // NCCL with its version; empty if the rank has none
	Why     string // the rank has none
	Device  string // UUID, which no two GPUs have on any machine; containers of one machine may give it several names
}

// join makes the devices of ranks that share batches a group, which exchanges gradients without the hosts, if every
// rank has NCCL and a device of its own.
func (on *onDevice) join(ctx context.Context, r *Run) error {
	size := r.o.Ranks.Size()
	library, why, err := device.OpenNCCL(on.Info().Emulated())
	if err != nil {
		return err
	}
	mine := place{Why: why, Device: on.Info().UUID}
	if library != nil {
		mine.Library = library.Version()
	}
	message, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	all, err := r.o.Ranks.AllGather(ctx, message)
	if err != nil {
		return err
	}
	places := make([]place, size)
	for rank, x := range all {
		if err := json.Unmarshal(x, &places[rank]); err != nil {
			return err
		}
	}
	if why := whyThroughHosts(places, r.o.Ranks.Name); why != "" {
		r.o.Log.Info("gradients of the ranks' parts are added on the hosts: " + why)
		return nil
	}
	var group device.Identifier
	if r.o.leads() {
		group, err = library.NewIdentifier()
	}
	if err == nil {
		err = r.o.Ranks.Broadcast(ctx, group[:], 0)
	}
	if err != nil {
		return err
	}
	c, err := on.Join(library, size, r.o.Ranks.Rank(), group, func() error { return r.o.Ranks.Ended(ctx) })
	if err != nil {
		return fmt.Errorf("%w (DSP_NCCL_LIBRARY=off adds gradients on the hosts)", err)
	}
	on.accelerator.GatherOver(c)
	r.o.Log.Info("gradients of the ranks' parts go from GPU to GPU, by " + library.String())
	return nil
}

// whyThroughHosts returns why devices at these places, one for each rank, cannot exchange gradients themselves; empty
// if they can.
func whyThroughHosts(places []place, name func(rank int) string) string {
	used := map[string]int{}
	for rank, p := range places {
		before, shared := used[p.Device]
		switch {
		case p.Library == "":
			return fmt.Sprintf("%s has no NCCL: %s", name(rank), p.Why)
		case p.Library != places[0].Library:
			return fmt.Sprintf("%s has %s, but %s has %s", name(rank), p.Library, name(0), places[0].Library)
		case shared:
			return fmt.Sprintf("%s and %s share a GPU", name(before), name(rank))
		}
		used[p.Device] = rank
	}
	return ""
}
