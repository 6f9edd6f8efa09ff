package documents

import (
	"runtime"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// Documents that are nested deep, however that is written, and long ones are refused in little memory.
func TestParseYAMLRefuses(t *testing.T) {
	for _, begin := range []string{"[", "{", "- ", "? ", "[[", "[{a: ", "- [", "'a]' : [", "- ? ", "[}", "{]", "&a [",
		"!!seq [", "-\t", "a: [", "- - - ", "[ # ]\n", "[\n"} {
		text := strings.Repeat(begin, MostBytes/len(begin))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ParseYAML("f", []byte(text))
		runtime.ReadMemStats(&after)
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("%q…: %v", begin, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 400*MostBytes {
			t.Errorf("%q…: %d MiB were taken for a document of %d KiB", begin, taken>>20, MostBytes>>10)
		}
	}
	if _, err := ParseYAML("f", make([]byte, MostBytes+1)); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "f: 262145 bytes of YAML, expected at most") {
		t.Errorf("a long document: %v", err)
	}
}

// The bound of depth counts lists and mappings that are open, not brackets: a long list of short ones is shallow, and
// brackets in text are text.
func TestParseYAMLTakes(t *testing.T) {
	nested := ""
	for level := range MostDepth / 2 {
		nested += strings.Repeat(" ", 2*level) + "a:\n"
	}
	for _, text := range []string{
		"", "# nothing\n", "a: 1\n",
		"all: [" + strings.Repeat("[1, 2], ", 2000) + "]\n",
		strings.Repeat("- {a: [1, 2]}\n", 2000),
		strings.Repeat("- a: 1\n  b:\n    - c\n", 2000),
		"a: '" + strings.Repeat("[", 2000) + "'\nb: \"" + strings.Repeat("{", 2000) + "\"\n",
		"a: |\n  " + strings.Repeat("[", 2000) + "\n", "a: x" + strings.Repeat("[", 2000) + "\n",
		strings.Repeat("[", MostDepth-1) + strings.Repeat("]", MostDepth-1), nested,
	} {
		if _, err := ParseYAML("f", []byte(text)); err != nil {
			t.Errorf("%.40q…: %v", text, err)
		}
	}
}

// Any text is parsed or refused in bounded memory.
func FuzzParseYAML(f *testing.F) {
	for _, seed := range []string{"a: 1\nb: [2, {c: d}]\n", "- features\n- dense: {units: 5}\n", strings.Repeat("[", 70),
		strings.Repeat("- ", 70), "a: &x [*x]\n", "{{{", "? ? ? a\n", "\"\\u00", "a: |\n  b\n", "%YAML 1.2\n---\n..."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := ParseYAML("x.yaml", []byte(text)); err != nil && !structured.IsBadInput(err) {
			t.Errorf("%v", err)
		}
		runtime.ReadMemStats(&after)
		if taken, most := after.TotalAlloc-before.TotalAlloc, uint64(16<<20+4096*len(text)); taken > most {
			t.Errorf("%d bytes took %d, expected at most %d", len(text), taken, most)
		}
	})
}
