// Package host deals with the machine that dsp runs on: it opens and atomically replaces files, measures the available
// memory, turns panics into errors, and shares work among threads.
package host
