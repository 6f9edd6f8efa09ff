//go:build unix

package transcript

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/transcripts"
)

var problems = flag.String("problems", "", "folder of lines with scores, for bench/ctc.py")

// With -problems it computes losses and gradients of lines for bench/ctc.py, and how long that takes: lines.json has
// width, lengths [n] and readings [n][L], scores.f32 the scores [ΣT×width]. It writes gradient.f32 [ΣT×width], and
// prints JSON.
func TestTimes(t *testing.T) {
	if *problems == "" {
		t.Skip("needs -problems FOLDER")
	}
	var in struct {
		Width    int
		Lengths  []int
		Readings [][]int32
	}
	text, err := os.ReadFile(filepath.Join(*problems, "lines.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &in); err != nil {
		t.Fatal(err)
	}
	scores, err := os.ReadFile(filepath.Join(*problems, "scores.f32"))
	if err != nil {
		t.Fatal(err)
	}
	offsets := []int{0}
	for _, n := range in.Lengths {
		offsets = append(offsets, offsets[len(offsets)-1]+n)
	}
	θ, conditioned := new(structured.Potentials), new(structured.Potentials)
	θ.Reshape(transcripts.Form(in.Width-1), offsets, func(string) []int { return offsets })
	for i := range θ.Parts[0].Values {
		θ.Parts[0].Values[i] = math.Float32frombits(binary.LittleEndian.Uint32(scores[4*i:]))
	}
	conditioned.Copy(θ)
	for b, reading := range in.Readings {
		transcripts.Frames{}.Restrict(conditioned, b, structured.Gold{Reading: append([]int32{}, reading...)})
	}
	o, n := New(), len(in.Lengths)
	all, gold := make([]float64, n), make([]float64, n)
	var u, v structured.Marginals
	var times []float64
	for range 15 {
		before := processorTime(t)
		o.Exp(θ, 1, all, &u)
		o.Exp(conditioned, 1, gold, &v)
		times = append(times, processorTime(t)-before)
	}
	slices.Sort(times)
	losses := make([]float64, n)
	for b := range losses {
		losses[b] = all[b] - gold[b]
		u.AddScaled(b, -1, &v, b)
	}
	var gradient []byte
	for _, x := range u.Parts[0].Values {
		gradient = binary.LittleEndian.AppendUint32(gradient, math.Float32bits(x))
	}
	if err := os.WriteFile(filepath.Join(*problems, "gradient.f32"), gradient, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"losses": losses,
		"seconds": times[len(times)/2]}); err != nil {
		t.Fatal(err)
	}
	fmt.Println()
}

// processorTime returns the seconds that the process has computed for.
func processorTime(t *testing.T) float64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return float64(r.Utime.Nano()) / 1e9
}
