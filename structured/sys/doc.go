// Package sys is a shelf for what the rest stands on and what knows nothing of structures: arithmetic on vectors (vec),
// files, memory limits and workers of the host (host), and the file formats safetensors and packed. The package itself
// is empty.
package sys
