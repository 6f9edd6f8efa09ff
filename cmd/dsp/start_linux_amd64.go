package main

// start is the entry point of the programs that make builds: start_linux_amd64.s. Nothing calls it.
func start()

var _ = start
