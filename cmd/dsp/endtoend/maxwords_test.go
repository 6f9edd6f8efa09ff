package endtoend

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// --max-words is the longest sentence in every verb that reads sentences, from files and drawn, and has no meaning elsewhere.
func TestMaxWords(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "x")
	text := write(t, "x.conll", sentences)
	dsp(t, "train", "--task", "ocr", "--max-words", "5", "--out", out).refused(2, "--max-words 5 has no effect with --task ocr")
	dsp(t, "train", "--task", "warp", "--max-words", "5", "--out", out).refused(2, "--max-words 5 has no effect on drawn data")
	dsp(t, "eval", "--model", reader(t), "--data", "builtin", "--max-words", "5").refused(2, "--max-words 5 has no effect", "ocr")
	dsp(t, "eval", "--model", tagger(t), "--data", text, "--max-words", "2").refused(2, "at most 2; --max-words 4", "x.conll:1:")
	dsp(t, "eval", "--model", tagger(t), "--data", "x.npz", "--format", "npz", "--max-words", "2").refused(2, "--max-words 2 has no effect with --format npz")
	dsp(t, "report", tagger(t), "--max-words", "2", "--out", out+".html").refused(2, "--max-words", "--data")
	dsp(t, "report", tagger(t), "--data", text, "--max-words", "2", "--out", out+".html").refused(2, "at most 2; --max-words 4")
	dsp(t, "report", tagger(t), "--bad", "skip", "--out", out+".html").refused(2, "--bad", "--data")
	dsp(t, "export", "--model", tagger(t), "--weights", "--max-words", "2", "--to", out+".txt").refused(2, "--max-words has no effect with --weights")
	dsp(t, "serve", "--model", reader(t), "--max-words", "5").refused(2, "--max-words 5 has no effect", "--max-positions")
	dsp(t, "serve", "--model", tagger(t), "--max-words", "-1").refused(2, "--max-words -1")
	warp := filepath.Join(t.TempDir(), "warp")
	dsp(t, "train", "--task", "warp", "--passes", "1", "--examples", "4,2,2", "--baselines", "off", "--quiet", "--out", warp).ok()
	dsp(t, "eval", "--model", warp, "--data", "builtin", "--max-words", "1").refused(2, "expected at most 1; --max-words")
	if said := dsp(t, "eval", "--model", warp, "--data", "builtin", "--max-words", "7", "--bad", "skip").ok().stderr; !strings.Contains(said, "expected at most 7") {
		t.Errorf("what is left out is not said: %s", said)
	}
	dsp(t, "eval", "--model", warp, "--data", write(t, "x.pairs", "a b c ||| d e ||| 0-0 1-1 2-1\n"), "--max-words", "3").ok()
	dsp(t, "eval", "--model", warp, "--data", write(t, "x.pairs", "a b ||| c d e f ||| 0-0 1-1 1-2 1-3\n"), "--max-words", "3").refused(2, "a sentence of 4 words")
}

// A pipeline refuses a sentence that is too long before it makes anything of it, wherever the sentence comes from.
func TestPipelineMaxWords(t *testing.T) {
	t.Parallel()
	model, _ := aPipeline(t)
	line := func(n int) (text string) {
		for k := range n {
			text += fmt.Sprintf("%d\tx\t_\t_\t_\t_\t_\t_\t_\t_\n", k+1)
		}
		return text + "\n"
	}
	dspWith(t, "# a\n"+line(5001), "predict", "--model", model).refused(2, "standard input:2: a sentence of 5001 words, expected at most 5000", "--max-words 5001")
	dspWith(t, "# a\n"+line(4), "predict", "--model", model, "--max-words", "3").refused(2, "standard input:2: a sentence of 4 words, expected at most 3")
	if got := dspWith(t, line(4)+line(3), "predict", "--model", model, "--max-words", "3", "--bad", "skip").ok().stdout; strings.Count(got, "\n") != 4 {
		t.Errorf("%s", got)
	}
	dspWith(t, line(6), "predict", "--model", model, "--fill", "upos", "--max-words", "6").ok()
	dspWith(t, "a b c d\n", "predict", "--model", model, "--pretokenised", "--max-words", "3").refused(2, "a sentence of 4 words, expected at most 3", `"a b c"`)
	dspWith(t, line(3), "predict", "--model", model, "--max-words", "-3").refused(2, "--max-words -3")
	_, path := drawTreebank(t, 3, 4)
	short := write(t, "short.conllu", "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
	dsp(t, "eval", "--model", model, "--data", short+","+path, "--max-words", "1").refused(2, " "+path+":", "expected at most 1")
}

// A server has the same limit, and another where pairs of words are scored, unless it is given.
func TestServeMaxWords(t *testing.T) {
	t.Parallel()
	model, _ := aPipeline(t)
	models := []string{"--model", "tag=" + tagger(t), "--model", "trees=" + parser(t), "--model", "line=" + model}
	words := func(n int) string { return `["a"` + strings.Repeat(`,"a"`, n-1) + `]` }
	s := serve(t, models...)
	s.refuses(400, "predict/tag", `{"words":`+words(10001)+`}`, "10001 words, expected at most 10000 (--max-words)")
	s.refuses(400, "predict/trees", `{"words":`+words(513)+`,"pos":`+words(513)+`}`, "513 words, expected at most 512 (--max-words)")
	s = serve(t, append(models, "--max-words", "2")...)
	s.refuses(400, "predict/tag", `{"words":`+words(3)+`}`, "3 words, expected at most 2 (--max-words)")
	s = serve(t, append(models, "--max-words", "1")...) // the pipeline divides text, but not into single words
	s.refuses(400, "predict/line", `{"text":"a b c d e f g h"}`, "expected at most 1", "--max-words")
	s = serve(t, append(models, "--max-words", "520")...)
	if code, answer := s.post("predict/trees", `{"words":`+words(520)+`,"pos":`+words(520)+`}`); code != 200 {
		t.Errorf("%d %.200s", code, answer)
	}
}
