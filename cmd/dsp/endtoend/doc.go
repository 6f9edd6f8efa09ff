// Package endtoend tests the program as its users run it: it builds the binary once and looks at exit codes, messages and files.
package endtoend
