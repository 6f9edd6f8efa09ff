// Command dist packs the archives of a release: for each system and processor the program, its completions for shells,
// LICENSE, README.md and CHANGELOG.md, and beside them SHA256SUMS. The same sources give the same bytes. make dist runs
// it.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dsp-go/dsp/cmd/dsp/cli"
)

type target struct{ system, processor string }

var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"}}

func main() {
	to := flag.String("to", "build/dist", "`FOLDER` of the archives")
	only := flag.String("only", "", "the one `SYSTEM/PROCESSOR` to pack; empty: all")
	flag.Parse()
	if err := dist(*to, *only); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func dist(to, only string) error {
	made, err := commitTime()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "dist")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	extras, err := extraFiles(scratch)
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, t := range targets {
		if only != "" && only != t.system+"/"+t.processor {
			continue
		}
		name := fmt.Sprintf("dsp-%s-%s-%s", cli.Release, t.system, t.processor)
		program := "dsp"
		if t.system == "windows" {
			program += ".exe"
		}
		content, err := build(filepath.Join(scratch, program), "GOOS="+t.system, "GOARCH="+t.processor)
		if err != nil {
			return err
		}
		files := append([]file{{program, content, 0o755}}, extras...)
		pack, ending := packTarGz, ".tar.gz"
		if t.system == "windows" {
			pack, ending = packZip, ".zip"
		}
		var archive bytes.Buffer
		if err := pack(&archive, name, files, made); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name+ending), archive.Bytes(), 0o666); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(archive.Bytes()), name+ending)
		fmt.Printf("%s  %.1f MB\n", filepath.Join(to, name+ending), float64(archive.Len())/1e6)
	}
	if sums.Len() == 0 {
		return fmt.Errorf("no system %s", only)
	}
	return os.WriteFile(filepath.Join(to, "SHA256SUMS"), sums.Bytes(), 0o666)
}

// commitTime is when the commit was made, which the files of archives carry, so that packing again gives the same
// bytes.
func commitTime() (time.Time, error) {
	out, err := exec.Command("git", "log", "-1", "--format=%cI").Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("git log: %w", err)
	}
	return time.Parse(time.RFC3339, strings.TrimSpace(string(out)))
}

// build builds the program for a system and returns it.
func build(path string, environment ...string) ([]byte, error) {
	c := exec.Command("go", "build", "-buildvcs=true", "-trimpath", "-ldflags=-s -w", "-o", path, "./cmd/dsp")
	c.Env = append(os.Environ(), append(environment, "CGO_ENABLED=0", "GOEXPERIMENT=simd", "GOFLAGS=")...)
	c.Stderr = os.Stderr
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("go build for %s: %w", strings.Join(environment, " "), err)
	}
	return os.ReadFile(path)
}

// extraFiles are the files beside the program. Completions are what the program of this machine prints.
func extraFiles(scratch string) (files []file, err error) {
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, content, 0o644})
	}
	here := filepath.Join(scratch, "here")
	if _, err := build(here); err != nil {
		return nil, err
	}
	for _, shell := range [][2]string{{"bash", "dsp.bash"}, {"zsh", "_dsp"}, {"fish", "dsp.fish"}, {"powershell", "dsp.ps1"}} {
		content, err := exec.Command(here, "completion", shell[0]).Output()
		if err != nil {
			return nil, fmt.Errorf("completion %s: %w", shell[0], err)
		}
		files = append(files, file{"completions/" + shell[1], content, 0o644})
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, nil
}

// file is a file of an archive.
type file struct {
	name    string // with / between folders
	content []byte
	mode    int64
}

func packTarGz(to io.Writer, folder string, files []file, at time.Time) error {
	zipped, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(zipped)
	for _, f := range files {
		h := &tar.Header{Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: at, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.content); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), zipped.Close())
}

func packZip(to io.Writer, folder string, files []file, at time.Time) error {
	w := zip.NewWriter(to)
	for _, f := range files {
		h := &zip.FileHeader{Name: folder + "/" + f.name, Method: zip.Deflate, Modified: at.UTC()}
		h.SetMode(os.FileMode(f.mode))
		in, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := in.Write(f.content); err != nil {
			return err
		}
	}
	return w.Close()
}
