package host

import "testing"

func TestDecimal(t *testing.T) {
	for text, want := range map[string]float64{"1": 1, "-1e2": -100, "+.5": 0.5, "5.": 5, "1e-400": 0} {
		if x, ok := Decimal(text, 64); !ok || x != want {
			t.Errorf("%q: %g, %v", text, x, ok)
		}
	}
	for _, text := range []string{"", " 1", "1_000", "0x10", "0x1p4", "0X1P-2", "inf", "Infinity", "-Inf",
		"nan", "1e400", "1,5", "one"} {
		if x, ok := Decimal(text, 64); ok {
			t.Errorf("%q: %g", text, x)
		}
	}
	if _, ok := Decimal("1e39", 32); ok {
		t.Error("1e39 as 32 bits")
	}
}
