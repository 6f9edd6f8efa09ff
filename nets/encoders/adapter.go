package encoders

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/nets/kernels"
	"github.com/dsp-go/dsp/structured"
)

// Adapter says how adapters of low rank stand in for the weights of attention while an encoder is trained (Hu et al.
// 2022): the products with W [out×in] of queries, keys, values and the output become products with W + (α/r) B·A. A
// [r×in] and B [out×r] are trained, and W stays as it is. B starts at zero, so that training starts with the pretrained
// encoder. The zero value means no adapters.
type Adapter struct {
	Rank  int     // r; 0: no adapters
	Alpha float64 // α
}

// ParseAdapter reads "lora:R" or "lora:R:ALPHA"; α is 2R unless it is given. The empty text means no adapters.
func ParseAdapter(text string) (Adapter, error) {
	if text == "" {
		return Adapter{}, nil
	}
	bad := structured.BadInput("adapter %q: expected lora:R or lora:R:ALPHA, with a rank R of at least 1 and ALPHA "+
		"above 0, such as lora:8", text)
	parts := strings.Split(text, ":")
	if parts[0] != "lora" || len(parts) < 2 || len(parts) > 3 {
		return Adapter{}, bad
	}
	rank, err := strconv.Atoi(parts[1])
	if err != nil || rank < 1 {
		return Adapter{}, bad
	}
	a := Adapter{rank, 2 * float64(rank)}
	if len(parts) == 3 {
		if a.Alpha, err = strconv.ParseFloat(parts[2], 64); err != nil || !(a.Alpha > 0) || math.IsInf(a.Alpha, 0) {
			return Adapter{}, bad
		}
	}
	return a, nil
}

// String returns what ParseAdapter reads.
func (a Adapter) String() string {
	if a.Rank == 0 {
		return ""
	}
	return "lora:" + strconv.Itoa(a.Rank) + ":" + strconv.FormatFloat(a.Alpha, 'g', -1, 64)
}

func (a Adapter) scale() float32 { return float32(a.Alpha / float64(a.Rank)) }

// The names of A and B, behind that of the layer.
const (
	adapterIn  = ".adapter.a"
	adapterOut = ".adapter.b"
)

// Adapted reports whether adapters are trained, and not the encoder's weights.
func (t *Tuned) Adapted() bool { return t.Adapter.Rank > 0 }

// chooseAdapters lists the adapters of the layers above the frozen ones.
func (t *Tuned) chooseAdapters() error {
	t.first, t.adapted = map[string]int{}, map[string]bool{}
	for i := t.Frozen; i < t.Read.To; i++ {
		for _, name := range t.family.adapted {
			name := layer(name, i)
			w, _ := t.Encoder.layout.Find(name + ".weight")
			out, in := w.Shape[0], w.Shape[1]
			if r := t.Adapter.Rank; r > min(out, in) {
				return structured.BadInput("adapters of rank %d are no smaller than the weights %s [%d×%d] of the encoder %s; "+
					"expected a rank of at most %d", r, name, out, in, t.dir, min(out, in))
			}
			t.adapted[name], t.first[name+adapterIn], t.first[name+adapterOut] = true, i+1, i+1
			t.params = append(t.params,
				graph.Param{Name: Prefix + name + adapterIn, Shape: []int{t.Adapter.Rank, in},
					Init: graph.Gaussian(1 / math.Sqrt(float64(in)))},
				graph.Param{Name: Prefix + name + adapterOut, Shape: []int{out, t.Adapter.Rank}})
		}
	}
	var err error
	t.layout, err = graph.NewLayout(t.named())
	return err
}

// low is (α/r)·x·Aᵀ·Bᵀ.
func (b *building) low(x *gorgonia.Node, name string) *gorgonia.Node {
	times := func(x *gorgonia.Node, w string) *gorgonia.Node {
		return node(gorgonia.Mul(x, node(gorgonia.Transpose(b.Param(name+w), 1, 0))))
	}
	y := times(x, adapterIn)
	by := gorgonia.NewConstant(b.adapter.scale())
	if y.Dtype() == tensor.Float64 {
		by = gorgonia.NewConstant(float64(b.adapter.scale()))
	}
	return times(node(gorgonia.HadamardProd(y, by)), adapterOut)
}

// Merged returns the weights of the encoder [Encoder.Layout] as w, those of Params, make them: trained ones in place of
// those that it came with, and W + (α/r) B·A where there are adapters.
func (t *Tuned) Merged(w []float32) []float32 {
	all := slices.Clone(t.Encoder.w)
	for _, a := range t.Encoder.layout {
		name, isWeight := strings.CutSuffix(a.Name, ".weight")
		switch own, ok := t.layout.Find(a.Name); {
		case ok:
			copy(a.Of(all), own.Of(w))
		case isWeight && t.adapted[name]:
			in, _ := t.layout.Find(name + adapterIn)
			out, _ := t.layout.Find(name + adapterOut)
			scaled := slices.Clone(out.Of(w))
			for i := range scaled {
				scaled[i] *= t.Adapter.scale()
			}
			kernels.CurrentBLAS().Sgemm(false, false, a.Shape[0], a.Shape[1], t.Adapter.Rank, scaled, in.Of(w), 1, a.Of(all))
		}
	}
	return all
}
