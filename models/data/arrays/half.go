package arrays

import "math"

// Half is a number in half precision (IEEE binary16), NumPy's float16.
type Half uint16

const (
	halfMagnitude = 0x7fff     // all but the sign
	halfInfinity  = 0x7c00     // exponent of ±∞ and NaN
	halfRescale   = 0x1p112    // makes up for the difference between the exponents' biases, 127 − 15
	halfOverflow  = 0x477ff000 // bits of 65,520, the smallest float32 that rounds to ∞
)

// Float32 converts h exactly.
func (h Half) Float32() float32 {
	if h&halfInfinity == halfInfinity {
		return math.Float32frombits(uint32(h&^halfMagnitude)<<16 | 0x7f800000 | uint32(h)<<13&0x7fffff)
	}
	return h.finite()
}

// finite converts h if it is finite.
func (h Half) finite() float32 {
	sign := uint32(h&^halfMagnitude) << 16
	scaled := math.Float32frombits(uint32(h&halfMagnitude)<<13) * halfRescale
	return math.Float32frombits(sign | math.Float32bits(scaled))
}

// NewHalf rounds x to half precision, to even when in the middle. Numbers from 65,520 on become ∞.
func NewHalf(x float32) Half {
	bits := math.Float32bits(x)
	sign, magnitude := Half(bits>>16)&^halfMagnitude, bits&0x7fffffff
	switch {
	case magnitude > 0x7f800000:
		return sign | halfInfinity | 0x200 // NaN
	case magnitude >= halfOverflow:
		return sign | halfInfinity
	case magnitude < 0x38800000: // below 2⁻¹⁴ the last bit is worth 2⁻²⁴
		return sign | Half(math.RoundToEven(float64(math.Float32frombits(magnitude))*0x1p24))
	}
	magnitude -= (127 - 15) << 23
	magnitude += 0xfff + magnitude>>13&1 // round to even
	return sign | Half(magnitude>>13)
}
