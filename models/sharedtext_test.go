package models

import (
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/segments"
	"github.com/dsp-go/dsp/train"
	"github.com/dsp-go/dsp/train/engine"
	"github.com/dsp-go/dsp/train/ranks"
	"github.com/dsp-go/dsp/train/ranks/rankstest"
)

// drawFiles writes text files of a format, with blank lines, comments and documents in odd places, and returns their
// names. Labels that are known in part are sets of labels, too, some of which are mistakes in rare files.
func drawFiles(t *rapid.T, dir, format string, partial bool) string {
	var files []string
	labels := []string{"O", "O", "B-A", "I-A", "B-B"}
	if partial {
		labels = append(labels, "?", "_", "B-B|B-A", "O|I-A", "O|B-A|O")
		if rapid.IntRange(0, 9).Draw(t, "mistakes") == 0 {
			labels = append(labels, "O||B-A")
		}
	}
	for k := range rapid.IntRange(1, 3).Draw(t, "files") {
		end, text := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "ends of lines"), ""
		if rapid.Bool().Draw(t, "mark of byte order") {
			text = "\xef\xbb\xbf"
		}
		for range rapid.IntRange(1, 60).Draw(t, "sentences") {
			text += strings.Repeat(rapid.SampledFrom([]string{"", " "}).Draw(t, "blank line")+end, rapid.SampledFrom([]int{0, 0, 0, 1, 9}).Draw(t, "more blank lines"))
			times, begin := rapid.SampledFrom([]int{1, 1, 20}).Draw(t, "times"), len(text)
			switch odd := rapid.IntRange(0, 3).Draw(t, "before"); {
			case format == "conllu" && odd < 2:
				text += "# a comment" + end
			case format == "conll" && odd == 0:
				text += rapid.SampledFrom([]string{"# X O", "# X 7", "# x", "# a = b\tO"}).Draw(t, "hash") + end // the first is a token
			case format == "conll" && odd == 1:
				text += "-DOCSTART- O O" + end + end
			case format == "crfsuite" && odd == 0:
				text += rapid.SampledFrom([]string{"@weight:2", "@weight:0.5"}).Draw(t, "weight") + end
			}
			for w := range rapid.IntRange(1, 12).Draw(t, "words") {
				word, tag := rapid.StringMatching(`[a-cß]{1,3}`).Draw(t, "word"), rapid.SampledFrom(labels).Draw(t, "label")
				if !strings.Contains(text, "B-") {
					tag = "B-A" // so that labels are entity tags
				}
				switch format {
				case "conllu":
					if rapid.IntRange(0, 5).Draw(t, "several words") == 0 {
						text += fmt.Sprintf("%d-%d\tab\t_\t_\t_\t_\t_\t_\t_\t_", w+1, w+2) + end
					}
					text += fmt.Sprintf("%d\t%s\t_\t%s\t_\t_\t0\troot\t_\t_", w+1, word, tag) + end
				case "crfsuite":
					text += tag + "\tw=" + word + rapid.SampledFrom([]string{"", "", ":2", ":-0.5", "\\\\"}).Draw(t, "value") + rapid.SampledFrom([]string{"", "\tb", "\tw=a\tb"}).Draw(t, "more") + end
				default:
					text += word + " X " + tag + end
				}
			}
			text += end
			text += strings.Repeat(text[begin:], times-1)
		}
		text = strings.TrimSuffix(text, rapid.SampledFrom([]string{"", end, end + end}).Draw(t, "missing end")) // of the last line, too
		files = append(files, filepath.Join(dir, fmt.Sprint("train", k)))
		if rapid.IntRange(0, 2).Draw(t, "compressed") == 0 {
			text = gzipped(text)
		}
		if err := os.WriteFile(files[k], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(files, ",")
}

// gzipped returns a text compressed by gzip.
func gzipped(text string) string {
	var b strings.Builder
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil || z.Close() != nil {
		panic(err)
	}
	return b.String()
}

// inRanks makes the data of c as several processes that train together do, and calls check in each.
func inRanks(n int, c config.Config, check func(d *Data, err error) error) error {
	return rankstest.InProcess(context.Background(), n, func(ctx context.Context, g ranks.Group) error {
		r, err := Resolve(c)
		if err != nil {
			return err
		}
		d, err := r.SharedData(ranks.PeersOf(ctx, g))
		return check(d, err)
	})
}

// drawModel writes an untrained model of text files that it draws, and returns its path; empty if there is none of such
// files.
func drawModel(t *rapid.T, dir string, c config.Config) string {
	c.Train = drawFiles(t, dir, c.Format, c.Partial)
	r, err := Resolve(c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Data()
	if err != nil {
		return ""
	}
	m, err := NewModel(c, d)
	if err != nil {
		return ""
	}
	path := filepath.Join(dir, ModelFile)
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// fewerCases has a test of properties whose cases take tens of milliseconds draw 30 of them, unless the user has said
// how many. Each run draws others.
func fewerCases(t *testing.T) {
	const usual = "100"
	checks := flag.Lookup("rapid.checks")
	was := checks.Value.String()
	if was != usual {
		return
	}
	if err := checks.Value.Set("30"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checks.Value.Set(was) })
}

// Several processes, of which each reads ranges of the text files, have the data that one process reads, and none has
// the text of examples that are not its own.
func TestReadInRanges(t *testing.T) {
	fewerCases(t)
	dir := t.TempDir()
	template := filepath.Join(dir, "template")
	whole := filepath.Join(dir, "whole")
	for path, lines := range map[string]string{template: "U%x[0,word]\nU%x[-1,word]/%x[0,known]\nB%x[0,word]\n", whole: "U%x[0,word]\nS%x[all,word]\nS%length/%x[first,word]\n"} {
		if err := os.WriteFile(path, []byte(lines), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		c := config.Default()
		c.Task, c.Net, c.Loss, c.Method, c.MinCount = "tag", "linear", "crf", "lbfgs", rapid.IntRange(1, 3).Draw(t, "least count")
		c.Format = rapid.SampledFrom([]string{"conll", "conllu", "crfsuite"}).Draw(t, "format")
		if c.Format == "conll" {
			c.Columns = "word=0,pos=1,label=-1"
		}
		c.Scheme = rapid.SampledFrom([]string{"keep", "bioes"}).Draw(t, "scheme")
		if c.Format != "crfsuite" && rapid.Bool().Draw(t, "template") {
			c.Template = template
		}
		if c.MinCount < 2 && rapid.Bool().Draw(t, "hash") {
			c.HashBits = 8
		}
		c.Partial = rapid.Bool().Draw(t, "partial")
		switch {
		case c.Partial:
			c.Scheme = "keep"
		case rapid.Bool().Draw(t, "segments"):
			c.Scheme, c.Structure, c.Overlong, c.MaxLength = "keep", "segments", "split", rapid.IntRange(0, 4).Draw(t, "longest")
			if c.Format != "crfsuite" && rapid.Bool().Draw(t, "attributes of segments") {
				c.Template = whole
			}
		}
		switch continued := rapid.SampledFrom([]string{"", "init", "prior"}).Draw(t, "continued by"); continued {
		case "init":
			c.Init = drawModel(t, dir, c)
		case "prior":
			c.Prior = drawModel(t, dir, c)
		}
		c.Train = drawFiles(t, dir, c.Format, c.Partial)
		r, err := Resolve(c)
		if err != nil {
			t.Fatal(err)
		}
		one, mistake := r.Data()
		want := ""
		switch {
		case mistake == nil:
			want = train.Fingerprint(one.Train)
		case !strings.Contains(mistake.Error(), "train"):
			t.Fatalf("a mistake outside of the files: %v", mistake)
		}
		err = inRanks(rapid.IntRange(2, 4).Draw(t, "processes"), c, func(d *Data, err error) error {
			if fmt.Sprint(err) != fmt.Sprint(mistake) || structured.IsBadInput(err) != structured.IsBadInput(mistake) {
				return fmt.Errorf("error %w, expected %w", err, mistake)
			}
			if err != nil {
				return nil
			}
			x := d.Train
			if (c.Template == whole) != (x.Table(segments.Rows) != nil) {
				return errors.New("attributes of segments are not those of the template")
			}
			if d.Share.Size() == 1 || x.Columns != nil {
				return errors.New("a process has the text, or the attributes, of all")
			}
			cut := engine.ShareOf(d.Share.Peers, one.Train)
			if d.Share.First != cut.First || d.Share.Last != cut.Last {
				return fmt.Errorf("examples %d to %d, expected %d to %d, by the rows that they have",
					d.Share.First, d.Share.Last, cut.First, cut.Last)
			}
			at := x.Attributes.Offsets
			if n := len(x.Attributes.Index) - at[x.Offsets[d.Share.Last]] + at[x.Offsets[d.Share.First]]; n > 0 {
				return fmt.Errorf("%d attributes of examples of other processes", n)
			}
			if got := train.DividedFingerprint(x, d.Share); got != want {
				return fmt.Errorf("fingerprint %s, expected %s", got, want)
			}
			for i := range x.Len() {
				if x.Where(i) != one.Train.Where(i) {
					return fmt.Errorf("example %d is at %s, expected %s", i, x.Where(i), one.Train.Where(i))
				}
			}
			if x.Name != one.Train.Name || !reflect.DeepEqual(x.ColumnNames, one.Train.ColumnNames) {
				return fmt.Errorf("%s has columns %q, expected %s and %q", x.Name, x.ColumnNames, one.Train.Name, one.Train.ColumnNames)
			}
			if err := d.Share.AllGatherAttributes(x); err != nil {
				return err
			}
			if got := train.Fingerprint(x); got != want {
				return fmt.Errorf("fingerprint of completed data %s, expected %s", got, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// A process keeps the text of its own examples, or their numbered attributes, and no other text, until their inputs are
// made.
func TestOwnText(t *testing.T) {
	for format, content := range map[string]string{"conll": "a b O\nb c B-A\n\n", "crfsuite": "B-A\ta:2\nO\tb\n\n"} {
		c := ofFiles(t, []string{strings.Repeat(content, 900), strings.Repeat(content, 500)})
		if c.Format = format; format == "crfsuite" {
			c.Columns = ""
		}
		err := rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
			r, err := Resolve(c)
			if err != nil {
				return err
			}
			raw, err := r.read(ranks.PeersOf(ctx, g))
			if err != nil {
				return err
			}
			own, n := raw.own, raw.share.Last-raw.share.First
			all := raw.Train
			if n == 0 || own.Len() != n || all.Len() != 1400 || all.Columns != nil || all.Attributes != nil {
				return fmt.Errorf("%d examples with text, expected %d of 1400, with %d columns of all",
					own.Len(), n, len(raw.Train.Columns))
			}
			words, numbered := own.Column("word"), own.Attributes != nil
			if (len(words) == 2*n) != (format == "conll") || numbered != (format == "crfsuite") {
				return fmt.Errorf("%d words of %d examples", len(words), n)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// ofFiles returns settings of training on files with these contents.
func ofFiles(t *testing.T, contents []string) config.Config {
	t.Helper()
	c, dir := config.Default(), t.TempDir()
	c.Task, c.Net, c.Loss, c.Method, c.Format, c.Columns = "tag", "linear", "crf", "lbfgs", "conll", "word=0,pos=1,label=-1"
	var paths []string
	for k, content := range contents {
		paths = append(paths, filepath.Join(dir, fmt.Sprint("train", k)))
		if err := os.WriteFile(paths[k], []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c.Train = strings.Join(paths, ",")
	return c
}

// A mistake anywhere in the files has the message of one process in all: the file, the line, and what was expected.
func TestMistakesInRanges(t *testing.T) {
	sentences := func(from, to int) string { return strings.Repeat("a b O\nb c B-A\n\n", to-from) }
	attributes := func(from, to int) string { return strings.Repeat("B-A\ta:2\nO\tb\n\n", to-from) }
	for name, files := range map[string][]string{
		"crfsuite: two":                 {attributes(0, 20) + "O\ta:b:c\n\n" + attributes(0, 10) + "O\t:2\n\n"},
		"crfsuite: second file":         {attributes(0, 20), attributes(0, 20) + "O\ta:x\n\n" + attributes(0, 9)},
		"crfsuite: weight of none":      {attributes(0, 20) + "@weight:2\n\n" + attributes(0, 20)},
		"crfsuite: weight at the end":   {attributes(0, 20) + "@weight:2"},
		"crfsuite: no label":            {attributes(0, 15) + "\ta\n\n" + attributes(0, 2)},
		"crfsuite: nothing":             {attributes(0, 20), "\n\n"},
		"segments: after several words": {strings.Repeat("1\ta\t_\tB-A\t_\t_\t_\t_\t_\t_\n\n", 20) + "1\ta\t_\tO\t_\t_\t_\t_\t_\t_\n2-3\tbc\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\tB-A\t_\t_\t_\t_\t_\t_\n3\tc\t_\tI-A\t_\t_\t_\t_\t_\t_\n"},
		"partial: first half":           {sentences(0, 5) + "a b O|\n\n" + sentences(0, 20)},
		"partial: second half":          {sentences(0, 25) + "a b B-A||O\n\n" + sentences(0, 2) + "b b O|\n"},
		"partial: not a label":          {sentences(0, 25), "a b ?\nb c |\n"},
		"partial: no column":            {strings.Repeat("a b\nb c\n\n", 30)},
		"first half":                    {sentences(0, 5) + "a O\n\n" + sentences(5, 40)},
		"second half":                   {sentences(0, 35) + "a O\n\n" + sentences(35, 40)},
		"two":                           {sentences(0, 5) + "a O\n\n" + sentences(5, 30) + "b O\n\n" + sentences(30, 40)},
		"wider lines":                   {strings.Repeat("a b c O\n\n", 30) + "a b c d O\n"},
		"second file":                   {sentences(0, 20), sentences(0, 15) + "a\n"},
		"other columns":                 {sentences(0, 20), strings.Repeat("a b c O\n\n", 30)},
		"no tokens":                     {sentences(0, 20), "\n\n-DOCSTART-\n\n", sentences(0, 20)},
		"nothing":                       {"\n \n\n"},
		"raw text":                      {"It is raw text and nothing else.\n"},
		"no tags to write":              {strings.Repeat("a b N\n\n", 20)},
		"compressed: second half":       {gzipped(sentences(0, 35) + "a O\n\n" + sentences(35, 40))},
		"compressed: second file":       {sentences(0, 20), gzipped(sentences(0, 15) + "a\n")},
		"compressed: cut":               {gzipped(sentences(0, 20)), gzipped(sentences(0, 4000))[:60]},
		"compressed: nothing":           {gzipped("")},
	} {
		t.Run(name, func(t *testing.T) {
			c := ofFiles(t, files)
			c.Scheme = "iob2"
			switch kind, _, _ := strings.Cut(name, ":"); kind {
			case "crfsuite":
				c.Format, c.Columns = kind, ""
			case "segments":
				c.Format, c.Columns, c.Scheme, c.Structure, c.MaxLength, c.Overlong = "conllu", "", "keep", "segments", 1, "refuse"
			case "partial":
				c.Partial, c.Scheme = true, "keep"
			}
			r, err := Resolve(c)
			if err != nil {
				t.Fatal(err)
			}
			_, want := r.Data()
			if !structured.IsBadInput(want) {
				t.Fatalf("one process: %v", want)
			}
			err = inRanks(3, c, func(_ *Data, err error) error {
				if !structured.IsBadInput(err) || err.Error() != want.Error() {
					return fmt.Errorf("%w, expected %w", err, want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Processes that read ranges each need memory for their part of the text and of the attributes, and for all labels and
// names.
func TestMemoryOfRanges(t *testing.T) {
	d := &structured.Dataset{Offsets: []int{0, 3}, Columns: [][]string{{"a", "b", "a"}, {"X", "X", "X"}}, Attributes: &structured.Sparse{Offsets: []int{0, 2, 4, 6}, Index: []int32{0, 1, 2, 1, 0, 2}}}
	all := d.Extent()
	saved := 0.75 * (2*3*16 + 2*6*4) // three of four parts of the cells, and of the attributes, which exist twice at times
	if got, want := all.Divided(4).Bytes(), all.Bytes()-saved; got != want {
		t.Errorf("%v bytes, expected %v", got, want)
	}
}

// Processes that find other files refuse them.
func TestRangesOfOtherFiles(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("a b O\nb c B-A\n\n", 40)
	small := filepath.Join(dir, "train.conll.gz")
	if err := os.WriteFile(small, []byte(gzipped(text)), 0o666); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Task, c.Net, c.Loss, c.Method, c.Format, c.Columns, c.Train = "tag", "linear", "crf", "lbfgs", "conll", "word=0,pos=1,label=-1", small
	if err := os.WriteFile(filepath.Join(dir, "more.conll"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	err := rankstest.InProcess(t.Context(), 2, func(ctx context.Context, g ranks.Group) error {
		c := c
		c.Train = strings.Join([]string{small, filepath.Join(dir, "more.conll")}[:1+g.Rank()], ",")
		r, err := Resolve(c)
		if err == nil {
			_, err = r.SharedData(ranks.PeersOf(ctx, g))
		}
		if !structured.IsBadInput(err) || !strings.Contains(err.Error(), "rank 1 finds 2 files, and rank 0 1") {
			return fmt.Errorf("more files: %w", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for _, other := range []string{text + "a b O\n", strings.Replace(text, "B-A", "B-B", 1)} { // longer, and as long
		err = rankstest.InProcess(t.Context(), 2, func(ctx context.Context, g ranks.Group) error {
			c := c
			c.Train = filepath.Join(dir, fmt.Sprint("of", g.Rank()))
			if err := os.WriteFile(c.Train, []byte([]string{text, other}[g.Rank()]), 0o666); err != nil {
				return err
			}
			r, err := Resolve(c)
			if err == nil {
				_, err = r.SharedData(ranks.PeersOf(ctx, g))
			}
			if want := fmt.Sprintf("rank 1 finds %d bytes with the checksum ", len(other)); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("other files: %w", err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// The last line of a file needs no end, and sentences may be fewer than processes, which then have ranges without a
// line.
func TestRangesWithoutLastEnd(t *testing.T) {
	for name, files := range map[string][]string{
		"one long line":  {"a b O\n\n" + strings.Repeat("x", 500) + " c B-A"},
		"two files":      {"a b O\n\nb c B-A", "a b O\n\nb c B-B"},
		"fewer than all": {"a b B-A"},
	} {
		t.Run(name, func(t *testing.T) {
			c := ofFiles(t, files)
			r, err := Resolve(c)
			if err != nil {
				t.Fatal(err)
			}
			one, err := r.Data()
			if err != nil {
				t.Fatal(err)
			}
			want := train.Fingerprint(one.Train)
			err = inRanks(4, c, func(d *Data, err error) error {
				if err == nil {
					err = d.Share.AllGatherAttributes(d.Train)
				}
				if err == nil && train.Fingerprint(d.Train) != want {
					err = errors.New("other data")
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Processes that find files of other formats under the same name, on machines of their own, are refused by name, in all
// orders.
func TestRangesOfOtherFormats(t *testing.T) {
	dir := t.TempDir()
	for k, content := range []string{"a b O\nb c B-A\n\n", "O\tw=a\tb\nB-A\tw=b\n\n"} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(k)), []byte(strings.Repeat(content, 40)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	formats := []string{"conll", "crfsuite"}
	for _, first := range []int{0, 1} {
		err := rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
			kind := (first + min(g.Rank(), 1)) % 2
			c := ofFiles(t, nil)
			c.Train, c.Format = filepath.Join(dir, fmt.Sprint(kind)), formats[kind]
			if kind == 1 {
				c.Columns = ""
			}
			r, err := Resolve(c)
			if err == nil {
				_, err = r.SharedData(ranks.PeersOf(ctx, g))
			}
			if want := fmt.Sprintf("rank 1 finds format %s, and rank 0 format %s: ", formats[1-first], formats[first]); !structured.IsBadInput(err) || !strings.Contains(err.Error(), want) {
				return fmt.Errorf("%w, expected %s", err, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Where only some processes have development or test data, they are refused by name: the others would wait for rows
// that these never tell.
func TestRangesWithoutDevelopmentData(t *testing.T) {
	for _, lacking := range []string{"dev", "test"} {
		for _, without := range []int{0, 2} { // rank
			c := ofFiles(t, []string{strings.Repeat("a b O\nb c B-A\n\n", 40)})
			c.Dev, c.Test = c.Train, c.Train
			found := []string{"a file", "a file", "a file"}
			found[without] = "no file"
			first := 2 // that differs from rank 0
			if without == 0 {
				first = 1
			}
			want := fmt.Sprintf("rank %d finds %s, and rank 0 %s: ", first, found[first], found[0])
			err := rankstest.InProcess(t.Context(), 3, func(ctx context.Context, g ranks.Group) error {
				c := c
				if g.Rank() == without && lacking == "dev" {
					c.Dev = ""
				} else if g.Rank() == without {
					c.Test = ""
				}
				r, err := Resolve(c)
				if err == nil {
					_, err = r.SharedData(ranks.PeersOf(ctx, g))
				}
				if !structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), "--"+lacking) || !strings.Contains(err.Error(), want) {
					return fmt.Errorf("rank %d: %v, expected %s", g.Rank(), err, want)
				}
				return nil
			})
			if err != nil {
				t.Errorf("--%s of all but rank %d: %v", lacking, without, err)
			}
		}
	}
}
