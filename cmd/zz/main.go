package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/nets"
	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/oracles"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/methods"
	"github.com/dsp-go/dsp/train/methods/quasinewton"
)

func cpu() float64 {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

func main() {
	file := flag.String("file", "/tmp/rows/wnut17/train.task.npz", "")
	prof := flag.String("prof", "", "")
	method := flag.String("m", "lbfgs", "")
	loss := flag.String("loss", "crf", "")
	ρ := flag.Float64("rho", 0.1, "")
	c := flag.Float64("reg", 1, "")
	store := flag.Int("store", 6, "")
	passes := flag.Int("passes", 60, "")
	gap := flag.Float64("gap", 1e-3, "")
	every := flag.Int("every", 5, "")
	none := flag.Bool("none", false, "")
	f0 := flag.Float64("best", 0, "")
	flag.Parse()
	fl, _ := os.Open(*file)
	edges := nets.EdgesTransition
	if *none {
		edges = nets.EdgesNone
	}
	d, err := arrays.Dense{}.Read(fl, "x")
	if err != nil {
		panic(err)
	}
	net, err := nets.Make(nets.Config{Edges: edges, Net: "linear"}, graph.Input{Dim: d.Dim}, nets.ChainOutput(d.Alphabet.Len(), edges))
	if err != nil {
		panic(err)
	}
	ls, _ := engine.ParseLoss(*loss)
	o := &engine.Objective{Scorer: net, Data: d, Loss: ls, Lambda: *c / float64(d.Len())}
	e := engine.NewEngine(o, 1)
	if *prof != "" {
		f, _ := os.Create(*prof)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	p := &train.Problem{Engine: e, Seed: 1}
	if ls == engine.Hinge {
		p.Smoothing.Kind = oracles.Entropy
	}
	s := &train.State{W: make([]float32, net.Dim())}
	var m train.Method
	switch *method {
	case "lbfgs":
		m = &quasinewton.LBFGS{Plain: *ρ == 0, Store: *store}
	case "svrg":
		m = &methods.SVRG{}
	case "casimir":
		m = &methods.Casimir{}
	}
	ctx := context.Background()
	t0, c0 := time.Now(), cpu()
	if err := m.Start(ctx, p, s); err != nil {
		panic(err)
	}
	fmt.Printf("%d tokens %d labels; start wall %.2f cpu %.2f calls %d\n", d.Positions(), d.Alphabet.Len(), time.Since(t0).Seconds(), cpu()-c0, s.OracleCalls/d.Len())
	var marks []string
	marksAt := []float64{0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4}
	k := 0
	for i := 1; i <= *passes && !s.Done; i++ {
		if err := m.Pass(ctx, p, s); err != nil {
			panic(err)
		}
		rel := s.Gap() / s.Primal
		sub := ""
		if *f0 > 0 {
			sub = fmt.Sprintf(" above best %.5f", s.Primal/ *f0-1)
		}
		if i%*every == 0 {
			fmt.Printf("pass %d calls %d full %d cpu %.2f F %.7f gap %.5f%s\n", i, s.OracleCalls/d.Len(), s.FullPasses, cpu()-c0, s.Primal, rel, sub)
		}
		for k < len(marksAt) && rel <= marksAt[k] {
			marks = append(marks, strconv.FormatFloat(marksAt[k], 'g', -1, 64)+fmt.Sprintf(":%d(%.1fs)", s.OracleCalls/d.Len()+s.FullPasses, cpu()-c0))
			k++
		}
		if rel <= *gap {
			break
		}
	}
	fmt.Printf("F %.8f dual %.8f passes %d calls %d cpu %.2f  certified %s\n", s.Primal, s.Dual, s.Passes, s.OracleCalls/d.Len(), cpu()-c0, strings.Join(marks, " "))
}
