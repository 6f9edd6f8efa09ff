package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"time"
	"fmt"

	"github.com/dsp-go/dsp/cmd/dsp/cli"
)

func main() {
	runtime.MemProfileRate = 64 << 10
	go func() {
		most := uint64(0)
		for {
			time.Sleep(100 * time.Millisecond)
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if m.HeapAlloc > most+most/20 {
				most = m.HeapAlloc
				f, _ := os.Create("/tmp/pipe.m/heap.prof")
				pprof.Lookup("heap").WriteTo(f, 0)
				f.Close()
				fmt.Fprintf(os.Stderr, "HEAP %d MB alloc, sys %d released %d idle %d\n", m.HeapAlloc>>20, m.HeapSys>>20, m.HeapReleased>>20, m.HeapIdle>>20)
			}
		}
	}()
	os.Exit(cli.Main())
}
