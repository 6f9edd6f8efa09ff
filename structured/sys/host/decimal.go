package host

import (
	"math"
	"strconv"
	"strings"
)

// Decimal returns the finite number that a data file has in decimal notation, rounded to that many bits, and whether it
// is one. strconv.ParseFloat takes more: digits between underscores, hexadecimal digits, infinity and NaN.
func Decimal(text string, bits int) (float64, bool) {
	if strings.ContainsAny(text, "_xX") {
		return 0, false
	}
	x, err := strconv.ParseFloat(text, bits)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}
