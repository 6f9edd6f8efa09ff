// Package foreign answers questions about potentials that lie in the memory of a caller in another language: plain arrays, described by
// numbers. It checks every number before it trusts it, divides a batch among threads, and returns errors instead of panics. The C library
// (cmd/libdsp) is a thin layer over it.
package foreign
