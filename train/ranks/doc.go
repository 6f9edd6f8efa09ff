// Package ranks lets several processes train one model together, or predict with it, as a launcher such as mpirun or
// srun started them.
//
// Each process is a rank. All ranks run the same program on the same settings. They hold the same weights, and each
// does its share of what is summed over examples. A Group joins them: it sums in the order of the ranks, so that a sum
// has the bits that one process would have given it, whatever the number of ranks. InOrder shares what is done to items
// one by one, such as prediction.
//
// MPI is loaded when the program runs (purego): Open MPI, MPICH and its kin, and libraries with the standard ABI of
// MPI 5. No build needs it.
//
// Beside MPI the ranks keep connections to rank 0 (watch.go). MPI does not say that a rank has died, and waits for
// ever. The connections do.
package ranks
