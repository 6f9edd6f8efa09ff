// Package traintest holds what tests of training share: small problems, a network and a device to solve them with, and checks.
package traintest
