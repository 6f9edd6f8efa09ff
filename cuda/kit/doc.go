// Package kit holds visit.sh, which tests and measures dsp on a machine with a GPU and without Go, a C compiler or a
// network. make gpu-kit packs it with the programs that it runs.
package kit
