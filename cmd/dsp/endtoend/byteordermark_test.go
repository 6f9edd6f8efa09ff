package endtoend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files and requests with a mark of byte order are read as those without.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	const mark = "\xef\xbb\xbf"
	copyOf := func(name, content string) (plain, marked string) {
		return write(t, name, content), write(t, name, mark+content)
	}
	same := func(plain, marked string, args ...string) {
		t.Helper()
		of := func(file string) string {
			all := append([]string{}, args...)
			for k, arg := range all {
				if arg == "FILE" {
					all[k] = file
				}
			}
			return strings.ReplaceAll(dsp(t, all...).ok().stdout, file, "FILE")
		}
		if got, want := of(marked), of(plain); got != want {
			t.Errorf("%v: %s\nexpected %s", args, got, want)
		}
	}
	plain, marked := copyOf("x.conllu", "# sent_id = a\n"+sentenceWith("dogs bark loudly", "2 0 2"))
	same(plain, marked, "predict", "--model", parser(t), "--input", "FILE")
	plain, marked = copyOf("x.uai", "MARKOV\n1\n2\n1\n1 0\n2 0.25 0.75\n")
	same(plain, marked, "infer", "FILE", "--task", "pr")
	plain, marked = copyOf("x.mrg", "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))\n(S (VP (VBZ barks) (NP (NN dog))))\n")
	for _, file := range []string{plain, marked} {
		dsp(t, "train", "--task", "constituency", "--train", file, "--passes", "1", "--out", filepath.Join(t.TempDir(), "run")).ok()
	}
	test := filepath.Join(drawnObjects(t), "test.json")
	content, err := os.ReadFile(test)
	if err != nil {
		t.Fatal(err)
	}
	same(test, write(t, "x.json", mark+string(content)), "eval", "--model", locator(t), "--data", "FILE", "--images", filepath.Dir(test), "--json")

	s := serve(t, "--model", tagger(t))
	const object = `{"words": ["John", "sleeps"]}`
	_, want := s.post("predict", object)
	if code, got := s.post("predict", mark+object); code != 200 || got != want {
		t.Errorf("%d %s, expected %s", code, got, want)
	}
}
