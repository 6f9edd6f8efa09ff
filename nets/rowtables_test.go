package nets_test

import (
	"slices"
	"testing"

	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// The embedding tables of a net are its row tables, and a pullback reaches no other rows than those that RowsRead
// lists.
func TestPullbackStaysOnRowsRead(t *testing.T) {
	net, err := nets.New(nets.Config{Net: "embed", Embed: []int{3, 2}, Channels: []int{4}},
		graph.Input{Vocab: []int{9, 5}}, 3)
	if err != nil {
		t.Fatal(err)
	}
	tables := net.RowTables()
	want := []nets.RowTable{{Offset: 0, Rows: 9, Cols: 3}, {Offset: 27, Rows: 5, Cols: 2}}
	if !slices.Equal(tables, want) {
		t.Fatalf("row tables %v, expected %v", tables, want)
	}
	data := &structured.Dataset{Offsets: []int{0, 3, 5}, Ids: []int32{1, 0, 7, 4, 1, 2, 3, 3, 0, 0},
		Vocab: []*structured.Alphabet{{}, {}}, Labels: make([]int32, 5)}
	var batch structured.Batch
	batch.Reset(data, []int{0})
	worker := net.NewNetWorker()
	var θ structured.Potentials
	if err := worker.Score(net.Init(1), &batch, &θ); err != nil {
		t.Fatal(err)
	}
	var v structured.Marginals
	v.Resize(&batch, chains.Form(3, false))
	for k := range v.Parts {
		for i := range v.Parts[k].Values {
			v.Parts[k].Values[i] = float32(i%5) - 2
		}
	}
	grad := make([]float32, net.Dim())
	if err := worker.Pullback(&v, grad); err != nil {
		t.Fatal(err)
	}
	for k, touched := range [][]int32{{1, 7}, {0, 2, 4}} {
		rows := net.RowsRead(k, &batch, nil)
		slices.Sort(rows)
		if rows = slices.Compact(rows); !slices.Equal(rows, touched) {
			t.Errorf("table %d: rows %v touched, expected %v", k, rows, touched)
		}
		for r := range int32(tables[k].Rows) {
			at := tables[k].Offset + int(r)*tables[k].Cols
			zero := !slices.ContainsFunc(grad[at:at+tables[k].Cols], func(x float32) bool { return x != 0 })
			if zero == slices.Contains(rows, r) {
				t.Errorf("table %d, row %d: gradient zero: %v, touched: %v", k, r, zero, rows)
			}
		}
	}
}
