// Package adversary judges the certificates of the training methods: dual ≤ least objective ≤ objective, after every
// pass, on small problems that are chosen to break it. It has tests only.
//
// The reference shares no oracle and no optimiser with what it judges. It lists all outputs of every example
// (explicit_test.go), minimises the objective over them in float64, and encloses the least value between a value and a
// dual value of its own (interior_test.go). Relaxed objectives, which are no sums over outputs, have a reference of
// their own (relaxed_test.go).
//
//	go test ./train/adversary                          the known failures, and a random part of the grid (its seed is printed)
//	DSP_SEED=7 go test ./train/adversary -run Grid     the same part again
//	DSP_LONG=1 go test ./train/adversary -timeout 60m  all of the grid
//	DSP_CASE='chain 12 crf' go test ./train/adversary -run Grid   the cases whose name contains that
package adversary
