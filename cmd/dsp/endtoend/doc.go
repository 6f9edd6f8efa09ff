// Package endtoend tests the program as its users run it: it starts processes and looks at exit codes, messages and
// files.
package endtoend
