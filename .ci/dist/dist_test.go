package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"testing"
	"time"
)

// Archives hold what they were given, with modes, and packing again gives the same bytes.
func TestPack(t *testing.T) {
	t.Parallel()
	files := []file{{"dsp", []byte("program"), 0o755}, {"completions/_dsp", bytes.Repeat([]byte("x"), 1000), 0o644}}
	at := time.Date(2026, 1, 2, 3, 4, 6, 0, time.FixedZone("", 3600))
	for name, pack := range map[string]func(io.Writer, string, []file, time.Time) error{"tar.gz": packTarGz, "zip": packZip} {
		var once, again bytes.Buffer
		if err := pack(&once, "dsp-1", files, at); err != nil {
			t.Fatal(err)
		}
		if err := pack(&again, "dsp-1", files, at); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(once.Bytes(), again.Bytes()) {
			t.Errorf("%s: packed twice, and other bytes", name)
		}
		got := map[string]string{}
		modes := map[string]int64{}
		if name == "zip" {
			r, err := zip.NewReader(bytes.NewReader(once.Bytes()), int64(once.Len()))
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.File {
				in, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				text, _ := io.ReadAll(in)
				got[f.Name], modes[f.Name] = string(text), int64(f.Mode().Perm())
			}
		} else {
			z, err := gzip.NewReader(&once)
			if err != nil {
				t.Fatal(err)
			}
			r := tar.NewReader(z)
			for h, err := r.Next(); err == nil; h, err = r.Next() {
				text, _ := io.ReadAll(r)
				got[h.Name], modes[h.Name] = string(text), h.Mode
			}
		}
		for _, f := range files {
			if path := "dsp-1/" + f.name; got[path] != string(f.content) || modes[path] != f.mode {
				t.Errorf("%s: %s holds %.20q with mode %o", name, path, got[path], modes[path])
			}
		}
	}
}
