package train

import "time"

// The sizes of a certificate's bundle, and the name of a checkpoint's file.
const (
	BundlePieces   = bundlePieces
	BundleFloats   = bundleFloats
	CheckpointFile = checkpointFile
)

// Bundle returns what a certificate has put together, and what rounding may have added to its bound.
func (c *Certificate) Bundle() (mix, value []float64, gram [][]float64, grads [][]float32, rounded float64) {
	return c.mix, c.value, c.gram, c.grads, c.rounded
}

// Hold makes sure that the checkpoint is never due.
func (c *Checkpoint) Hold() { c.throttle.cost, c.throttle.last = time.Hour, time.Now() }

// Take makes a state the checkpoint's.
func (c *Checkpoint) Take(m Method, s *State) error { return c.take(m, s, &books{}) }

// Rewrite writes the checkpoint, as if it had changed since.
func (c *Checkpoint) Rewrite() error {
	c.saved = false
	return c.save()
}
