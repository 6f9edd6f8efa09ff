package pipelines

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/data/characters"
	"github.com/dsp-go/dsp/models/data/conllu"
	"github.com/dsp-go/dsp/models/data/tokens"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/models/training"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// trainOn trains a pipeline on the text of a treebank.
func trainOn(t *testing.T, text string, set func(c *config.Config)) (*Pipeline, *Result) {
	t.Helper()
	dir := t.TempDir()
	c := config.Default()
	c.Task, c.Train, c.Out, c.Quiet = Task, filepath.Join(dir, "train.conllu"), filepath.Join(dir, "run"), true
	if err := os.WriteFile(c.Train, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	set(&c)
	r, err := Train(context.Background(), c, training.TrainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Load(c.Out, "")
	if err != nil {
		t.Fatal(err)
	}
	return p, r
}

// drawDes draws sentences with des: one word behind a verb, de and les behind a noun, in the manner of French. Verbs
// and nouns are told by their endings alone.
func drawDes(rng *rand.Rand, n int) string {
	stem := func() string {
		word := ""
		for range 2 + rng.IntN(2) {
			word += string("bdfglmnprtv"[rng.IntN(11)]) + string("aeiou"[rng.IntN(5)])
		}
		return word
	}
	var text strings.Builder
	for range n {
		verb := rng.IntN(2) == 0
		before, tag := stem()+"ure", "NOUN"
		if verb {
			before, tag = stem()+"ait", "VERB"
		}
		fmt.Fprintf(&text, "1\tla\tle\tDET\t_\t_\t2\tdet\t_\t_\n2\t%s\tx\t%s\t_\t_\t0\troot\t_\t_\n", before, tag)
		if next := stem() + "ons"; verb {
			fmt.Fprintf(&text, "3\tdes\tun\tDET\t_\t_\t4\tdet\t_\t_\n4\t%s\tx\tNOUN\t_\t_\t2\tobj\t_\tSpaceAfter=No\n"+
				"5\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n", next)
		} else {
			fmt.Fprintf(&text, "3-4\tdes\t_\t_\t_\t_\t_\t_\t_\t_\n3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_\n"+
				"4\tles\tle\tDET\t_\t_\t5\tdet\t_\t_\n5\t%s\tx\tNOUN\t_\t_\t2\tnmod\t_\tSpaceAfter=No\n"+
				"6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n", next)
		}
	}
	return text.String()
}

// What a token's words are depends on the words around it, also on such as training has not seen.
func TestWordsInContext(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	p, _ := trainOn(t, drawDes(rng, 200), func(c *config.Config) {
		c.TaskSettings = settings.Texts{"skip": "upos+xpos+feats+lemma+trees", "folds": "2"}
	})
	gold := read(t, drawDes(rng, 100))
	found, err := p.NewWorker().Split(characters.Text(gold), 0, GivenParagraphs)
	if err != nil {
		t.Fatal(err)
	}
	count := func(all []conllu.Sentence) (words []int) {
		for _, s := range all {
			for _, token := range s.Tokens {
				if token.Form == "des" {
					words = append(words, token.Last-token.First+1)
				}
			}
		}
		return words
	}
	if got, want := count(found), count(gold); !slices.Equal(got, want) {
		t.Errorf("words of des: %v, expected %v", got, want)
	}
}

// A form that the treebank has as several words is asked about wherever it stands, also behind an elision that the
// treebank never has before it.
func TestContractionBehindElision(t *testing.T) {
	var text strings.Builder
	for i := range 60 {
		fmt.Fprintf(&text, "1\til\til\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tva\taller\tVERB\t_\t_\t0\troot\t_\t_\n")
		switch i % 3 {
		case 0:
			fmt.Fprintf(&text, "3-4\taux\t_\t_\t_\t_\t_\t_\t_\t_\n3\tà\tà\tADP\t_\t_\t5\tcase\t_\t_\n"+
				"4\tles\tle\tDET\t_\t_\t5\tdet\t_\t_\n5\tquais\tquai\tNOUN\t_\t_\t2\tobl\t_\tSpaceAfter=No\n"+
				"6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n")
		case 1:
			fmt.Fprintf(&text, "3\tjusqu'\tjusque\tADP\t_\t_\t4\tcase\t_\tSpaceAfter=No\n"+
				"4\tici\tici\tADV\t_\t_\t2\tadvmod\t_\tSpaceAfter=No\n5\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n")
		case 2:
			fmt.Fprintf(&text, "3\tjusqu'\tjusque\tADP\t_\t_\t4\tcase\t_\tSpaceAfter=No\n4\t%s\tx\tPRON\t_\t_\t2\tobl\t_\t_\n"+
				"5\tquais\tquai\tNOUN\t_\t_\t2\tobl\t_\tSpaceAfter=No\n6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n\n",
				[]string{"deux", "ceux", "eux", "mieux"}[i/3%4])
		}
	}
	p, _ := trainOn(t, text.String(), func(c *config.Config) {
		c.TaskSettings = settings.Texts{"skip": "upos+xpos+feats+lemma+trees", "folds": "2"}
	})
	for text, want := range map[string]string{
		"il va jusqu'aux quais.": "il va jusqu' à les quais .",
		"il va jusqu'eux quais.": "il va jusqu' eux quais .",
		"AUX quais.":             "À LES quais .",
	} {
		found, err := p.NewWorker().Split(text, 0, GivenParagraphs)
		if err != nil || len(found) != 1 {
			t.Fatalf("%q: %d sentences, %v", text, len(found), err)
		}
		if got := formsOf(found[0].Words); !strings.EqualFold(got, want) {
			t.Errorf("%q has the words %q, expected %q", text, got, want)
		}
	}
}

// Blanks and invisible characters in the words of a treebank teach no lemma to lose letters, come back in the
// predictions, and make no tokens.
func TestUnseenCharactersAreLearned(t *testing.T) {
	names := []string{"Paris", "Lyon", "Nantes", "Brest", "Metz"}
	var text strings.Builder
	rng := rand.New(rand.NewPCG(5, 1))
	draw := func() string {
		name, c := names[rng.IntN(len(names))],
			string([]rune{0xa0, 0x202f, 0xfeff, 0x200b, 0xfe0f, 0x34f, 0x3164, 0xe0100, 0xad, 0x2800, 1}[rng.IntN(11)])
		form := []string{c + name, name + c, name[:2] + c + name[2:], c + c + name, name}[rng.IntN(5)]
		return fmt.Sprintf("1\tVoir\tvoir\tVERB\t_\t_\t0\troot\t_\t_\n2\t%s\t%s\tPROPN\t_\t_\t1\tobj\t_\t_\n"+
			"3\tici\tici\tADV\t_\t_\t1\tadvmod\t_\tSpaceAfter=No\n4\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n", form, name)
	}
	for range 150 {
		text.WriteString(draw())
	}
	p, _ := trainOn(t, text.String(), func(c *config.Config) { c.TaskSettings = settings.Texts{"folds": "2"} })
	text.Reset()
	for range 100 {
		text.WriteString(draw())
	}
	gold := read(t, text.String())
	scores, err := p.Evaluate(context.Background(), gold, "gold", EvaluateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, measure := range []string{"tokens", "sentences", "words", "upos", "lemmas", "las"} {
		if f := scores.Get(measure).F1(); f < 0.95 { // a blank inside a name may part it, and its lemma has none
			t.Errorf("%s: %.3f", measure, f)
		}
	}
	worker := p.NewWorker()
	// an empty line ends a paragraph; with lines, every line does
	for given, paragraphs := range map[Given]int{GivenParagraphs: 2, GivenLines: 3} {
		found, err := worker.Split("Voir Paris\nici.\n\nVoir Lyon ici.", 0, given)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, s := range found {
			if slices.Contains(s.Comments, "# newpar") {
				got++
			}
		}
		if got != paragraphs {
			t.Errorf("%v given: %d paragraphs, expected %d", given, got, paragraphs)
		}
	}
	// a line is a sentence where sentences are given, and its tokens are those that are found without that
	const two = "Voir Paris ici. Voir Lyon ici.\nVoir Metz ici.\n"
	split := func(given Given) (sentences []string) {
		found, err := worker.Split(two, 0, given)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found {
			line := ""
			for _, token := range s.Tokens {
				line += token.Form + "|"
			}
			sentences = append(sentences, line)
		}
		return sentences
	}
	apart, given := split(GivenLines), split(GivenSentences)
	if want := []string{apart[0] + apart[1], apart[2]}; len(apart) != 3 || !slices.Equal(given, want) ||
		!strings.HasSuffix(given[1], "ici|.|") {
		t.Errorf("sentences are given: %q, expected %q", given, want)
	}
	for _, raw := range []string{"Voir Paris ici.", "Voir \u00a0Paris ici.", "\ufeffVoir Lyon\u200b ici.",
		"Voir \u034f Metz ici. \u3164", "\u200b \u3164 Voir Metz ici."} {
		found, err := worker.Split(raw, 0, GivenParagraphs)
		if err == nil {
			err = worker.Annotate(found, All())
		}
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, s := range found {
			for k, token := range s.Tokens {
				all += token.Form
				if strings.TrimFunc(token.Form, tokens.Invisible) == "" {
					t.Errorf("%q: a token %q", raw, token.Form)
				}
				if seen, lemma := characters.Seen(token.Form), s.Words[k].Fields[conllu.Lemma]; slices.Contains(names, seen) &&
					lemma != seen {
					t.Errorf("%q: lemma %q of %s", raw, lemma, seen)
				}
			}
		}
		plain := func(text string) string { return strings.Join(strings.Fields(text), "") }
		if plain(all) != plain(raw) {
			t.Errorf("%q became %q", raw, all)
		}
	}
}

// Stages end where their development data do not improve, or where the settings say; folds learn as long as was best.
func TestLengthOfStages(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	dev := filepath.Join(t.TempDir(), "dev.conllu")
	if err := os.WriteFile(dev, []byte(drawDes(rng, 20)), 0o666); err != nil {
		t.Fatal(err)
	}
	text := drawDes(rng, 60)
	train := func(set func(c *config.Config)) map[string]StageResult {
		_, r := trainOn(t, text, func(c *config.Config) {
			c.TaskSettings = settings.Texts{"skip": "xpos+feats+trees", "folds": "2"}
			set(c)
		})
		all := map[string]StageResult{}
		for _, s := range r.Stages {
			all[s.Name] = s
		}
		return all
	}
	for name, s := range train(func(c *config.Config) { c.Dev, c.Patience = dev, 2 }) {
		if s.Kept < 1 || s.Passes > s.Kept+2 || s.Dev["token_accuracy"] < 0.9 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	// the loss of every stage is exact, so that none has a gap to end at
	for name, s := range train(func(c *config.Config) {
		c.Dev, c.StageSettings = dev, settings.Texts{"lemma.passes": "2", "characters.passes": "3",
			"characters.patience": "9", "characters.gap": "0"}
	}) {
		if want := map[string]int{lemma: 2, charactersStage: 3}[name]; want > 0 && s.Passes > want ||
			name == charactersStage && s.Passes != 3 {
			t.Errorf("%s: %+v", name, s)
		}
	}
	for name, s := range train(func(c *config.Config) { c.StageSettings = settings.Texts{"upos.gap": "0"} }) {
		if name == upos && s.Passes != passesOf[upos] {
			t.Errorf("without development data: %+v", s)
		}
	}
}

// The parser may be biaffine without an encoder; a linear one is the usual.
func TestNetOfTheParser(t *testing.T) {
	text := drawDes(rand.New(rand.NewPCG(8, 1)), 30)
	for want, given := range map[string]settings.Texts{
		"linear":   {"trees.passes": "1"},
		"biaffine": {"trees.passes": "1", "trees.net": "biaffine", "trees.arc-units": "8", "trees.label-units": "8"},
	} {
		p, _ := trainOn(t, text, func(c *config.Config) {
			c.TaskSettings, c.StageSettings = settings.Texts{"skip": "xpos+feats+lemma", "folds": "2"}, given
		})
		if m := p.Model(treesStage); m.Config.Net != want {
			t.Errorf("the parser's net is %s, expected %s", m.Config.Net, want)
		}
		sentences := read(t, text)
		for i := range sentences {
			for k := range sentences[i].Words {
				sentences[i].Words[k].Fields[conllu.Head] = conllu.Empty
			}
		}
		if err := p.NewWorker().Annotate(sentences, All()); err != nil {
			t.Fatal(err)
		}
		for i := range sentences {
			for k := range sentences[i].Words {
				if sentences[i].Words[k].Fields[conllu.Head] == conllu.Empty {
					t.Fatalf("%s: sentence %d has words without heads", want, i)
				}
			}
		}
	}
}

// Settings that a stage does not take are refused before anything is trained.
func TestBadStageSettings(t *testing.T) {
	for key, want := range map[string]string{
		"passes=3": "expected STAGE.NAME=VALUE", "tags.passes=3": "with a stage of characters",
		"lemma.train=x": `no setting "train" of its own`, "lemma.nonsense=1": `no setting "nonsense"`,
		"lemma.passes=x": "lemma.passes", "lemma.passes=-1": "passes", "lemma.patience=2": "needs development data",
		"lemma.loss=square": "loss", "trees.method=sgdd": "method", "xpos.reg=1": "no effect with",
		"lemma.search-limit=3": "no setting", "upos.net=rnn": `no setting "net"`,
		"trees.net=rnn": "expected linear or biaffine",
	} {
		c := config.Default()
		c.Task, c.Train = Task, "x"
		c.TaskSettings = settings.Texts{"skip": "xpos"}
		if err := c.StageSettings.Set(key); err != nil {
			t.Fatal(err)
		}
		if _, err := ownSettings(&c); err == nil || !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %s", key, err, want)
		}
	}
}

// placed adds to what a log says the stage that the program is at.
type placed struct{ slog.Handler }

func (p placed) Handle(ctx context.Context, r slog.Record) error {
	r.Add("at", host.Stage())
	return p.Handler.Handle(ctx, r)
}

func (p placed) WithAttrs(attrs []slog.Attr) slog.Handler { return placed{p.Handler.WithAttrs(attrs)} }

// The log explains what a gap is once, and not for every stage. The program is at the stage that the log speaks of.
func TestGapsAreExplainedOnce(t *testing.T) {
	console, err := os.CreateTemp(t.TempDir(), "console")
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	dir := t.TempDir()
	c := config.Default()
	c.Task, c.Train, c.Out = Task, filepath.Join(dir, "train.conllu"), filepath.Join(dir, "run")
	c.TaskSettings = settings.Texts{"skip": "xpos+feats+trees", "folds": "2"}
	if err := os.WriteFile(c.Train, []byte(drawDes(rand.New(rand.NewPCG(6, 1)), 30)), 0o666); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	if _, err := Train(context.Background(), c, training.TrainOptions{Log: slog.New(placed{slog.NewTextHandler(&log, nil)}), Console: console}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(log.String()) {
		_, after, _ := strings.Cut(line, " stage=")
		stage, _, _ := strings.Cut(after, " ")
		if !strings.HasSuffix(line, fmt.Sprintf(" at=%s\n", cmp.Or(stage, `""`))) {
			t.Errorf("elsewhere: %s", line)
		}
	}
	if n := strings.Count(log.String(), "relative_gap is a proven bound"); n != 1 || strings.Count(log.String(), "relative_gap=") < 3 {
		t.Errorf("%d explanations in\n%s", n, log.String())
	}
}

// The stages of a run, whose models replace those of others.
func TestReplace(t *testing.T) {
	text := drawDes(rand.New(rand.NewPCG(7, 1)), 60)
	base := func(c *config.Config) {
		c.TaskSettings = settings.Texts{"skip": "xpos+feats", "folds": "2"}
		c.StageSettings = settings.Texts{"trees.passes": "1"}
	}
	other := ""
	p, _ := trainOn(t, text, func(c *config.Config) {
		base(c)
		c.Seed, other = 2, c.Out
		c.StageSettings["lemma.reg"] = "0.5"
	})
	var dir string
	was, _ := trainOn(t, text, func(c *config.Config) { base(c); dir = c.Out })
	resume := func(stages settings.Texts) (*Result, string, error) {
		c, err := training.ReadRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		c.Replace, c.Quiet = stages, true
		var log strings.Builder
		r, err := Train(context.Background(), c, training.TrainOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
		return r, log.String(), err
	}
	list, err := os.ReadFile(filepath.Join(dir, listFile))
	if err != nil {
		t.Fatal(err)
	}
	for stage, run := range map[string]string{
		"lemma": filepath.Join(other, "upos"), "trees": filepath.Join(other, "lemma"), "upos": filepath.Join(other, "words"),
		"words": filepath.Join(other, "characters"), "characters": filepath.Join(other, "trees"),
		"xpos": filepath.Join(other, "upos"),
		"tags": filepath.Join(other, "upos"),
	} {
		if _, _, err := resume(settings.Texts{stage: run}); err == nil || !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), "--replace "+stage+"="+run) {
			t.Errorf("%s by %s: %v", stage, run, err)
		}
	}
	if _, _, err := resume(settings.Texts{"lemma": dir}); err == nil ||
		!strings.Contains(err.Error(), "the stage itself") {
		t.Errorf("%v", err)
	}
	if _, _, err := resume(settings.Texts{"lemma": filepath.Join(dir, "nothing")}); err == nil ||
		!structured.IsBadInput(err) {
		t.Errorf("%v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, listFile)); err != nil || string(after) != string(list) {
		t.Errorf("a refusal changes the pipeline: %v", err)
	}
	r, log, err := resume(settings.Texts{"lemma": filepath.Join(other, "lemma")})
	if err != nil {
		t.Fatal(err)
	}
	now, err := Load(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if r.Fingerprint != now.Fingerprint || now.Fingerprint == was.Fingerprint ||
		hashWeights(now.Model(lemma)) != hashWeights(p.Model(lemma)) ||
		hashWeights(now.Model(upos)) != hashWeights(was.Model(upos)) {
		t.Error("the wrong stages were replaced")
	}
	again, err := training.ReadRun(filepath.Join(dir, "lemma")) // what began the stage begins another run of it
	if err != nil || again.Train != filepath.Join(dir, "lemma", "train.conll") {
		t.Errorf("the settings of the stage are %q, %v", again.Train, err)
	}
	for _, file := range []string{again.Train, again.Template} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "lemma", "metrics.jsonl")); err == nil {
		t.Error("the metrics of the model that was there are left")
	}
	if !strings.Contains(log, "behind=trees") {
		t.Errorf("nothing is said of the stages behind:\n%s", log)
	}
	if r, _, err = resume(nil); err != nil || r.Fingerprint != now.Fingerprint {
		t.Errorf("the next run: %v", err)
	}
	fresh, r := trainOn(t, text, func(c *config.Config) { // a new run takes the stage of a pipeline, and trains the others
		base(c)
		c.Replace = settings.Texts{"lemma": other}
	})
	if hashWeights(fresh.Model(lemma)) != hashWeights(p.Model(lemma)) || slices.Collect(maps.Keys(fresh.stages)) == nil ||
		r.Stages[slices.IndexFunc(r.Stages, func(s StageResult) bool { return s.Name == lemma })].Replaced != other {
		t.Error("a new run has not taken the model")
	}
}
