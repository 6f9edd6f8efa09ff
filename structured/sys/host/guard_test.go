package host

import (
	"errors"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func TestGuard(t *testing.T) {
	boom := errors.New("boom")
	if err := Guard(func() error { return boom }); err != boom {
		t.Errorf("got %v, want the error", err)
	}
	var none []int
	var p *PanicError
	err := Guard(func() error { none[3]++; return nil })
	if !errors.As(err, &p) || !strings.Contains(p.Error(), "index out of range") ||
		!strings.Contains(string(p.Stack), "TestGuard") {
		t.Errorf("got %v, want the panic with its stack", err)
	}
	if structured.IsBadInput(err) {
		t.Error("a bug in the program is not bad input")
	}
}
