package formats

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsp-go/dsp/structured"
)

func TestDetect(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("the DT O\nbig JJ B-X\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, content, want string }{
		{"x.npz", "", "npz"},
		{"x.conll", "", "conll"},
		{"x.conll.gz", "", "conll"},
		{"letter.data", "", "letters"},
		{"letter.data.gz", "", "letters"},
		{"x", "PK\x03\x04\x14", "npz"},
		{"x.data", "1" + strings.Repeat("\t0", 133) + "\n", "letters"},
		{"x.tsv", "word\tO\n", "conll"},
		{"x.tsv", "word\tNN\tO\nx=1\tNN\tO\n", "conll"},
		{"x.conllu.gz", "", "conllu"},
		{"x.pairs.gz", "", "pairs"},
		{"x.txt", "das haus ||| the house\nja ||| yes\n", "pairs"},
		{"x.txt", "# sent_id = 1\n1-2\tvámonos" + strings.Repeat("\t_", 8) + "\n1\tvamos" + strings.Repeat("\t_", 8) + "\n",
			"conllu"},
		{"x.crfsuite", "", "crfsuite"},
		{"x.txt", "B-NP\tw[0]=he\tpos=PRP\t__BOS__\nO\tw[0]=is\n", "crfsuite"},
		{"x", packed.String(), "conll"},
		{"x", "", "conll"},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		if err := os.WriteFile(path, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := Detect(path); got != c.want || err != nil {
			t.Errorf("%s %q: got %s, %v, want %s", c.name, c.content, got, err, c.want)
		}
	}
}

// A file of one array is told from an archive of several.
func TestDetectOneArray(t *testing.T) {
	path := filepath.Join(t.TempDir(), "features.npy")
	if err := os.WriteFile(path, []byte("\x93NUMPY\x01\x00v\x00{'descr': '<f8', }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Detect(path); !structured.IsBadInput(err) || err.Error() != path+": one array (npy), expected an "+
		"archive of several, which np.savez writes (npz)" {
		t.Error(err)
	}
}

func TestDetectFolder(t *testing.T) {
	for _, c := range []struct{ files, want string }{
		{"a.xml", "voc"}, {"Annotations/a.xml", "voc"}, {"a.png", Images}, {"a.JPEG", Images}, {"a.png a.xml", "voc"},
		{"a.png lines.txt", Lines},
	} {
		dir := t.TempDir()
		for _, file := range strings.Fields(c.files) {
			path := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := Detect(dir); got != c.want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", c.files, got, err, c.want)
		}
	}
	if _, err := Detect(filepath.Join("a", "lines.txt")); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "give the folder a in its place") {
		t.Errorf("the list of a folder's images: %v", err)
	}
	dir := t.TempDir()
	if _, err := Detect(dir); !structured.IsBadInput(err) || !strings.Contains(err.Error(), dir) ||
		!strings.Contains(err.Error(), "images or lines or voc") {
		t.Errorf("an empty folder: %v", err)
	}
}

// Messages and help texts list every format once, and exactly one takes the text that no other recognises.
func TestFormatsAreComplete(t *testing.T) {
	fallbacks := 0
	for k, f := range All() {
		if f.Name == "" || f.Read != nil && f.ReadFolder != nil || f.Read == nil && f.ReadFolder == nil &&
			f.ReadBoxes == nil && !f.ByTask ||
			f.ReadFolder != nil && f.IsFolder == nil || Names()[k] != f.Name {
			t.Errorf("%+v", f)
		}
		if f.Starts == nil && f.Read != nil {
			fallbacks++
		}
	}
	if fallbacks != 1 || Find(Builtin).Read != nil {
		t.Errorf("%d formats without Starts, want 1", fallbacks)
	}
}

// What is read only once is not looked into: the reader would miss its beginning.
func TestDetectReadsNoPipe(t *testing.T) {
	if format, err := Detect(os.DevNull); !structured.IsBadInput(err) ||
		!strings.Contains(err.Error(), "read only once") || !strings.Contains(err.Error(), "give --format") {
		t.Errorf("%q, %v", format, err)
	}
}
