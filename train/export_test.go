package train

import "time"

// The limits of a certificate's bundle, and the name of a checkpoint's file.
const (
	BundlePieces   = bundlePieces
	BundleFloats   = bundleFloats
	CheckpointFile = checkpointFile
)

// Bundle returns the contents of a certificate's bundle and the allowance for rounding in its bound.
func (c *Certificate) Bundle() (mix, value []float64, gram [][]float64, grads [][]float32, rounded float64) {
	return c.mix, c.value, c.gram, c.grads, c.rounded
}

// Hold ensures that the checkpoint is never due.
func (c *Checkpoint) Hold() { c.throttle.cost, c.throttle.last = time.Hour, time.Now() }

// Take copies a state into the checkpoint.
func (c *Checkpoint) Take(m Method, s *State) error { return c.take(m, s, &books{}) }

// Rewrite writes the checkpoint as if it had changed since the last write.
func (c *Checkpoint) Rewrite() error {
	c.saved = false
	return c.save()
}
