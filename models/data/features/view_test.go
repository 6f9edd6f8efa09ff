package features

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// What the cache says of its size is about what the heap holds: of names that are long or short, of values that many names share, and of lists.
func TestViewMemory(t *testing.T) {
	const texts = 1 << 15
	short, long := make([]string, texts), make([]string, texts)
	for i := range texts {
		short[i] = fmt.Sprintf("%06d", i)
		long[i] = short[i] + strings.Repeat("x", 250)
	}
	for _, test := range []struct {
		name  string
		child *call
		texts []string
	}{
		{"short names", nil, short},
		{"long names", nil, long},
		{"a value that all share", &call{"prefix", 0}, short},
		{"lists", &call{"ngrams", 2}, short},
	} {
		fill := func(child *call) (*view, int) {
			v := &view{}
			if child != nil {
				v.children = []*view{{call: *child, function: functions[child.name]}}
			}
			v.reset(marksBeyond(1))
			before := heap()
			for _, text := range test.texts {
				v.cell(text)
			}
			return v, heap() - before
		}
		v, held := fill(test.child)
		told := v.memory()
		if test.child != nil {
			_, alone := fill(nil)
			held, told = held-alone, v.children[0].memory()
		}
		if told < held/2 || told > 2*held {
			t.Errorf("%s: %d bytes told, %d held", test.name, told, held)
		}
		runtime.KeepAlive(v)
	}
}

// heap returns the bytes of what is in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
