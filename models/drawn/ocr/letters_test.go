package ocr

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/models/data/remarks"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

func TestWriteOCRReadsBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ocr")
	o := OCRWords{Train: 40, Dev: 0, Test: 70, Difficulty: 1.5, Seed: 3}
	if err := WriteOCR(dir, o); err != nil {
		t.Fatal(err)
	}
	train, _, test := o.Generate()
	for name, want := range map[string]*structured.Dataset{"train": train, "test": test} {
		f, err := host.Open(filepath.Join(dir, name+".data"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := ReadLetters(f, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Features, want.Features) || !reflect.DeepEqual(got.Labels, want.Labels) ||
			!reflect.DeepEqual(got.Offsets, want.Offsets) {
			t.Errorf("%s reads back different", name)
		}
		if fold := map[string]int{"train": 0, "test": 2}[name]; got.Folds[0] != fold {
			t.Errorf("%s is fold %d, want %d", name, got.Folds[0], fold)
		}
	}
	for _, name := range []string{"train", "dev", "test", "difficulty"} {
		f, err := os.Open(filepath.Join(dir, name+".png"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		page, err := png.Decode(f)
		if err != nil {
			t.Fatalf("%s.png: %v", name, err)
		}
		darkest, _, _, _ := page.At(0, 0).RGBA()
		for y := range letterRows * sheetScale { // of the first line of words, without its captions
			for x := range 600 {
				grey, _, _, _ := page.At(x, sheetMargin+y).RGBA()
				darkest = min(darkest, grey)
			}
		}
		if inked := name != "dev"; inked != (darkest < 0x4000) {
			t.Errorf("%s.png: the darkest pixel is %#x", name, darkest)
		}
	}
}

func letterLines(fold int, words ...string) string {
	var b strings.Builder
	id := 1
	for w, word := range words {
		for i, c := range word {
			next := id + 1
			if i == len(word)-1 {
				next = -1
			}
			// A trailing tab, as in Taskar's file.
			fmt.Fprintf(&b, "%d\t%c\t%d\t%d\t%d\t%d\t%s\n", id, c, next, w+1, i+1, (fold+w)%10, strings.Repeat("0\t1\t", 64))
			id++
		}
	}
	return b.String()
}

func TestReadLetters(t *testing.T) {
	l, err := ReadLetters(strings.NewReader(letterLines(4, "ab", "c", "dd")), "letter.data", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(l.Offsets, []int{0, 2, 3, 5}) || !reflect.DeepEqual(l.Labels, []int32{0, 1, 2, 3, 3}) ||
		!reflect.DeepEqual(l.Folds, []int{4, 5, 6}) || l.Where(2) != "letter.data:4" ||
		l.Features[0] != 0 || l.Features[1] != 1 {
		t.Errorf("got %+v", l)
	}
	train, test, err := l.Split(5)
	if err != nil || !reflect.DeepEqual(train.Labels, []int32{0, 1, 3, 3}) || !reflect.DeepEqual(test.Labels, []int32{2}) {
		t.Errorf("split: %v, %v, %v", train, test, err)
	}
	if len(train.Features) != 4*128 || train.Where(1) != "letter.data:4" || test.ID(0) != "2" {
		t.Errorf("split loses parts of the words")
	}
	if _, _, err := l.Split(7); !structured.IsBadInput(err) || !strings.Contains(err.Error(), "folds go from 4 to 6") {
		t.Errorf("missing fold: %v", err)
	}
	unknown, err := ReadLetters(strings.NewReader(letterLines(0, "??", "?")), "x", nil)
	if err != nil || unknown.Labels != nil || unknown.Len() != 2 {
		t.Errorf("unknown letters: %v, %v", unknown, err)
	}
}

func TestReadLettersErrors(t *testing.T) {
	good := letterLines(0, "ab")
	for _, test := range []struct{ text, want string }{
		{"", "x: no letters, expected lines of 134 tab-separated columns"},
		{good + "1\ta\t2\n", "x:3: 3 columns, expected 134"},
		{strings.Replace(good, "\tb\t", "\tB\t", 1), `x:2: letter "B", expected a to z`},
		{strings.Replace(good, "\tb\t", "\t?\t", 1), "x: 1 of 2 letters are unknown"},
		{strings.Replace(good, "\t0\t1\t0\t1", "\t0\t1\t0\t1.5", 1),
			`x:1: pixel p_0_3 is "1.5", expected a number from 0 to 1`},
		{strings.Replace(good, "\t1\t0\t1", "\t1\t0\tNaN", 1), `x:1: pixel p_0_3 is "NaN"`},
		{strings.Replace(good, "1\ta\t2\t1", "1\ta\t2\tone", 1), `x:1: word_id is "one", expected an integer`},
		{strings.Replace(good, "2\tb\t-1\t1", "2\tb\t-1\t7", 1), "x:2: word_id 7 in fold 0 inside word 1 in fold 0"},
		{strings.Replace(good, "2\tb\t-1\t1\t2\t0", "2\tb\t-1\t1\t2\t3", 1),
			"x:2: word_id 1 in fold 3 inside word 1 in fold 0"},
		{strings.Replace(good, "2\tb\t-1\t1", "3\tb\t-1\t1", 1), "x:2: id 3, expected 2, the next_id of the line before"},
		{strings.Replace(good, "2\tb\t-1\t1\t2", "2\tb\t-1\t1\t3", 1), "x:2: position 3 in word 1, expected 2, one more " +
			"than in the line before"},
		{strings.Replace(good, "1\ta\t2\t1\t1", "1\ta\t2\t1\t0", 1),
			"x:1: position 0 at the beginning of word 1, expected 1"},
		{strings.Replace(good, "2\tb\t-1", "2\tb\t3", 1), "x:2: the file ends inside word 1"},
	} {
		_, err := ReadLetters(strings.NewReader(test.text), "x", nil)
		if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	fmt.Fprint(w, "hello")
	w.Close()
	plain, packed, cut := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	for path, content := range map[string]string{plain: "hello", packed: z.String(), cut: z.String()[:z.Len()-6]} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{plain, packed} {
		f, err := host.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		in := host.NewLines(f, path)
		if line, ok := in.Next(); !ok || string(line) != "hello" || in.Err() != nil {
			t.Errorf("%s: %q, %v", path, line, in.Err())
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	f, err := host.Open(cut)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in := host.NewLines(f, cut)
	for ok := true; ok; _, ok = in.Next() {
	}
	if !structured.IsBadInput(in.Err()) {
		t.Errorf("a file cut short: %v", in.Err())
	}
	for _, path := range []string{dir, filepath.Join(dir, "missing")} {
		if _, err := host.Open(path); !structured.IsBadInput(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func FuzzReadLetters(f *testing.F) {
	f.Add(letterLines(0, "ab", "?"))
	f.Add(letterLines(3, "x")[:40])
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ReadLetters(strings.NewReader(text), "fuzz", nil)
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Fatalf("%v is not marked as bad input", err)
			}
			return
		}
		var b bytes.Buffer
		if err := WriteLetters(&b, l.Dataset, 0); err != nil {
			t.Fatal(err)
		}
		again, err := ReadLetters(&b, "again", nil)
		if err != nil || !reflect.DeepEqual(again.Features, l.Features) || !reflect.DeepEqual(again.Labels, l.Labels) ||
			!reflect.DeepEqual(again.Offsets, l.Offsets) {
			t.Fatalf("does not read back: %v", err)
		}
	})
}

// Words with a broken line are left out, and those with unknown letters where others are known.
func TestWordsLeftOut(t *testing.T) {
	good := letterLines(0, "ab", "c", "dd", "e")
	lines := strings.SplitAfter(good, "\n")
	with := func(k int, line string) string {
		all := slices.Clone(lines)
		all[k] = line
		return strings.Join(all, "")
	}
	for name, c := range map[string]struct {
		text string
		want []int // lengths
	}{
		"first letter":   {with(0, "1\tA"+lines[0][3:]), []int{1, 2, 1}},
		"last letter":    {with(4, strings.Replace(lines[4], "\t0", "\t7", 1)), []int{2, 1, 1}},
		"no last letter": {with(1, ""), []int{1, 2, 1}}, "columns": {with(2, "x\n"), []int{2, 2, 1}},
		"unknown": {with(3, strings.Replace(lines[3], "\td\t", "\t?\t", 1)), []int{2, 1, 1}},
		"end":     {strings.Join(lines[:4], ""), []int{2, 1}},
	} {
		say := remarks.New(true)
		l, err := ReadLetters(strings.NewReader(c.text), "x", say)
		if err != nil || len(say.Reasons()) != 1 {
			t.Errorf("%s: %v, %q", name, err, say.Reasons())
			continue
		}
		var got []int
		for i := range l.Len() {
			got = append(got, l.Length(i))
		}
		if !slices.Equal(got, c.want) || len(l.Folds) != len(got) || len(l.Features) != l.Positions()*l.Dim ||
			len(l.Labels) != l.Positions() {
			t.Errorf("%s: words of %v letters, expected %v; %q", name, got, c.want, say.Reasons())
		}
		if _, err := ReadLetters(strings.NewReader(c.text), "x", nil); !structured.IsBadInput(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A fold that leaves no words on one side is refused, with how many there are on each.
func TestSplit(t *testing.T) {
	l, err := ReadLetters(strings.NewReader(letterLines(3, "ab")), "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for fold, want := range map[int]string{7: "fold 7 leaves 1 training and 0 test words; its folds go from 3 to 3",
		3: "fold 3 leaves 0 training and 1 test words"} {
		if _, _, err := l.Split(fold); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %s", err, want)
		}
	}
}
