package endtoend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// askedJSON is what predict says of a sequence's distribution.
type askedJSON struct {
	Labels  []string
	Entropy float64
	Samples [][]string
	Nbest   []struct {
		Labels      []string
		Probability float64
	}
}

// Entropies are those of all outputs, and stand in a line before columns. Samples depend on the seed and on where a
// sentence is in its file, and on nothing else.
func TestQuestionsOfPredict(t *testing.T) {
	t.Parallel()
	model := attributeTagger(t)
	var a askedJSON
	dspWith(t, "the\nred\nfox\nruns\n", "predict", "--model", model, "--entropy", "--nbest", "81", "--samples", "400", "--seed", "3", "--json").ok().json(&a)
	entropy, p := 0.0, map[string]float64{}
	for _, o := range a.Nbest {
		entropy -= o.Probability * math.Log(o.Probability)
		p[fmt.Sprint(o.Labels)] = o.Probability
	}
	if len(a.Nbest) != 81 || math.Abs(a.Entropy-entropy) > 1e-4 {
		t.Errorf("entropy %v, that of %d outputs is %v", a.Entropy, len(a.Nbest), entropy)
	}
	n := 0.0
	for _, y := range a.Samples {
		if fmt.Sprint(y) == fmt.Sprint(a.Labels) {
			n++
		}
	}
	if q := p[fmt.Sprint(a.Labels)]; len(a.Samples) != 400 || math.Abs(n/400-q) > math.Sqrt(math.Log(2e9)/800) { // Hoeffding: fails once in 1e9
		t.Errorf("%d samples, a share of %v is the best output of probability %v", len(a.Samples), n/400, q)
	}
	text := strings.Repeat("the\nred\nfox\nruns\n\nthe\nfox\n\n", 200)
	path := write(t, "many.conll", text)
	one := dsp(t, "predict", "--model", model, "--input", path, "--samples", "3", "--temperature", "0.8", "--json", "--threads", "1").ok().stdout
	if two := dspWith(t, text, "predict", "--model", model, "--samples", "3", "--temperature", "0.8", "--json", "--threads", "2").ok().stdout; one != two {
		t.Error("two threads draw other samples")
	}
	if other := dsp(t, "predict", "--model", model, "--input", path, "--samples", "3", "--temperature", "0.8", "--seed", "1", "--json").ok().stdout; one == other {
		t.Error("another seed draws the same samples")
	}
	dspWith(t, text, "predict", "--model", model, "--select", "1", "--input", "/dev/stdin").refused(exitBadInput, "/dev/stdin")
	dsp(t, "predict", "--model", model, "--input", path, "--samples", "1000000000", "--json").refused(exitBadInput, "--samples 1000000000")
	lines := strings.Split(dspWith(t, "the\nred\n\nfox\n", "predict", "--model", model, "--entropy").ok().stdout, "\n")
	if len(lines) != 7 || !strings.HasPrefix(lines[0], "# entropy ") || !strings.HasPrefix(lines[4], "# entropy ") {
		t.Errorf("%q", lines)
	}
}

// The examples that are most worth labelling are those of which the model is least sure, as they stand in the file.
func TestSelect(t *testing.T) {
	t.Parallel()
	model := attributeTagger(t)
	sentences := []string{"the\tq", "red\tq\nfox\tq", "the\tq\nred\tq\nfox\tq\nruns\tq", "zebra\tq\nzebra\tq\nzebra\tq\nzebra\tq\nzebra\tq", "runs\tq"}
	path := write(t, "pool.conll", "\n"+strings.Join(sentences, "\n\n\n")+"\n")
	for _, by := range []string{"entropy", "margin", "probability"} {
		var first struct {
			Example, Line int
			Measure       float64
		}
		all := dsp(t, "predict", "--model", model, "--input", path, "--columns", "word=0", "--select", "9", "--by", by, "--json").ok()
		lines := strings.Split(strings.TrimSpace(all.stdout), "\n")
		outcome{t, nil, 0, lines[0], ""}.json(&first)
		if len(lines) != len(sentences) || first.Example != 3 || first.Line != 15 || !(first.Measure >= 0) {
			t.Errorf("%s: %+v\n%s", by, first, all.stdout)
		}
		if got := dsp(t, "predict", "--model", model, "--input", path, "--columns", "word=0", "--select", "1", "--by", by).ok().stdout; got != sentences[3]+"\n\n" {
			t.Errorf("%s: %q", by, got)
		}
	}
	var with struct{ Measure, Entropy float64 }
	dsp(t, "predict", "--model", model, "--input", path, "--columns", "word=0", "--select", "1", "--by", "entropy", "--entropy", "--json").ok().json(&with)
	if !(with.Entropy > 0) || with.Entropy != with.Measure {
		t.Errorf("%+v", with)
	}
	dsp(t, "predict", "--model", model, "--input", path, "--columns", "word=0", "--select", "1", "--entropy").refused(exitBadInput, "add --json for their entropies")
	dspWith(t, "the\n", "predict", "--model", model, "--select", "1").refused(exitBadInput, "-: examples are copied from a single file of text")
}

// Log-probabilities, entropies of errors and divergences are in reports, and a model is no divergence from itself.
func TestQuestionsOfEval(t *testing.T) {
	t.Parallel()
	model := attributeTagger(t)
	data := write(t, "test.conll", "the O\nred B-X\nfox I-X\n\nruns O\nfox O\n\nthe Z\n")
	var r struct {
		Likelihood struct {
			NLL                  float64
			Examples, Impossible int
		}
		Against struct {
			Divergence struct {
				Entropy, KL float64
				Examples    int
			}
		}
		Errors []struct{ Entropy float64 }
	}
	dsp(t, "eval", "--model", model, "--data", data, "--nll", "--against", model, "--kl", "--errors", "9", "--json").ok().json(&r)
	if r.Likelihood.Examples != 2 || r.Likelihood.Impossible != 1 || !(r.Likelihood.NLL > 0) {
		t.Errorf("%+v", r.Likelihood)
	}
	if v := r.Against.Divergence; v.KL != 0 || !(v.Entropy > 0) || v.Examples != 3 {
		t.Errorf("%+v", v)
	}
	if len(r.Errors) == 0 || !(r.Errors[0].Entropy > 0) {
		t.Errorf("%+v", r.Errors)
	}
	dsp(t, "eval", "--model", model, "--data", data, "--kl").refused(exitBadInput, "add --against MODEL")
}

// Entities are chosen by their probabilities: over the whole input, or as it arrives with a threshold.
func TestDecodeF1(t *testing.T) {
	t.Parallel()
	model, text := attributeTagger(t), "the\nred\nfox\nruns\n\nred\nfox\n\n"
	o := dspWith(t, text, "predict", "--model", model, "--decode", "f1", "--spans").ok()
	said := regexp.MustCompile(`expected_f1=([0-9.]+) threshold=([0-9.]+)`).FindStringSubmatch(o.stderr)
	if said == nil {
		t.Fatal(o.stderr)
	}
	f1, _ := strconv.ParseFloat(said[1], 64)
	if threshold, _ := strconv.ParseFloat(said[2], 64); !(f1 > 0 && f1 <= 1) || math.Abs(threshold-f1/2) > 1e-3 {
		t.Errorf("%v", said)
	}
	if again := dspWith(t, text, "predict", "--model", model, "--decode", "f1", "--threshold", said[2], "--spans").ok(); again.stdout != o.stdout || !strings.Contains(o.stdout, "X\t") {
		t.Errorf("with the threshold:\n%s\nwithout:\n%s", again.stdout, o.stdout)
	}
	if sure := dspWith(t, text, "predict", "--model", model, "--decode", "f1", "--threshold", "1", "--spans").ok(); strings.Contains(sure.stdout, "X\t") {
		t.Errorf("entities of probability 1: %s", sure.stdout)
	}
	dsp(t, "predict", "--model", model, "--threshold", "0.3").refused(exitBadInput, "--threshold 0.3 is for --decode f1")
	dsp(t, "eval", "--model", model, "--data", "x", "--decode", "f1", "--threshold", "2").refused(exitBadInput, "--threshold 2")
	dspWith(t, "The red fox.", "predict", "--model", model, "--text", "--decode", "f1").refused(exitBadInput, "--threshold")
	dsp(t, "eval", "--model", parser(t), "--data", filepath.Join(drawnTrees(t), "test.conllu"), "--decode", "f1").refused(exitBadInput, "--decode f1 chooses the entities of tagged sequences")
}

// Where training without a regulariser ends, expected counts are those observed; on other data they are not. The table
// has the largest differences first.
func TestExpectedCounts(t *testing.T) {
	t.Parallel()
	r, text := rand.New(rand.NewPCG(1, 2)), ""
	for range 30 {
		for range 1 + r.IntN(4) {
			text += fmt.Sprintf("w%d %s\n", r.IntN(3), []string{"A", "B", "C"}[r.IntN(3)])
		}
		text += "\n"
	}
	train, run := write(t, "train.conll", text), filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "tag", "--train", train, "--loss", "crf", "--method", "lbfgs", "--reg", "1e-7", "--gap", "1e-9", "--passes", "300", "--template", write(t, "t.tpl", "U:%x[0,0]\nB\n"), "--quiet", "--out", run).ok()
	counts := func(data string) (largest float64, rows [][]string) {
		to := filepath.Join(t.TempDir(), "counts.tsv")
		var got struct {
			Counts struct {
				Examples int
				Largest  float64 `json:"largest_difference"`
			} `json:"expected_counts"`
		}
		dsp(t, "eval", "--model", run, "--data", data, "--expected-counts", to, "--json").ok().json(&got)
		table, err := os.ReadFile(to)
		if err != nil || got.Counts.Examples == 0 {
			t.Fatal(err, got)
		}
		for line := range strings.Lines(string(table)) {
			rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
		return got.Counts.Largest, rows[1:]
	}
	largest, rows := counts(train)
	attributes, transitions := 0.0, 0.0
	for _, row := range rows {
		observed, _ := strconv.ParseFloat(row[0], 64)
		switch row[3] {
		case "attributes":
			attributes += observed
		case "transitions":
			transitions += observed
		}
	}
	positions := float64(strings.Count(text, " "))
	if !(largest < 0.01) || attributes != positions || transitions != positions-30 {
		t.Errorf("observed and expected counts differ by %v; %v attributes and %v transitions of %v positions", largest, attributes, transitions, positions)
	}
	largest, rows = counts(write(t, "other.conll", "w1 B\nw1 B\nw1 B\n\nw1 B\n"))
	last := math.Inf(1)
	for _, row := range rows {
		difference, err := strconv.ParseFloat(row[2], 64)
		if err != nil || math.Abs(difference) > last || row[3] != "attributes" && row[3] != "transitions" {
			t.Errorf("%v after %v", row, last)
		}
		last = math.Abs(difference)
	}
	if row := strings.Join(rows[0][3:], " "); !(largest > 1) || row != "attributes B U:w1" {
		t.Errorf("difference %v of %s", largest, row)
	}
	dsp(t, "eval", "--model", run, "--data", train, "--expected-counts", "x.csv").refused(exitBadInput, "x.csv", ".tsv")
	dsp(t, "eval", "--model", aligner(t), "--data", filepath.Join(drawnPairs(t), "test.pairs"), "--expected-counts", filepath.Join(t.TempDir(), "x.tsv")).refused(exitBadInput, "--expected-counts", "sums")
}

// Counts of data that several threads read in many batches are those of its lines.
func TestExpectedCountsOfBatches(t *testing.T) {
	t.Parallel()
	train := write(t, "train.conll", "a X\nb Y\n\nb X\na Y\na Y\n\n")
	run := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--task", "tag", "--train", train, "--loss", "crf", "--passes", "5", "--template", write(t, "t.tpl", "U:%x[0,0]\nB\n"), "--quiet", "--out", run).ok()
	r, text, positions := rand.New(rand.NewPCG(3, 4)), strings.Builder{}, 0.0
	want := map[string]float64{} // by what a weight belongs to
	for range 4000 {
		last := ""
		for range 1 + r.IntN(12) {
			word, label := string("ab"[r.IntN(2)]), string("XY"[r.IntN(2)])
			fmt.Fprintf(&text, "%s %s\n", word, label)
			want["attributes "+label+" U:"+word]++
			if last != "" {
				want["transitions "+last+" "+label]++
			}
			last = label
			positions++
		}
		text.WriteString("\n")
	}
	to := filepath.Join(t.TempDir(), "counts.tsv")
	dsp(t, "eval", "--model", run, "--data", write(t, "many.conll", text.String()), "--expected-counts", to, "--threads", "2").ok()
	table, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	expected := 0.0
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		row := strings.Split(line, "\t")
		of := strings.TrimSpace(strings.Join(row[3:], " "))
		if observed, _ := strconv.ParseFloat(row[0], 64); observed != want[of] {
			t.Errorf("%s was observed %v times, expected %v", of, observed, want[of])
		}
		delete(want, of)
		if count, _ := strconv.ParseFloat(row[1], 64); row[3] == "attributes" {
			expected += count
		}
	}
	if len(want) > 0 || math.Abs(expected-positions) > 1e-4*positions { // marginals of a position add up to 1
		t.Errorf("not in the table: %v; %v attributes expected at %v positions", want, expected, positions)
	}
}

// A server draws samples that depend on the seed and the number of the sentence in its request alone, and chooses
// entities by a threshold.
func TestQuestionsOfServe(t *testing.T) {
	t.Parallel()
	s := serve(t, "--model", attributeTagger(t))
	const one = `{"words": ["the", "red", "fox", "runs"]}`
	ask := func(query, body string) (all []askedJSON) {
		code, text := s.post("predict?"+query, body)
		if code != 200 {
			t.Errorf("%s: %d, %s", query, code, text)
		}
		return jsonLines[askedJSON](t, text)
	}
	const query = "samples=20&temperature=3&seed=7&entropy"
	first, both := ask(query, one), ask(query, one+"\n"+one)
	if len(first) != 1 || len(both) != 2 || len(first[0].Samples) != 20 || !(first[0].Entropy > 0) {
		t.Fatalf("%+v", both)
	}
	samples := func(a askedJSON) string { return fmt.Sprint(a.Samples) }
	if samples(first[0]) != samples(both[0]) || samples(both[0]) == samples(both[1]) || samples(ask("samples=20&temperature=3&seed=8", one)[0]) == samples(first[0]) {
		t.Errorf("alone %s, with another %s and %s", samples(first[0]), samples(both[0]), samples(both[1]))
	}
	if sure := ask("decode=f1&threshold=1", one)[0]; strings.Contains(fmt.Sprint(sure.Labels), "X") {
		t.Errorf("entities of probability 1: %v", sure.Labels)
	}
	s.refuses(400, "predict?seed=3", one, "?seed is for ?samples")
	s.refuses(400, "predict?samples=101", one, "samples=101")
	s.refuses(400, "predict?decode=f1", one, "threshold")
}

// Heads and relations that are given are kept, and the rest of the tree is the best that goes with them.
func TestForceTrees(t *testing.T) {
	t.Parallel()
	model := parser(t)
	test, err := os.ReadFile(filepath.Join(drawnTrees(t), "test.conllu"))
	if err != nil {
		t.Fatal(err)
	}
	sentence := strings.SplitAfterN(string(test), "\n\n", 2)[0]
	cells := func(text string) (rows [][]string) {
		for line := range strings.Lines(text) {
			if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) == 10 {
				rows = append(rows, f)
			}
		}
		return rows
	}
	best := cells(dspWith(t, sentence, "predict", "--model", model).ok().stdout)
	other := "1"
	if best[1][6] == other || len(best) < 3 {
		other = "3"
	}
	var forced strings.Builder
	for k, f := range cells(sentence) {
		f[6], f[7] = "_", "_"
		if k == 1 {
			f[6] = other
		}
		forced.WriteString(strings.Join(f, "\t") + "\n")
	}
	got := cells(dspWith(t, forced.String()+"\n", "predict", "--model", model, "--force").ok().stdout)
	if got[1][6] != other || best[1][6] == other {
		t.Errorf("word 2 has head %s, %s without force; %s is given", got[1][6], best[1][6], other)
	}
	dspWith(t, strings.Replace(forced.String(), "\t"+other+"\t_\t", "\t99\t_\t", 1)+"\n", "predict", "--model", model, "--force").refused(exitBadInput, `head "99"`)
}

// Every verb and model that cannot answer a question says so by name.
func TestQuestionsRefusedByName(t *testing.T) {
	t.Parallel()
	tagger, links := attributeTagger(t), aligner(t)
	pairs := filepath.Join(drawnPairs(t), "test.pairs")
	for _, c := range []struct {
		args string
		want string
	}{
		{"predict --model " + links + " --input " + pairs + " --entropy", "--entropy needs sums over all outputs, which the oracle of a"},
		{"predict --model " + links + " --input " + pairs + " --samples 3 --json", "--samples needs sums over all outputs"},
		{"predict --model " + links + " --input " + pairs + " --select 3", "--by entropy needs sums"},
		{"eval --model " + links + " --data " + pairs + " --nll", "--nll needs sums"},
		{"eval --model " + links + " --data " + pairs + " --against " + links + " --kl", "--kl: it needs sums"},
		{"train --train " + pairs + " --teacher " + links, "--teacher needs sums"},
		{"predict --model " + tagger + " --samples 3", "add --json"},
		{"predict --model " + tagger + " --samples -1", "--samples -1: expected 0 to 100000"},
		{"predict --model " + tagger + " --temperature 2", "--temperature is for --samples"},
		{"predict --model " + tagger + " --samples 3 --json --temperature 0", "--temperature 0: expected 1e-06 to 1e+06"},
		{"predict --model " + tagger + " --seed 2", "--seed is for --samples"},
		{"predict --model " + tagger + " --by margin", "--by margin is for --select"},
		{"predict --model " + tagger + " --select 0", "--select 0: expected"},
		{"predict --model " + tagger + " --select 3 --by luck", `--by "luck" is not known`},
		{"predict --model " + tagger + " --select 3 --nbest 2", "--nbest has no effect with --select"},
		{"predict --model " + tagger + " --select 3 --beam 2", "--beam has no effect with --select"},
		{"predict --model " + tagger + " --entropy --into label", "--entropy"},
		{"predict --model " + tagger + " --text --inline --entropy", "--entropy needs another form of output"},
	} {
		dspWith(t, "the\n", strings.Fields(c.args)...).refused(exitBadInput, c.want)
	}
}
