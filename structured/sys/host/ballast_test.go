package host

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

// With the ballast a heap of next to nothing may grow by its size before it is collected again.
func TestBallast(t *testing.T) {
	Ballast()
	for range 1000 { // the first collection hands the ballast to a goroutine of the runtime
		runtime.GC()
		runtime.Gosched()
		of := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}, {Name: "/gc/heap/live:bytes"}}
		metrics.Read(of)
		if goal, live := of[0].Value.Uint64(), of[1].Value.Uint64(); goal >= live+16<<20 {
			return
		}
	}
	t.Error("after 1,000 collections the next one is still due before 16 MiB of garbage")
}
