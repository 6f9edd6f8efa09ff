// Package record holds what is told of a run, a Record after each pass, and the recorders that show or keep it: the console, a file
// of metrics, and in packages below this one curves and TensorBoard's event files.
package record
