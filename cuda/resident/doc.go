// Package resident keeps data in the memory of a GPU. Data is a data set, and Batch a choice of its examples, within a
// Capacity that captured graphs can rely on.
package resident
