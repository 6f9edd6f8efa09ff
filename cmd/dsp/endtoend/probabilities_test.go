package endtoend

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// spanJSON is an entity as predict writes it.
type spanJSON struct {
	Type        string
	First, Last int
	Start, End  *int
	Text        string
	Probability float64
}

// answerJSON is what predict writes of a sequence.
type answerJSON struct {
	Labels []string
	Nbest  []struct {
		Labels      []string
		Probability float64
	}
	Spans       []spanJSON
	Probability float64
	Confidence  []float64
	Calibrated  *bool
}

// withSpan reports whether B-X I-X* at exactly these positions is in the labels, by the rules of conlleval: an I-X
// after O starts an entity.
func withSpan(labels []string, first, last int) bool {
	if labels[first] == "O" || first > 0 && labels[first] == "I-X" && labels[first-1] != "O" {
		return false
	}
	for t := first + 1; t <= last; t++ {
		if labels[t] != "I-X" {
			return false
		}
	}
	return last+1 == len(labels) || labels[last+1] != "I-X"
}

// The probability of an entity is the sum over all outputs that have it.
func TestSpanProbabilities(t *testing.T) {
	t.Parallel()
	var a answerJSON
	dspWith(t, "the\nred\nfox\nruns\n", "predict", "--model", attributeTagger(t), "--spans", "--min-probability", "0.0001", "--nbest", "81", "--json").ok().json(&a)
	if len(a.Nbest) != 81 || len(a.Spans) < 5 {
		t.Fatalf("%d outputs, spans %+v", len(a.Nbest), a.Spans)
	}
	for _, s := range a.Spans {
		want := 0.0
		for _, o := range a.Nbest {
			if withSpan(o.Labels, s.First, s.Last) {
				want += o.Probability
			}
		}
		if math.Abs(s.Probability-want) > 1e-5 || s.Type != "X" || s.Start != nil {
			t.Errorf("%+v, expected %v", s, want)
		}
	}
	var best answerJSON
	dspWith(t, "the\nred\nfox\nruns\n", "predict", "--model", attributeTagger(t), "--spans", "--json").ok().json(&best)
	if len(best.Spans) != 1 || best.Spans[0].Text != "red fox" || best.Spans[0].First != 1 || best.Spans[0].Last != 2 || best.Calibrated != nil {
		t.Errorf("%+v", best)
	}
	o := dspWith(t, "the\nred\nfox\n\nruns\n", "predict", "--model", attributeTagger(t), "--spans").ok()
	lines := strings.Split(o.stdout, "\n")
	if len(lines) != 6 || lines[0] != "# 0" || !strings.HasPrefix(lines[1], "X\t1\t2\t_\t_\t0.") || !strings.HasSuffix(lines[1], "\tred fox") || lines[3] != "# 1" {
		t.Errorf("%q", o.stdout)
	}
}

// Entities of CoNLL-U come with their place in the text.
func TestSpanOffsets(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, sentence := range []string{"Zoë’s\tO red\tB-X foxes\tI-X run\tO .\tO", "A\tO fox\tB-X runs\tO .\tO"} {
		words, text := strings.Fields(strings.ReplaceAll(sentence, "\t", "|")), ""
		var lines strings.Builder
		for k, w := range words {
			word, tag, _ := strings.Cut(w, "|")
			text += word + " "
			fmt.Fprintf(&lines, "%d\t%s\t_\tX\t_\t_\t_\t_\t_\tNER=%s\n", k+1, word, tag)
		}
		fmt.Fprintf(&b, "# text = %s\n%s\n", strings.Replace(text, " . ", ".", 1), lines.String())
	}
	file, run := write(t, "a.conllu", strings.Repeat(b.String(), 5)), filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", file, "--label", "misc:NER", "--out", run, "--quiet").ok()
	o := dsp(t, "predict", "--model", run, "--input", file, "--spans").ok()
	if !strings.Contains(o.stdout, "\nX\t1\t2\t6\t15\t") || !strings.Contains(o.stdout, "\tred foxes\n") || !strings.Contains(o.stdout, "\nX\t1\t1\t2\t5\t") {
		t.Error(o.stdout)
	}
	var a answerJSON
	dsp(t, "predict", "--model", run, "--input", file, "--spans", "--json").ok().json(&a)
	if len(a.Spans) != 1 || a.Spans[0].Start == nil || *a.Spans[0].Start != 2 || *a.Spans[0].End != 5 || a.Spans[0].Text != "fox" {
		t.Errorf("%+v", a.Spans)
	}
}

func TestSpansRefused(t *testing.T) {
	t.Parallel()
	text := write(t, "a.conll", "the\n")
	model := attributeTagger(t)
	dsp(t, "predict", "--model", model, "--input", text, "--min-probability", "0.5").refused(exitBadInput, "--min-probability 0.5 is for --spans")
	dsp(t, "predict", "--model", model, "--input", text, "--spans", "--min-probability", "0").refused(exitBadInput, "more than 0")
	dsp(t, "predict", "--model", model, "--input", text, "--spans", "--min-probability", "NaN").refused(exitBadInput, "more than 0")
	dsp(t, "predict", "--model", model, "--input", text, "--spans", "--confidence").refused(exitBadInput, "--confidence", "--json")
	dsp(t, "predict", "--model", model, "--input", text, "--spans", "--picture", "a.png").refused(exitBadInput, "--spans has no effect with --picture")
	dsp(t, "predict", "--model", reader(t), "--input", "builtin", "--spans").refused(exitBadInput, "not entity tags", "a, b, c")
	dsp(t, "predict", "--model", parser(t), "--input", filepath.Join(drawnTrees(t), "test.conllu"), "--spans").refused(exitBadInput, "--task parse predicts trees")
	dsp(t, "predict", "--model", aligner(t), "--input", filepath.Join(drawnPairs(t), "test.pairs"), "--spans").refused(exitBadInput, "--task align predicts links")
}

// calibratedJSON is what calibrate prints.
type calibratedJSON struct {
	Model       string
	Temperature float64
	Count       int
	Before      float64 `json:"nll_before"`
	After       float64 `json:"nll_after"`
	ECEBefore   float64 `json:"ece_before"`
	ECEAfter    float64 `json:"ece_after"`
	Units       string
}

// A model trained by margins says that its probabilities are uncalibrated, until calibrate fits them; its labels stay
// the same.
func TestCalibrate(t *testing.T) {
	t.Parallel()
	run, dir := reader(t), t.TempDir()
	copied := filepath.Join(dir, "copy.safetensors")
	source, err := os.ReadFile(filepath.Join(run, "model.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	o := dsp(t, "predict", "--model", run, "--input", "builtin", "--confidence", "--json").ok()
	if !strings.Contains(o.stderr, "uncalibrated") {
		t.Errorf("no warning: %s", o.stderr)
	}
	var before, after answerJSON
	o.json(&before)
	if before.Calibrated == nil || *before.Calibrated {
		t.Errorf("%+v", before)
	}
	if o := dsp(t, "predict", "--model", run, "--input", "builtin"); o.stderr != "" {
		t.Errorf("a warning where nobody asked for probabilities: %s", o.stderr)
	}
	for _, likelihood := range []string{"sequences", "tokens"} {
		var r calibratedJSON
		dsp(t, "calibrate", "--model", run, "--dev", "builtin", "--out", copied, "--likelihood", likelihood, "--json").ok().json(&r)
		if r.Model != copied || r.After >= r.Before || r.ECEAfter >= r.ECEBefore || r.Units != "letters" || r.Count == 0 || r.Temperature == 1 {
			t.Errorf("%s: %+v", likelihood, r)
		}
		o = dsp(t, "predict", "--model", copied, "--input", "builtin", "--confidence", "--json").ok()
		o.json(&after)
		if o.stderr != "" || after.Calibrated != nil || after.Confidence[0] == before.Confidence[0] || !slices.Equal(after.Labels, before.Labels) {
			t.Errorf("%s: %+v, before %+v, %s", likelihood, after, before, o.stderr)
		}
	}
	if now, err := os.ReadFile(filepath.Join(run, "model.safetensors")); err != nil || !bytes.Equal(now, source) {
		t.Errorf("--out changed the model itself: %v", err)
	}
	var info struct {
		Temperature float64
		Calibrated  bool
	}
	dsp(t, "info", copied, "--json").ok().json(&info)
	if info.Temperature == 1 || !info.Calibrated {
		t.Errorf("%+v", info)
	}
	if o := dsp(t, "info", run).ok(); !strings.Contains(o.stdout, "temperature 1; probabilities are uncalibrated") {
		t.Error(o.stdout)
	}
	// In place, a second fit finds the same temperature.
	var second calibratedJSON
	dsp(t, "calibrate", "--model", copied, "--dev", "builtin", "--json").ok().json(&second)
	if second.Model != copied || second.Temperature != info.Temperature || math.Abs(second.Before-second.After) > 1e-12 {
		t.Errorf("%+v after %+v", second, info)
	}
}

// What calibrate says is what eval says of the model that it stored, however improbable some gold labels are; better is
// better.
func TestCalibrateAndEvalAgree(t *testing.T) {
	t.Parallel()
	train := write(t, "train.cs", "A\ta\n\nB\tb\n")
	run, stored := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "stored.safetensors")
	dsp(t, "train", "--train", train, "--format", "crfsuite", "--loss", "hinge", "--reg", "0.01", "--quiet", "--out", run).ok()
	for _, x := range []struct{ value, says string }{{"1000", "the model was too sure"}, {"100000", "do not bound the temperature"}} {
		dev := write(t, "dev.cs", strings.Repeat("A\ta:3\n\nB\tb:3\n\n", 500)+"A\tb:"+x.value+"\n")
		for _, likelihood := range []string{"tokens", "sequences"} {
			var r calibratedJSON
			o := dsp(t, "calibrate", "--model", run, "--dev", dev, "--format", "crfsuite", "--out", stored, "--likelihood", likelihood, "--json").ok()
			o.json(&r)
			text := dsp(t, "calibrate", "--model", run, "--dev", dev, "--format", "crfsuite", "--out", stored, "--likelihood", likelihood).ok()
			if all := text.stdout + text.stderr; !strings.Contains(all, x.says) || strings.Contains(all, "not sure enough") {
				t.Errorf("%s, %s: %s", x.value, likelihood, all)
			}
			for model, want := range map[string]float64{run: r.Before, stored: r.After} {
				var e struct {
					Likelihood struct {
						NLL    float64
						Tokens float64 `json:"nll_tokens"`
						Count  int     `json:"tokens"`
					}
				}
				dsp(t, "eval", "--model", model, "--data", dev, "--format", "crfsuite", "--nll", "--json").ok().json(&e)
				if l := e.Likelihood; math.Abs(l.NLL-want) > 1e-6*want || math.Abs(l.Tokens-want) > 1e-6*want || l.Count != 1001 {
					t.Errorf("%s, %s: calibrate %+v, eval %+v", x.value, likelihood, r, l)
				}
			}
		}
	}
}

// Trees and boxes are calibrated too; what has no sums is refused.
func TestCalibrateOthers(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"arcs":  {"--model", parser(t), "--dev", filepath.Join(drawnTrees(t), "dev.conllu")},
		"boxes": {"--model", locator(t), "--dev", filepath.Join(drawnObjects(t), "test.json")},
	} {
		var r calibratedJSON
		dsp(t, append(append([]string{"calibrate", "--json", "--out", filepath.Join(t.TempDir(), "m.safetensors")}, args...), "--quiet")...).ok().json(&r)
		if r.Units != name || r.After > r.Before || !(r.Temperature > 0) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	dsp(t, "calibrate", "--model", aligner(t), "--dev", filepath.Join(drawnPairs(t), "dev.pairs")).refused(exitBadInput, "a matching does not have them")
	dsp(t, "calibrate", "--model", finder(t), "--dev", filepath.Join(drawnObjects(t), "test.json")).refused(exitBadInput, "does not have them")
	dsp(t, "calibrate", "--model", reader(t)).refused(exitBadInput, "--dev")
	dsp(t, "calibrate", "--model", reader(t), "--dev", "builtin", "--likelihood", "words").refused(exitBadInput, "--likelihood", "words", "entities")
	dsp(t, "calibrate", "--model", reader(t), "--dev", "builtin", "--likelihood", "entities").refused(exitBadInput, "no entities")
}

// errorJSON is a wrong example of eval.
type errorJSON struct {
	ID                             string
	Where                          string
	Value, Probability, Confidence *float64
	Wrong                          int
	Parts                          []struct {
		Kind, Text, Gold, Predicted string
		First, Last                 int
		Confidence                  *float64
	}
}

type reviewJSON struct {
	metricsJSON
	Errors      []errorJSON
	Calibration struct {
		ECE      float64
		Count    int
		Bins     []struct{ Count int }
		Entities *struct{ Count int }
	}
	Curve struct {
		Units             string
		Precision, Recall float64
		Best              struct{ F1 float64 } `json:"best_f1"`
	} `json:"pr_curve"`
}

// The worst mistakes come first, and the numbers agree with the report and with predict.
func TestEvalReview(t *testing.T) {
	t.Parallel()
	dir, model := t.TempDir(), attributeTagger(t)
	gold := write(t, "gold.conll", "the\tO\nred\tB-X\nfox\tI-X\n\nred\tO\nfox\tO\nruns\tO\n\na\tB-X\nfox\tB-X\n\nruns\tO\n")
	curve, picture := filepath.Join(dir, "pr.csv"), filepath.Join(dir, "reliability.svg")
	var r reviewJSON
	dsp(t, "eval", "--model", model, "--data", gold, "--errors", "5", "--pr-curve", curve, "--calibration", picture, "--json").ok().json(&r)
	if len(r.Errors) != 2 || r.Calibration.Count != 9 || r.Curve.Units != "entities" || r.Calibration.Entities == nil || r.Tokens != 9 {
		t.Fatalf("%+v", r)
	}
	if *r.Errors[0].Confidence < *r.Errors[1].Confidence || r.Errors[0].Parts[0].Kind != "entity" || !strings.Contains(r.Errors[0].Where, "gold.conll:") {
		t.Errorf("%+v", r.Errors)
	}
	var spans answerJSON
	dspWith(t, "red\nfox\nruns\n", "predict", "--model", model, "--spans", "--json").ok().json(&spans)
	k := slices.IndexFunc(r.Errors, func(e errorJSON) bool { return e.ID == "1" })
	if k < 0 || len(spans.Spans) != 1 || r.Errors[k].Parts[0].Predicted != "X" || math.Abs(*r.Errors[k].Parts[0].Confidence-spans.Spans[0].Probability) > 1e-9 || r.Errors[k].Parts[0].Text != spans.Spans[0].Text {
		t.Errorf("%+v, predict says %+v", r.Errors, spans)
	}
	lines := strings.Split(strings.TrimSpace(readFile(t, curve)), "\n")
	if lines[0] != "threshold,precision,recall,f1,predicted,right,gold" || len(lines) < 4 {
		t.Errorf("%q", lines)
	}
	before := math.Inf(1)
	for _, line := range lines[1:] {
		var threshold, precision, recall, f1 float64
		var predicted, right, all int
		if n, err := fmt.Sscanf(line, "%f,%f,%f,%f,%d,%d,%d", &threshold, &precision, &recall, &f1, &predicted, &right, &all); n != 7 || threshold >= before || all != 3 ||
			math.Abs(precision-float64(right)/float64(predicted)) > 1e-5 || math.Abs(recall-float64(right)/3) > 1e-5 {
			t.Errorf("%q: %v", line, err)
		}
		before = threshold
	}
	if !strings.HasPrefix(readFile(t, picture), "<?xml") {
		t.Error("no svg")
	}
	o := dsp(t, "eval", "--model", model, "--data", gold, "--errors=1").ok()
	if !strings.Contains(o.stdout, "2 of 4 outputs are wrong") || strings.Count(o.stdout, "probability of the output") != 1 {
		t.Error(o.stdout)
	}
	for flags, want := range map[string]string{
		"--errors 0": "1 or more", "--errors=x": "1 or more", "--errors 3 4": "takes flags only", "--pr-curve a.jpg": ".png, .svg", "--errors --strict": "--strict",
	} {
		dsp(t, append([]string{"eval", "--model", model, "--data", gold}, strings.Fields(flags)...)...).refused(exitBadInput, want)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every task lists its errors; those with probabilities have curves and reliability.
func TestEvalReviewOfTasks(t *testing.T) {
	t.Parallel()
	curve := filepath.Join(t.TempDir(), "pr.csv")
	for units, args := range map[string][]string{
		"letters": {"--model", reader(t), "--data", "builtin", "--calibration", filepath.Join(t.TempDir(), "c.png")},
		"arcs":    {"--model", parser(t), "--data", filepath.Join(drawnTrees(t), "test.conllu"), "--calibration", filepath.Join(t.TempDir(), "c.csv")},
		"boxes":   {"--model", locator(t), "--data", filepath.Join(drawnObjects(t), "test.json"), "--calibration", filepath.Join(t.TempDir(), "c.svg")},
		"links":   {"--model", aligner(t), "--data", filepath.Join(drawnPairs(t), "test.pairs")},
	} {
		var r reviewJSON
		dsp(t, append([]string{"eval", "--errors", "--pr-curve", curve, "--json"}, args...)...).ok().json(&r)
		if r.Curve.Units != units || len(r.Errors) == 0 || r.Curve.Best.F1 == 0 {
			t.Errorf("%s: %+v", units, r)
		}
		ranked := slices.IsSortedFunc(r.Errors, func(a, b errorJSON) int {
			if a.Value != nil {
				return cmp.Compare(*a.Value, *b.Value)
			}
			return cmp.Compare(*b.Confidence, *a.Confidence)
		})
		if !ranked || r.Errors[0].Wrong == 0 || len(r.Errors[0].Parts) == 0 {
			t.Errorf("%s: %+v", units, r.Errors)
		}
	}
	pairs := filepath.Join(drawnPairs(t), "test.pairs")
	dsp(t, "eval", "--model", aligner(t), "--data", pairs, "--calibration", "a.png").refused(exitBadInput, "--calibration needs probabilities", "matching")
	objects := filepath.Join(drawnObjects(t), "test.json")
	dsp(t, "eval", "--model", finder(t), "--data", objects, "--pr-curve", "a.png").refused(exitBadInput, "--pr-curve needs probabilities")
	if o := dsp(t, "eval", "--model", finder(t), "--data", objects, "--errors").ok(); !strings.Contains(o.stdout, "lowest IoU") && !strings.Contains(o.stdout, "none of") {
		t.Error(o.stdout)
	}
}
