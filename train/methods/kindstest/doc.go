// Package kindstest tests the training methods on every kind of structure beyond chains: choices and windows,
// matchings, and graphs with exact inference, with cuts and relaxed. It has tests only.
package kindstest
