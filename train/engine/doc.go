// Package engine evaluates the objective: full passes over the data, steps on batches, values. The notation is that of
// package train.
//
// Methods run on the host and leave the bulk of the work, full passes and steps, to the Engine. The Engine may have an
// Accelerator: a device that holds the data, scorer, iterates and memories. Each method is written once for both cases.
// Gradient, Step, Memory, Path and Descent are handles, and numbers come to the host only when a method reads them.
package engine
