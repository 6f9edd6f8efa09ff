package cudanets_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dsp-go/dsp/cuda/cudanets"
	"github.com/dsp-go/dsp/cuda/cudaoracles"
	"github.com/dsp-go/dsp/cuda/cudatest"
	"github.com/dsp-go/dsp/cuda/device"
	"github.com/dsp-go/dsp/cuda/resident"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// rig is a network on a device and on the CPU, with a batch that does not fill its capacities.
type rig struct {
	t      testing.TB
	device *device.Device
	net    *nets.Net
	data   *structured.Dataset
	batch  *resident.Batch
	θ      *cudaoracles.Chains
	blas   *device.BLAS
	rng    *rand.Rand
}

func newRig(t testing.TB, d *device.Device, net *nets.Net, data *structured.Dataset, rows int) *rig {
	longest := 0
	for i := range data.Len() {
		longest = max(longest, data.Length(i))
	}
	form := net.Form()
	y, perPosition := form.Parts[0].Width, form.Parts[1].Rows != structured.Tied
	edges := y * y
	if perPosition {
		edges *= rows
	}
	batch := resident.NewBatch(resident.NewData(d, data), data.Len()+1, rows, longest)
	return &rig{t: t, device: d, net: net, data: data, batch: batch, blas: device.NewBLAS(d, false),
		rng: rand.New(rand.NewPCG(1, 2)),
		θ: &cudaoracles.Chains{B: batch.Chains, N: rows, Y: y, Longest: longest,
			Offsets: batch.Offsets, PerPosition: perPosition, Node: device.New[float32](d, rows*y, "nodes"),
			Edge: device.New[float32](d, edges, "edges")}}
}

// executor returns a new, reserved executor.
func (r *rig) executor() *cudanets.Executor {
	e := cudanets.NewExecutor(r.device, r.net, r.blas)
	cudatest.Must(r.t, e.Reserve(r.batch))
	return e
}

func (r *rig) upload(xs []float32) device.Array[float32] {
	x := device.New[float32](r.device, len(xs), "numbers")
	device.Upload(r.device, x, xs)
	return x
}

func (r *rig) download(x device.Array[float32]) []float32 {
	to := make([]float32, x.Len())
	device.Download(r.device, to, x)
	cudatest.Must(r.t, r.device.Err())
	return to
}

// potentials returns θ without padding rows.
func (r *rig) potentials() (node, edge []float32) {
	node, edge = r.download(r.θ.Node)[:r.batch.N*r.θ.Y], r.download(r.θ.Edge)
	if r.θ.PerPosition {
		edge = edge[:r.batch.N*r.θ.Y*r.θ.Y]
	}
	return node, edge
}

// cotangent draws v for a batch on the CPU, and uploads it in the layout that Pullback expects.
func (r *rig) cotangent(batch *structured.Batch) (all *structured.Marginals, node, edge device.Array[float32]) {
	all = new(structured.Marginals)
	all.Resize(batch, r.net.Form())
	v, y := chains.In(all), r.θ.Y
	copy(v.Node, cudatest.Vector(r.rng, len(v.Node), 1))
	copy(v.Edge, cudatest.Vector(r.rng, len(v.Edge), 1))
	edges := make([]float32, r.θ.Edge.Len())
	if v.PerPosition {
		for b := range v.Len() {
			if t := v.Offsets[b]; t < v.Offsets[b+1] {
				clear(v.Edge[t*y*y : (t+1)*y*y])
			}
		}
		copy(edges, v.Edge)
	} else {
		for i, x := range v.Edge {
			edges[i%(y*y)] += x
		}
	}
	nodes := make([]float32, r.θ.Node.Len())
	copy(nodes, v.Node)
	return all, r.upload(nodes), r.upload(edges)
}

func count(xs []float32) (n int) {
	for _, x := range xs {
		if x != 0 {
			n++
		}
	}
	return n
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
