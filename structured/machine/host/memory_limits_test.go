package host

import (
	"math"
	"strings"
	"testing"
)

// A start with too little memory or address space is refused, with the limit to raise.
func TestCheckStart(t *testing.T) {
	for _, x := range []struct {
		memory, address float64
		want            string
	}{
		{1 << 30, math.Inf(1), ""},
		{1 << 30, 1 << 30, ""},
		{60 << 20, math.Inf(1), "60 MiB of memory"},
		{1 << 30, 100 << 20, "ulimit -v"},
	} {
		err := checkStart(x.memory, x.address)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, %v: %v, want %q", x.memory, x.address, err, x.want)
		}
	}
}
