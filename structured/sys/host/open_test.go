package host

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/dsp-go/dsp/structured"
)

// Whatever its name, a file is decompressed by what it begins with; a damaged one is an error.
func TestOpenDecompresses(t *testing.T) {
	const text = "some text, and some more text"
	pack := map[string]func(io.Writer) (io.WriteCloser, error){
		"gzip": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"xz":   func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	}
	path := filepath.Join(t.TempDir(), "file")
	read := func(data []byte) (string, error) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			if !structured.IsBadInput(err) {
				t.Errorf("%v is not bad input", err)
			}
			return "", err
		}
		all, err := io.ReadAll(f)
		if closing := f.Close(); closing != nil {
			t.Errorf("closing it: %v", closing) // after what reading said, which a reader reports
		}
		return string(all), err
	}
	for _, plain := range []string{"", "x", text} {
		if got, err := read([]byte(plain)); got != plain || err != nil {
			t.Errorf("plain: %q, %v", got, err)
		}
	}
	for name, packer := range pack {
		var packed bytes.Buffer
		w, err := packer(&packed)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := read(packed.Bytes()); got != text || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		for _, end := range []int{packed.Len() - 1, packed.Len() / 2, 8} {
			if got, err := read(packed.Bytes()[:end]); err == nil || strings.Contains(err.Error(), "EOF") ||
				!strings.Contains(err.Error(), "in the middle of "+name+" data") {
				t.Errorf("%s of %d bytes, cut after %d: %q and %v, expected the middle of data", name, packed.Len(), end, got, err)
			}
		}
	}
}

// Compressed data that expand far more than any data do are refused once they have taken some memory; those that expand
// little go on for ever.
func TestOpenRefusesBombs(t *testing.T) {
	defer func(was int64) { freelyExpanded = was }(freelyExpanded)
	freelyExpanded = 1 << 20
	path := filepath.Join(t.TempDir(), "file")
	noise := make([]byte, 1<<14)
	for k := range noise {
		noise[k] = byte(rand.Uint32())
	}
	for name, packer := range map[string]func(io.Writer) (io.WriteCloser, error){
		"gzip": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"xz":   func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	} {
		for _, c := range []struct {
			text []byte
			bad  bool
		}{{make([]byte, 3<<20), true}, {make([]byte, 1<<20), false},
			{append(slices.Clone(noise), make([]byte, 2<<20)...), false}} {
			var packed bytes.Buffer
			w, err := packer(&packed)
			if err == nil {
				_, err = w.Write(c.text)
			}
			if err = errors.Join(err, w.Close(), os.WriteFile(path, packed.Bytes(), 0o666)); err != nil {
				t.Fatal(err)
			}
			f, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, f)
			if (err != nil) != c.bad || !c.bad && n != int64(len(c.text)) || c.bad &&
				(!structured.IsBadInput(err) || n > freelyExpanded+1<<17 ||
					!strings.Contains(err.Error(), "decompress the file first")) {
				t.Errorf("%s, %d bytes in %d: %d read, %v", name, len(c.text), packed.Len(), n, err)
			}
			f.Close()
		}
	}
}

// Files of kinds that no reader of text takes are named as what they are.
func TestRefusesOtherKinds(t *testing.T) {
	for text, want := range map[string]string{
		"BZh91AY&SYxxx":        "x: compressed with bzip2",
		"\x28\xb5\x2f\xfdx":    "x: compressed with zstd",
		"\x89PNG\r\n\x1a\nxxx": "x: a PNG image, expected text",
		"\xff\xd8\xff\xe0":     "x: a JPEG image, expected text",
		"GIF89a":               "x: a GIF image, expected text",
		"%PDF-1.4":             "x: a PDF document, expected text",
		"BZh":                  "",
		"%PDF":                 "",
		"":                     "",
	} {
		in, err := Unpack(io.NopCloser(strings.NewReader(text)), "x")
		if err == nil {
			lines := NewLines(in, "x")
			_, _ = lines.Next()
			err = lines.Err()
		}
		if want == "" && err != nil || want != "" && (!structured.IsBadInput(err) || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestRereads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"-": false, os.DevNull: false, file: true, filepath.Dir(file): true,
		file + "x": true} {
		if Rereads(path) != want {
			t.Errorf("%s: not %v", path, want)
		}
	}
}

// A text that arrives slowly is handed on from its first bytes, which may be fewer than those that tell compressed
// files.
func TestUnpackWaitsForNothing(t *testing.T) {
	for _, text := range []string{"a\n\n", "BZh\n"} {
		waits := readerFunc(func([]byte) (int, error) {
			t.Errorf("%q: more was asked for", text)
			return 0, io.EOF
		})
		f, err := Unpack(io.NopCloser(io.MultiReader(strings.NewReader(text), waits)), "x")
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 10)
		if n, err := f.Read(got); string(got[:n]) != text || err != nil {
			t.Errorf("%q: read %q, %v", text, got[:n], err)
		}
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
