package train

import "time"

// throttle limits side work, such as writing checkpoints, to 1/51 (about 2 %) of the time: work that took t is due
// again after 50 t.
type throttle struct {
	cost time.Duration
	last time.Time // when the work last ended
}

func (t *throttle) due() bool { return time.Since(t.last) >= 50*t.cost }

func (t *throttle) do(work func() error) error {
	start := time.Now()
	err := work()
	t.last = time.Now()
	t.cost = t.last.Sub(start)
	return err
}
