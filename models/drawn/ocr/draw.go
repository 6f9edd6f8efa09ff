package ocr

import (
	"math"
	"math/rand/v2"
)

// hand is the handwriting of one word: what its letters share.
type hand struct {
	face      *face
	thickness float64 // pixels by which strokes grow on either side
	slant     float64
	contrast  float64
}

func newHand(difficulty float64, rng *rand.Rand) hand {
	return hand{
		face:      faces[rng.IntN(len(faces))],
		thickness: difficulty * (0.09 + 0.15*clippedNormal(rng)),
		slant:     0.13 * difficulty * clippedNormal(rng),
		contrast:  1 - 0.33*min(difficulty, 2)*rng.Float64(),
	}
}

// clippedNormal draws a standard normal number, clipped to [-2, 2] so that no letter leaves its image.
func clippedNormal(rng *rand.Rand) float64 { return min(max(rng.NormFloat64(), -2), 2) }

// draw writes the image [letterPixels] of a letter (0 is a), ink 1 on background 0, rounded to hundredths so that two
// decimals store it exactly. Difficulty 0 gives the clean letter of the face. Every distortion grows in proportion to
// difficulty: shift, rotation, shear, scale, a smooth wave, thicker or thinner strokes, blur, blots and noise.
func (h hand) draw(image []float32, letter int, difficulty float64, rng *rand.Rand) {
	amount := func(spread float64) float64 { return spread * difficulty * clippedNormal(rng) }
	g := h.face.letter(letter)
	dx, dy := amount(0.45), amount(0.5)
	sin, cos := math.Sincos(amount(0.125))
	shear := h.slant + amount(0.11)
	sx, sy := math.Exp(amount(0.1)), math.Exp(amount(0.08))
	thickness := h.thickness + amount(0.09)
	softness := 0.5 + math.Abs(amount(0.5))
	waveX, waveY := newWave(rng, amount(0.28)), newWave(rng, amount(0.28))
	blot := newBlot(difficulty, rng)
	noise := 0.145 * difficulty

	for r := range letterRows {
		for c := range letterCols {
			ink := 0.0
			for s := range 4 { // four samples per pixel
				// Map the image back to the letter: centre, undo the shift, rotate, shear, scale and bend.
				x := float64(c) + 0.25 + 0.5*float64(s%2) - letterCols/2 - dx
				y := float64(r) + 0.25 + 0.5*float64(s/2) - letterRows/2 - dy
				x, y = cos*x+sin*y, cos*y-sin*x
				x = (x + shear*y) * sx
				y *= sy
				x, y = x+waveX.at(x, y)+letterCols/2, y+waveY.at(x, y)+letterRows/2
				ink += 0.25 * min(max(0.5+(g.at(x, y)+thickness)/(2*softness), 0), 1)
			}
			ink = blot.over(ink, float64(c)+0.5, float64(r)+0.5)*h.contrast + noise*rng.NormFloat64()
			image[r*letterCols+c] = float32(math.Round(100*min(max(ink, 0), 1))) / 100
		}
	}
}

// A wave bends a letter smoothly: a sine of random direction and phase, about one period over the image.
type wave struct{ amplitude, kx, ky, phase float64 }

func newWave(rng *rand.Rand, amplitude float64) wave {
	sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
	k := 2 * math.Pi / (8 + 8*rng.Float64())
	return wave{amplitude, k * cos, k * sin, 2 * math.Pi * rng.Float64()}
}

func (w wave) at(x, y float64) float64 { return w.amplitude * math.Sin(w.kx*x+w.ky*y+w.phase) }

// A blot is a round spot of ink, or of lost ink.
type blot struct{ x, y, radius, ink float64 }

func newBlot(difficulty float64, rng *rand.Rand) blot {
	b := blot{
		x: letterCols * rng.Float64(), y: letterRows * (0.15 + 0.7*rng.Float64()),
		radius: difficulty * (0.67 + 1.23*rng.Float64()), ink: float64(rng.IntN(2)),
	}
	if rng.Float64() > 0.5 {
		b.radius = 0
	}
	return b
}

// over returns the ink at a point once the blot covers it. The blot's rim is one pixel wide.
func (b blot) over(ink, x, y float64) float64 {
	if b.radius == 0 {
		return ink
	}
	cover := min(max(b.radius+0.5-math.Hypot(x-b.x, y-b.y), 0), 1)
	return ink + cover*(b.ink-ink)
}
