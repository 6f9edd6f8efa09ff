// Package engine evaluates the objective: full passes over the data, steps on batches, values. The notation is that of package
// train.
//
// Methods think on the host between passes; what they do many times, full passes and steps, is asked of the Engine, which
// may have an Accelerator: a device where data, scorer, iterates and memories live. So each method is written once: Gradient,
// Step, Memory and Path are handles there, and numbers come to the host only where a method looks at them.
package engine
