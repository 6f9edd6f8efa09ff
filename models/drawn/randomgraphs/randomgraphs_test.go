package randomgraphs

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/graphs"
)

// Graphs have their shape, the same seed draws the same ones, and a graph does not depend on how many there are.
func TestShapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := DefaultOptions()
		o.Train, o.Dev, o.Test = 3, 1, 0
		o.Seed, o.Classes = rapid.Uint64().Draw(t, "seed"), rapid.IntRange(2, mostClasses).Draw(t, "classes")
		o.Shape = Shape(rapid.IntRange(0, 2).Draw(t, "shape"))
		train, dev, test, err := o.Draw()
		if err != nil || train.Len() != 3 || dev.Len() != 1 || test != nil {
			t.Fatalf("%v: %v, %v, %v", err, train, dev, test)
		}
		again, _, _, _ := o.Draw()
		if !reflect.DeepEqual(train, again) {
			t.Fatal("the same seed draws other graphs")
		}
		o.Train = 1
		one, _, _, _ := o.Draw()
		if n := one.Positions(); !reflect.DeepEqual(one.Features, train.Features[:n*o.Classes]) ||
			!reflect.DeepEqual(one.Graphs[0], train.Graphs[0]) {
			t.Fatal("a graph depends on how many there are")
		}
		for i, g := range train.Graphs {
			n, seen := train.Length(i), map[[2]int32]bool{}
			for _, e := range g.Ends {
				if e[0] >= e[1] || int(e[1]) >= n || seen[e] {
					t.Fatalf("edge %v of %d variables", e, n)
				}
				seen[e] = true
			}
			if forest := graphs.IsForest(g, n); o.Shape == Tree && (!forest || len(g.Ends) != n-1) || o.Shape == Grid && forest {
				t.Fatalf("%s with %d variables and %d edges", o.Shape, n, len(g.Ends))
			}
		}
	})
}

// Without noise, features tell labels and relations.
func TestFeaturesTellLabels(t *testing.T) {
	o := DefaultOptions()
	o.Difficulty, o.Classes, o.Shape = 0, 4, Grid
	d, _, _, err := o.Draw()
	if err != nil {
		t.Fatal(err)
	}
	edges := d.Table(graphs.EdgeRows)
	counts := [relations]int{}
	for i, g := range d.Graphs {
		labels := d.Labels[d.Offsets[i]:d.Offsets[i+1]]
		for v, l := range labels {
			if d.Features[(d.Offsets[i]+v)*4+int(l)] != 1 {
				t.Fatalf("graph %d: the features of variable %d do not tell its label", i, v)
			}
		}
		for e, ends := range g.Ends {
			is := relation(labels[ends[0]], labels[ends[1]], 4)
			counts[is]++
			if int(g.Types[e]) != is || edges.Features[(edges.Offsets[i]+e)*relations+is] != 1 {
				t.Fatalf("graph %d: the features of edge %d do not tell the relation", i, e)
			}
		}
	}
	if counts[0] < counts[1] || counts[1] < counts[2] || counts[2] == 0 {
		t.Errorf("relations occur %v times", counts)
	}
}

// What is written is what is drawn.
func TestWrite(t *testing.T) {
	dir, o := filepath.Join(t.TempDir(), "new"), DefaultOptions()
	o.Train, o.Dev, o.Test, o.Classes = 4, 0, 2, 3
	if err := Write(dir, o); err != nil {
		t.Fatal(err)
	}
	want, _, _, _ := o.Draw()
	f, err := os.Open(filepath.Join(dir, "train.npz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := arrays.Graphs{}.Read(f, want.Name)
	if err != nil || !reflect.DeepEqual(got.Graphs, want.Graphs) || !reflect.DeepEqual(got.Labels, want.Labels) ||
		!reflect.DeepEqual(got.Features, want.Features) ||
		!reflect.DeepEqual(got.Tables, want.Tables) {
		t.Errorf("%v: got %+v\nwant %+v", err, got, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "dev.npz")); !os.IsNotExist(err) {
		t.Errorf("dev.npz without graphs: %v", err)
	}
}

func TestBadOptions(t *testing.T) {
	for _, change := range []func(o *Options){
		func(o *Options) { o.Dev = -1 }, func(o *Options) { o.Classes = 1 }, func(o *Options) { o.Classes = mostClasses + 1 },
		func(o *Options) { o.Difficulty = -1 }, func(o *Options) { o.Difficulty = 6 },
	} {
		o := DefaultOptions()
		change(&o)
		if _, _, _, err := o.Draw(); !structured.IsBadInput(err) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
