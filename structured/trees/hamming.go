package trees

import "github.com/dsp-go/dsp/structured"

// Hamming is the task loss that counts wrong heads plus wrong relations: a word with both wrong counts twice.
type Hamming struct{}

func (Hamming) Augment(θ *structured.Potentials, b int, gold structured.Gold) {
	each(gold, func(d int, head, relation int32, n int) {
		arc, label, r := θ.Parts[0].Of(b), θ.Parts[1].Of(b), θ.Parts[1].Width
		for h := range n {
			row := d*n + h
			if head >= 0 && row != Row(n, d, head) {
				arc[row]++
			}
			if relation < 0 {
				continue
			}
			for k := range r {
				if int32(k) != relation {
					label[row*r+k]++
				}
			}
		}
	})
}

func (Hamming) Dot(v *structured.Marginals, b int, gold structured.Gold) float64 {
	s := 0.0
	each(gold, func(d int, head, relation int32, n int) {
		arc, label, r := v.Parts[0].Of(b), v.Parts[1].Of(b), v.Parts[1].Width
		for h := range n {
			row := d*n + h
			if head >= 0 && row != Row(n, d, head) {
				s += float64(arc[row])
			}
			if relation < 0 {
				continue
			}
			for k, x := range label[row*r : (row+1)*r] {
				if int32(k) != relation {
					s += float64(x)
				}
			}
		}
	})
	return s
}

func (Hamming) Loss(y []int32, gold structured.Gold) float64 {
	wrong := 0
	for k, g := range gold.Output {
		if y[k] != g {
			wrong++
		}
	}
	return float64(wrong)
}

// each visits every word with its gold head and relation. One that is not known for certain is negative, and costs
// nothing.
func each(gold structured.Gold, visit func(d int, head, relation int32, n int)) {
	n := len(gold.Output) / 2
	for d := range n {
		visit(d, gold.Output[d], gold.Output[n+d], n)
	}
}
