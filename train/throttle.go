package train

import "time"

// throttle holds side work, such as writing checkpoints, to a share of 1/51 of the time, about 2 %: after work that took
// t it is due again 50 t later.
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
