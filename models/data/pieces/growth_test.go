package pieces

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

// with returns the file of a WordPiece tokenizer with a component in place of its own.
func with(t testing.TB, name string, component any) []byte {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(read(t, "wordpiece"), &all); err != nil {
		t.Fatal(err)
	}
	all[name] = component
	content, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func replace(from, to string) any {
	return map[string]any{"type": "Replace", "pattern": map[string]string{"String": from}, "content": to}
}

// precompiledTo is a table in which every character a becomes a text.
func precompiledTo(text string) any {
	units := make([]uint32, 256)
	units[0] = 1 << 10                // the root's children begin at 1
	units[1^'a'] = 'a' | 1<<8 | 2<<10 // a ends a key, whose leaf is 2 further
	units[1^'a'^2] = 1 << 31          // that of the first text
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, uint32(4*len(units)))
	_ = binary.Write(&b, binary.LittleEndian, units)
	b.WriteString(text + "\x00")
	return map[string]any{"type": "Precompiled", "precompiled_charsmap": base64.StdEncoding.EncodeToString(b.Bytes())}
}

// However normalisers make text grow, a word that would become too long is refused in little memory.
func TestNormalisersMayNotGrow(t *testing.T) {
	ten := strings.Repeat("a", 10)
	regex := map[string]any{"type": "Replace", "pattern": map[string]string{"Regex": "[a-c]"}, "content": ten}
	for name, component := range map[string]any{
		"twelve":      map[string]any{"type": "Sequence", "normalizers": slices.Repeat([]any{replace("a", ten)}, 12)},
		"regex":       map[string]any{"type": "Sequence", "normalizers": slices.Repeat([]any{regex}, 12)},
		"long":        replace("a", strings.Repeat("a", 1<<20)),
		"prepend":     map[string]any{"type": "Prepend", "prepend": strings.Repeat("x", 1<<20)},
		"precompiled": precompiledTo(strings.Repeat("a", 1<<20)),
		"mixed": map[string]any{"type": "Sequence",
			"normalizers": slices.Repeat([]any{replace("a", "bbbbbbbb"), replace("b", "aaaaaaaa")}, 6)},
	} {
		tok, err := Parse(with(t, "normalizer", component), name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = tok.NewCutter().Cut(nil, strings.Repeat("a", 100))
		runtime.ReadMemStats(&after)
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), "expected at most 10496") {
			t.Errorf("%s: %v", name, err)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 16<<20 {
			t.Errorf("%s: %d MiB were taken", name, taken>>20)
		}
	}
	tok, err := Parse(with(t, "normalizer", precompiledTo("bb")), "short") // the table of this test is one
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tok.normalise("xax", 100); got != "xbbx" || err != nil {
		t.Errorf("a becomes bb: %q, %v", got, err)
	}
}

// Sequences that no tokenizer has, and sizes that take too long to cut words by, are refused.
func TestRefusesLargeTokenizers(t *testing.T) {
	nested := func(list string, n int) any {
		var all any = map[string]any{"type": "Sequence", list: []any{}}
		for range n {
			all = map[string]any{"type": "Sequence", list: []any{all}}
		}
		return all
	}
	byteLevel := map[string]any{"type": "ByteLevel", "use_regex": false}
	for _, c := range []struct {
		name      string
		component any
		want      string
	}{
		{"normalizer", map[string]any{"type": "Sequence", "normalizers": slices.Repeat([]any{replace("a", "b")}, 65)},
			"a sequence of 65 components"},
		{"normalizer", nested("normalizers", 9), "inside of 8 others, expected at most 64, inside of 7"},
		{"pre_tokenizer", nested("pretokenizers", 9), "inside of 8 others"},
		{"pre_tokenizer", map[string]any{"type": "Sequence", "pretokenizers": slices.Repeat([]any{byteLevel}, 40)},
			"ByteLevel twice"},
		{"pre_tokenizer", map[string]any{"type": "Metaspace", "replacement": strings.Repeat("x", 1<<20)},
			"expected one character"},
		{"model", map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "vocab": map[string]int{"[UNK]": 0},
			"max_input_chars_per_word": 1 << 40}, "expected 0 to 1000"},
		{"model", map[string]any{"type": "WordPiece", "unk_token": "[UNK]",
			"vocab": map[string]int{"[UNK]": 0, strings.Repeat("x", 2000): 1}}, "a piece of 2000 bytes"},
		{"model", map[string]any{"type": "Unigram", "unk_id": 0,
			"vocab": []any{[]any{"<unk>", 0}, []any{strings.Repeat("x", 2000), -1}}}, "a piece of 2000 bytes"},
	} {
		if _, err := Parse(with(t, c.name, c.component), "x"); !structured.IsBadInput(err) ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A table that is cut off is refused; an empty one changes nothing.
func TestPrecompiledTables(t *testing.T) {
	cut := []byte{8, 0, 0, 0, 1, 1, 1, 1} // a table of 8 bytes, of which 4 are there
	for table, message := range map[string]string{
		"no base 64!": "precompiled_charsmap", base64.StdEncoding.EncodeToString(cut[:3]): "ends in the middle",
		base64.StdEncoding.EncodeToString(cut[:4]): "ends in the middle",
		base64.StdEncoding.EncodeToString(cut):     "ends in the middle",
	} {
		_, err := Parse(with(t, "normalizer", map[string]any{"type": "Precompiled", "precompiled_charsmap": table}), "cut")
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: %v, expected %q", table, err, message)
		}
	}
	tok, err := Parse(with(t, "normalizer", map[string]any{"type": "Precompiled", "precompiled_charsmap": ""}), "empty")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tok.normalise("x Å", 100); got != "x Å" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
