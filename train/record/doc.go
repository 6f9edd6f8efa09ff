// Package record reports on a run. It holds Record, the results of a pass, and the recorders that show or store it: the
// console and a file of metrics, with the curves and TensorBoard's event files in subpackages.
package record
