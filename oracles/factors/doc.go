// Package factors holds factor graphs: variables with finite numbers of states, and tables that score some of them
// together. They may have any order and mixed numbers of states, as models that come from elsewhere do.
//
// Tables hold logarithms. The last variable of a table's scope changes fastest. −∞ forbids an entry; NaN and +∞ are
// errors of the caller.
package factors
