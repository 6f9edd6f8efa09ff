package vec

import "math"

func scaleOf(v, unbias float32) float32 {
	return float32(math.Sqrt(float64(float32(v*unbias)))) + Floor
}

func observe(β, unbias float32, g, v, q []float32) {
	for i, x := range g {
		v[i] = float32(β*v[i]) + float32((1-β)*float32(x*x))
		q[i] = 0
		if v[i] != 0 {
			q[i] = 1 / scaleOf(v[i], unbias)
		}
	}
}

func observeTempered(β, unbias, common, shift float32, g, v, q []float32) {
	for i, x := range g {
		v[i] = float32(β*v[i]) + float32((1-β)*float32(x*x))
		q[i] = 0
		if v[i] != 0 {
			q[i] = 1 / (float32(math.Sqrt(float64(float32(scaleOf(v[i], unbias)*common)))) + shift)
		}
	}
}

func descend(a float32, g []float32, b float32, q, w []float32) {
	for i, x := range w {
		w[i] = x - float32(q[i]*(float32(a*g[i])+float32(b*x)))
	}
}

func decay(x float32, v, w []float32) {
	for i, s := range v {
		if s != 0 {
			w[i] *= exp(-x / float32(math.Sqrt(float64(scaleOf(s, 1)))))
		}
	}
}

func descendMean(β, ρ, a float32, g, q, m, w []float32) {
	for i, x := range g {
		m[i] = float32(β*m[i]) + float32((1-β)*x)
		w[i] = float32(ρ*w[i]) - float32(float32(a*q[i])*m[i])
	}
}

func dot3(x, y, z []float32) float64 {
	var s partials
	dot3From(&s, 0, x, y, z)
	return s.total()
}

func dot3From(s *partials, from int, x, y, z []float32) {
	for i := from; i < len(x); i++ {
		s[i%16] += float64(float32(x[i]*y[i])) * float64(z[i])
	}
}
