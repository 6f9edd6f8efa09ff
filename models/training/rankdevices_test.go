package training

import (
	"fmt"
	"testing"
)

// Devices exchange gradients only if every rank has the same NCCL and a device of its own.
func TestWhyThroughHosts(t *testing.T) {
	at := func(library, device string) place { return place{Library: library, Device: device} }
	for _, c := range []struct {
		places []place
		want   string
	}{
		{[]place{at("NCCL 2.20.5", "1"), at("NCCL 2.20.5", "2"), at("NCCL 2.20.5", "3")}, ""},
		{[]place{at("NCCL 2.20.5", "1"), at("NCCL 2.20.5", "2"), at("NCCL 2.20.5", "1")}, "rank 0 and rank 2 share a GPU"},
		{[]place{at("NCCL 2.20.5", "1"), at("NCCL 2.21.5", "2")}, "rank 1 has NCCL 2.21.5, but rank 0 has NCCL 2.20.5"},
		{[]place{at("NCCL 2.20.5", "1"), {Why: "libnccl.so.2 not found"}}, "rank 1 has no NCCL: libnccl.so.2 not found"},
	} {
		if got := whyThroughHosts(c.places, func(rank int) string { return fmt.Sprint("rank ", rank) }); got != c.want {
			t.Errorf("%+v: %q, want %q", c.places, got, c.want)
		}
	}
}
