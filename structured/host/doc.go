// Package host deals with the machine that dsp runs on: it opens and atomically replaces files, measures the available memory, and turns
// panics into errors.
package host
