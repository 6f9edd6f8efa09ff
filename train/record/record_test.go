package record

import "testing"

func TestCertifiedSaysRelaxed(t *testing.T) {
	if got := Certified("certified gap of 1 %", false); got != "certified gap of 1 %" {
		t.Error(got)
	}
	if got := Certified("certified gap of 1 %", true); got != "certified gap of 1 %, relaxed objective" {
		t.Error(got)
	}
	if got := Certified("", true); got != "" {
		t.Error(got)
	}
}
