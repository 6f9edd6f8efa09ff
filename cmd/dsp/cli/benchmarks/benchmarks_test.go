package benchmarks

import (
	"context"
	"errors"
	"testing"
)

// An interrupt leaves the measurements that were made before it.
func TestInterruptKeepsSpeeds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := func() error { return nil }
	interrupt := func() error { cancel(); return nil }
	all := []measure{{part: "first", sequences: 2, run: done}, {part: "second", sequences: 3, run: interrupt}, {part: "third", run: done}}
	speeds, err := repeatAll(ctx, all, 1e-9)
	if !errors.Is(err, context.Canceled) || len(speeds) != 1 || speeds[0].Part != "first" || !(speeds[0].Sequences > 0) {
		t.Errorf("measured %v with the error %v, expected the first one and an interrupt", speeds, err)
	}
}
