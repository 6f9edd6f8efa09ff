package endtoend

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// rawJSON is what predict --text --json writes of a sentence.
type rawJSON struct {
	answerJSON
	ID      string
	Words   []string
	Offsets [][2]int
	Heads   []int
}

// foxes is raw text in the words that attributeTagger knows, with what disturbs counting. The mark of byte order is no
// part of the text.
const foxes = "\ufeffThe red  fox runs. The é [big]\nred fox, e.g. here, runs\n\nred fox 👩\u200d🚀\n"

// objects parses all lines of JSON.
func objects[T any](o outcome) []T {
	o.t.Helper()
	var all []T
	for line := range strings.Lines(o.stdout) {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			o.t.Fatalf("%v: %s", err, line)
		}
		all = append(all, one)
	}
	return all
}

// Raw text becomes sentences with offsets, labelled as the same words in columns are.
func TestRawText(t *testing.T) {
	t.Parallel()
	model := attributeTagger(t)
	all := objects[rawJSON](dspWith(t, foxes, "predict", "--model", model, "--text", "--json", "--spans", "--confidence", "--marginals", "--nbest", "2").ok())
	if len(all) != 3 {
		t.Fatalf("%d sentences: %+v", len(all), all)
	}
	runes, columns := []rune(strings.TrimPrefix(foxes, "\ufeff")), ""
	for i, s := range all {
		if s.ID != fmt.Sprint(i) || len(s.Offsets) != len(s.Labels) || len(s.Nbest) != 2 || len(s.Confidence) != len(s.Labels) {
			t.Errorf("sentence %d: %+v", i, s)
		}
		for k, at := range s.Offsets {
			if string(runes[at[0]:at[1]]) != s.Words[k] {
				t.Errorf("sentence %d: %q is at %v", i, s.Words[k], at)
			}
		}
		for _, span := range s.Spans {
			if *span.Start != s.Offsets[span.First][0] || *span.End != s.Offsets[span.Last][1] {
				t.Errorf("sentence %d: %+v", i, span)
			}
		}
		columns += strings.Join(s.Words, "\n") + "\n\n"
	}
	if want := strings.Fields("The é [ big ] red fox , e.g. here , runs"); strings.Join(all[1].Words, " ") != strings.Join(want, " ") {
		t.Errorf("words %q", all[1].Words)
	}
	for _, flags := range [][]string{{}, {"--nbest", "3"}, {"--confidence", "--score"}, {"--marginals"}, {"--decode", "risk"}} {
		raw := dspWith(t, foxes, append([]string{"predict", "--model", model, "--text"}, flags...)...).ok().stdout
		want := dspWith(t, columns, append([]string{"predict", "--model", model}, flags...)...).ok().stdout
		if raw != want {
			t.Errorf("%v: %q, the same words in columns %q", flags, raw, want)
		}
	}
	spans := dspWith(t, foxes, "predict", "--model", model, "--text", "--spans").ok().stdout
	if !strings.HasPrefix(spans, "# 0\nX\t1\t2\t4\t12\t0.") || !strings.Contains(spans, "\n# 2\n") {
		t.Errorf("spans %q", spans)
	}
	for _, threads := range []string{"1", "3"} {
		if got := dsp(t, "predict", "--model", model, "--text", "--spans", "--threads", threads, "--input", write(t, "a.txt", foxes)).ok().stdout; got != spans {
			t.Errorf("from a file on %s threads: %q", threads, got)
		}
	}
	if got := dspWith(t, " \n\n", "predict", "--model", model, "--text").ok().stdout; got != "" {
		t.Errorf("empty text: %q", got)
	}
}

// Inline marks go into the text as it was.
func TestRawTextInline(t *testing.T) {
	t.Parallel()
	escape := strings.NewReplacer("[", "\\[", "]", "\\]", "\\", "\\\\")
	runes, at, want := []rune(strings.TrimPrefix(foxes, "\ufeff")), 0, ""
	for _, s := range objects[rawJSON](dspWith(t, foxes, "predict", "--model", attributeTagger(t), "--text", "--spans", "--json").ok()) {
		for _, span := range s.Spans {
			want += escape.Replace(string(runes[at:*span.Start])) + "[" + escape.Replace(string(runes[*span.Start:*span.End])) + "](X)"
			at = *span.End
		}
	}
	want += escape.Replace(string(runes[at:]))
	if got := dspWith(t, foxes, "predict", "--model", attributeTagger(t), "--text", "--inline").ok().stdout; got != want || !strings.Contains(got, "The [red  fox](X) runs.") {
		t.Errorf("%q, expected %q", got, want)
	}
	got := dspWith(t, "a \\ b.", "predict", "--model", wordTagger(t), "--text", "--inline").ok().stdout
	plain := strings.ReplaceAll(got, "\\\\", "\\")
	for _, label := range []string{"NOUN", "VERB", "PUNCT", "DET", "ADP", "X", "PROPN", "ADJ", "ADV", "PRON", "AUX", "SCONJ", "CCONJ", "NUM", "PART"} {
		plain = strings.ReplaceAll(plain, "]("+label+")", "")
	}
	if strings.ReplaceAll(plain, "[", "") != "a \\ b." || strings.Count(got, "](") != 4 {
		t.Errorf("every token: %q", got)
	}
}

// wordTagger returns the run folder of a model of the upos of drawn sentences.
func wordTagger(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "upos")
	dsp(t, "train", "--train", filepath.Join(drawnTrees(t), "train.conllu"), "--label", "upos", "--passes", "3", "--out", dir, "--quiet").ok()
	return dir
}

// A parser reads raw text after a tagger, and writes CoNLL-U that says where the tokens are.
func TestRawTextParsing(t *testing.T) {
	t.Parallel()
	tags := wordTagger(t)
	text := "Leo may eat another apple,\na soup. March with every judge (soon)."
	run := func(more ...string) outcome {
		return dspWith(t, text, append([]string{"predict", "--model", parser(t), "--text"}, more...)...)
	}
	run().refused(exitBadInput, "upos", "--tagger")
	run("--tagger", tags, "--inline").refused(exitBadInput, "--inline", "trees")
	run("--tagger", parser(t)).refused(exitBadInput, "--tagger")
	got := run("--tagger", tags, "--confidence").ok().stdout
	for _, want := range []string{"# text = Leo may eat another apple, a soup.\n1\tLeo\t_\t", "\tSpaceAfter=No|TokenRange=20:25|ArcProb=",
		"\n\n# text = March with every judge (soon).\n", "TokenRange=33:34|ArcProb="} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	all := objects[rawJSON](run("--tagger", "upos="+tags, "--json").ok())
	if len(all) != 2 || len(all[1].Heads) != 8 || all[1].Offsets[0] != [2]int{35, 40} {
		t.Errorf("%+v", all)
	}
	again := dspWith(t, got, "predict", "--model", parser(t)).ok().stdout // what it writes it reads
	if plain := run("--tagger", tags).ok().stdout; strings.Count(again, "\n") != strings.Count(plain, "\n") {
		t.Errorf("read again:\n%s\n%s", again, plain)
	}
	picture := filepath.Join(t.TempDir(), "trees.svg")
	run("--tagger", tags, "--picture", picture).ok()
}

// Paragraphs, or lines, are answered before more text comes.
func TestRawTextAnswersAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, end string }{{"--text=true", "\n\n"}, {"--lines", "\n"}} {
		cmd := exec.Command(binary, "predict", "--model", attributeTagger(t), "--text", "--json", c.flag)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		answers := bufio.NewReader(out)
		for k := range 3 {
			if _, err := io.WriteString(in, "The red fox"+c.end); err != nil {
				t.Fatal(err)
			}
			if line, err := answers.ReadString('\n'); err != nil || !strings.HasPrefix(line, fmt.Sprintf(`{"id":"%d"`, k)) {
				t.Fatalf("%s: %q, %v", c.flag, line, err)
			}
		}
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

// A line end is a blank of its paragraph, unless --lines says that it ends one.
func TestLinesOfRawText(t *testing.T) {
	t.Parallel()
	for want, flags := range map[int][]string{1: {}, 2: {"--lines"}} {
		got := dspWith(t, "The red\nfox\n", append([]string{"predict", "--model", attributeTagger(t), "--text", "--json"}, flags...)...).ok().stdout
		if n := strings.Count(got, "\n"); n != want {
			t.Errorf("%v: %d sentences, expected %d: %s", flags, n, want, got)
		}
	}
}

// Models and flags that raw text is not for are refused by name.
func TestRawTextRefusals(t *testing.T) {
	t.Parallel()
	model, in := attributeTagger(t), write(t, "a.txt", foxes)
	refuse := func(want string, args ...string) {
		t.Helper()
		dspWith(t, foxes, args...).refused(exitBadInput, want)
	}
	for flag, value := range map[string]string{"--format": "conll", "--columns": "word=0", "--dense": "a.npz", "--input": "builtin"} {
		refuse(flag, "predict", "--model", model, "--text", flag, value)
	}
	refuse("--force", "predict", "--model", model, "--text", "--force")
	refuse("--inline", "predict", "--model", model, "--inline")
	refuse("--lines", "predict", "--model", model, "--lines")
	refuse("--json is another form; leave one of the two out", "predict", "--model", model, "--text", "--inline", "--json")
	refuse("words alone", "predict", "--model", model, "--text", "--tagger", model)
	refuse("--task align", "predict", "--model", aligner(t), "--text")
	refuse("dense features", "predict", "--model", reader(t), "--text")
	refuse("a.txt:1: byte 0xff is not UTF-8", "predict", "--model", model, "--text", "--input", write(t, "a.txt", "caf\xff"))
	refuse("gold labels", "eval", "--model", model, "--data", in, "--text")
	refuse("gold labels", "train", "--train", in, "--text")
	refuse("looks like raw text", "train", "--train", write(t, "b.txt", "The red fox runs here\nIt is a long way to the fox\n"))

	pos := write(t, "pos.conll", strings.ReplaceAll("the DT O\nred JJ B-X\nfox NN I-X\n\n", " ", "\t"))
	dir := filepath.Join(t.TempDir(), "pos")
	dsp(t, "train", "--train", pos, "--columns", "word=0,pos=1,label=-1", "--passes", "2", "--out", dir, "--quiet").ok()
	refuse("reads the column pos", "predict", "--model", dir, "--text")
	tags := filepath.Join(t.TempDir(), "tags")
	dsp(t, "train", "--train", pos, "--columns", "word=0,label=1", "--passes", "2", "--out", tags, "--quiet").ok()
	if got := dspWith(t, "the red fox", "predict", "--model", dir, "--text", "--tagger", tags).ok().stdout; !strings.HasPrefix(got, "the\tDT\tO\nred\tJJ\t") {
		t.Errorf("a tagger of pos: %q", got)
	}
}

// A sentence where a token per line is expected is refused; columns are not.
func TestRawTextIsNotColumns(t *testing.T) {
	t.Parallel()
	model := attributeTagger(t)
	for _, text := range []string{"John Smith lives\n", "the fox\n", "The red fox runs.\n\nIt is red.\n", "the fox"} {
		dspWith(t, text, "predict", "--model", model).refused(exitBadInput, "standard input:1:", "looks like raw text", "--text")
	}
	dspWith(t, "John Smith lives\n", "predict", "--model", parser(t)).refused(exitBadInput, "standard input:1:", "--text")
	for _, text := range []string{"the\nred\n\nfox.\n", "the _\nred _\n", "the O\nfox B-X\n", "the ?\n", "John NNP\n", "the\tof\n", "the B-PER\nfox O\n"} {
		dspWith(t, text, "predict", "--model", model).ok()
	}
}

// A tagger labels the words of files and requests, too: the gold tags there make no difference.
func TestTaggerFirst(t *testing.T) {
	t.Parallel()
	tags, model := wordTagger(t), parser(t)
	test := filepath.Join(drawnTrees(t), "test.conllu")
	content, err := os.ReadFile(test)
	if err != nil {
		t.Fatal(err)
	}
	var untagged strings.Builder
	for line := range strings.Lines(string(content)) {
		if fields := strings.Split(line, "\t"); len(fields) == 10 {
			fields[3] = "_"
			line = strings.Join(fields, "\t")
		}
		untagged.WriteString(line)
	}
	bare := write(t, "bare.conllu", untagged.String())
	want := dsp(t, "predict", "--model", model, "--input", test, "--tagger", tags).ok().stdout
	if got := dsp(t, "predict", "--model", model, "--input", bare, "--tagger", tags).ok().stdout; got != want {
		t.Errorf("gold tags are read in spite of the tagger:\n%s\n%s", got, want)
	}
	if got := dsp(t, "predict", "--model", model, "--input", bare).ok().stdout; got == want {
		t.Error("the tagger changes nothing")
	}
	out := t.TempDir()
	for _, c := range [][]string{
		{"export", "--to", filepath.Join(out, "p.npz"), "--data"}, {"calibrate", "--out", filepath.Join(out, "m.safetensors"), "--dev"},
		{"report", "--out", filepath.Join(out, "r.html"), "--data"},
	} {
		var shown [2]string
		for k, flags := range [][]string{{test, "--tagger", tags}, {bare, "--tagger", tags}} {
			o := dsp(t, slices.Concat([]string{c[0], "--model", model, "--json"}, c[1:], flags)...).ok()
			shown[k] = strings.NewReplacer(test, bare, filepath.Base(test), filepath.Base(bare)).Replace(o.stdout)
			if c[0] == "export" {
				written, err := os.ReadFile(filepath.Join(out, "p.npz"))
				if err != nil {
					t.Fatal(err)
				}
				shown[k] += string(written)
			}
		}
		if shown[0] != shown[1] {
			t.Errorf("%s reads gold tags in spite of the tagger", c[0])
		}
	}
	dsp(t, "export", "--model", model, "--weights", "--tagger", tags, "--to", filepath.Join(out, "w.txt")).refused(exitBadInput, "--tagger")
	dsp(t, "report", model, "--tagger", tags).refused(exitBadInput, "--tagger says how to read --data")
	if got := dsp(t, "predict", "--model", tags, "--input", bare, "--into", "upos").ok().stdout; upos(got) != upos(want) {
		t.Errorf("--into upos: %s, expected %s", upos(got), upos(want))
	} else if again := dspWith(t, got, "predict", "--model", model).ok().stdout; again != want {
		t.Errorf("a parser does not read what --into upos wrote:\n%s\n%s", again, want)
	}
	gold := dsp(t, "eval", "--model", model, "--data", test).ok().stdout
	if !strings.Contains(gold, "\ninputs from the data: ") || !strings.Contains(gold, "upos") {
		t.Errorf("eval does not say that tags are gold: %s", gold)
	}
	if errors := dsp(t, "eval", "--model", model, "--data", test, "--errors", "2").ok().stdout; !strings.Contains(errors, "\ninputs from the data: ") {
		t.Errorf("eval --errors does not say that tags are gold: %s", errors)
	}
	first := dsp(t, "eval", "--model", model, "--data", test, "--tagger", "upos="+tags).ok().stdout
	if again := dsp(t, "eval", "--model", model, "--data", bare, "--tagger", tags).ok().stdout; strings.Contains(first, "inputs from the data: upos") || first != again {
		t.Errorf("eval with a tagger depends on the tags in the data:\n%s\n%s", first, again)
	}
	dsp(t, "eval", "--model", model, "--data", test, "--tagger", "nothing="+tags).refused(exitBadInput, "--tagger", "nothing", "upos")
	dsp(t, "predict", "--model", tags, "--input", bare, "--tagger", tags).refused(exitBadInput, "--tagger", "words alone")
	dsp(t, "predict", "--model", tags, "--input", bare, "--into", "nothing").refused(exitBadInput, "--into nothing", "lemma")
	dsp(t, "predict", "--model", tags, "--input", bare, "--into", "upos", "--json").refused(exitBadInput, "--into", "--json")
	dsp(t, "predict", "--model", tags, "--input", bare, "--scheme", "iob1").refused(exitBadInput, "--scheme", "O, B-x, I-x")
	dsp(t, "serve", "--model", tags, "--tagger", tags, "--listen", "127.0.0.1:0").refused(exitBadInput, "--tagger")

	s := serve(t, "--model", model, "--tagger", tags)
	var got, expected rawJSON
	body := `{"text": "Leo may eat another apple."}`
	code, answer := s.post("/predict", body)
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatalf("%d: %s", code, answer)
	}
	expected = objects[rawJSON](dspWith(t, "Leo may eat another apple.", "predict", "--model", model, "--text", "--json", "--tagger", tags).ok())[0]
	if !slices.Equal(got.Heads, expected.Heads) || len(got.Heads) != 6 {
		t.Errorf("served %v, predicted %v", got.Heads, expected.Heads)
	}
}

// upos returns the fourth column of CoNLL-U.
func upos(text string) string {
	var all []string
	for line := range strings.Lines(text) {
		if fields := strings.Split(line, "\t"); len(fields) == 10 {
			all = append(all, fields[3])
		}
	}
	return strings.Join(all, " ")
}

// Text with a sentence per line and blanks between tokens is taken as it is.
func TestPretokenised(t *testing.T) {
	t.Parallel()
	got := dspWith(t, "don't  U.S.-led fox.\nand so\ton. Yes\n\n", "predict", "--model", wordTagger(t), "--lines", "--pretokenised").ok().stdout
	var words []string
	for line := range strings.Lines(got) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words = append(words, word)
	}
	if want := []string{"don't", "U.S.-led", "fox.", "", "and", "so", "on.", "Yes", ""}; !slices.Equal(words, want) {
		t.Errorf("%q, expected %q", words, want)
	}
	words = nil // with a sentence per line that is to be split into tokens
	got = dspWith(t, "It ends. Yes!\nthe fox\n", "predict", "--model", wordTagger(t), "--presegmented").ok().stdout
	for line := range strings.Lines(got) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words = append(words, word)
	}
	if want := []string{"It", "ends", ".", "Yes", "!", "", "the", "fox", ""}; !slices.Equal(words, want) {
		t.Errorf("%q, expected %q", words, want)
	}
	dspWith(t, "x", "predict", "--model", wordTagger(t), "--presegmented", "--pretokenised").refused(exitBadInput, "leave --presegmented out")
}

// A file of words alone gets a column behind a tab: it has no separator of its own.
func TestOneColumn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	dsp(t, "train", "--train", write(t, "words.conll", strings.Repeat("the D\nfox N\n\n", 10)), "--passes", "3", "--out", dir, "--quiet").ok()
	for in, separator := range map[string]string{"the\nfox\n": "\t", "the D\nfox N\n": " "} {
		if out := dspWith(t, in, "predict", "--model", dir).ok().stdout; !strings.HasPrefix(out, "the"+separator) {
			t.Errorf("%q labelled as %q, expected the separator %q", in, out, separator)
		}
	}
}

// Predicted entities replace the gold ones in the scheme that the file has.
func TestIntoInScheme(t *testing.T) {
	t.Parallel()

	gold := write(t, "iob1.conll", strings.Repeat("red I-X x\nfox I-X x\nfox B-X x\nruns O x\n\n", 20))
	dir := filepath.Join(t.TempDir(), "ner")
	dsp(t, "train", "--train", gold, "--columns", "word=0,label=1", "--scheme", "bioes", "--passes", "20", "--out", dir, "--quiet").ok()
	in := "red ? x\nfox ? x\nfox ? x\nruns ? x\n\n"
	got := dspWith(t, in, "predict", "--model", dir, "--into", "label", "--scheme", "iob1").ok().stdout
	if want := "red I-X x\nfox I-X x\nfox B-X x\nruns O x\n\n"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	for scheme, file := range map[string]string{
		"iob1":  "red I-X x\nfox I-X x\nfox B-X x\nruns O x\n\n",
		"iob2":  "red B-X x\nfox I-X x\nfox B-X x\nruns O x\n\n",
		"bioes": "red B-X x\nfox E-X x\nfox S-X x\nruns O x\n\n",
	} {
		if got := dspWith(t, strings.Repeat(file, 3), "predict", "--model", dir, "--into", "label").ok().stdout; got != strings.Repeat(file, 3) {
			t.Errorf("%s in: %q", scheme, got)
		}
	}
	if got := dspWith(t, in, "predict", "--model", dir, "--json", "--scheme", "iob2").ok().stdout; !strings.Contains(got, `"labels":["B-X","I-X","B-X","O"]`) {
		t.Errorf("iob2: %s", got)
	}
}
