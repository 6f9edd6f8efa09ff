package features

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// What the cache says of its size is about what the heap holds: of names that are long or short, of values that many
// names share, and of lists.
func TestViewMemory(t *testing.T) {
	const texts = 1 << 15
	short, long := make([]string, texts), make([]string, texts)
	for i := range texts {
		short[i] = fmt.Sprintf("%06d", i)
		long[i] = short[i] + strings.Repeat("x", 250)
	}
	for _, test := range []struct {
		name  string
		child string
		texts []string
	}{
		{"short names", "", short},
		{"long names", "", long},
		{"a value that all share", "isdigit", short},
		{"lists", "ngrams2", short},
	} {
		fill := func(child string) (*view, int) {
			v := &view{}
			if child != "" {
				f, _ := findFunction(child)
				v.children = []*view{{name: child, function: f.f, n: f.n}}
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
		if test.child != "" {
			_, alone := fill("")
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
