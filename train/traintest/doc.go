// Package traintest holds what the tests of training share: small problems, a network, a fake device and checks.
package traintest
