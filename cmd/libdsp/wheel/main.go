// Command wheel writes a Python wheel of the package in cmd/libdsp/python for one platform: the modules, the C
// libraries if there are any, and the program dsp, which pip puts on the path. make wheel builds what it packs.
package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// name is the name of the package on the index. It is imported as dsp.
const name = "dsp_structured"

// metadata is METADATA (core metadata 2.1) but for the version and the description, which is README.md of the package.
const metadata = `Metadata-Version: 2.1
Name: dsp-structured
Version: %s
Summary: Exact and fast oracles for structured prediction as layers for PyTorch and NumPy, and a certified trainer
License: MIT
Keywords: CRF, structured prediction, dependency parsing, semi-Markov, CTC, PyTorch
Requires-Python: >=3.9
Requires-Dist: numpy>=1.22
Provides-Extra: torch
Requires-Dist: torch>=2.5; extra == 'torch'
Description-Content-Type: text/markdown

%s`

func main() {
	modules := flag.String("modules", "cmd/libdsp/python", "folder of the Python package")
	libraries := flag.String("libraries", "", "the C libraries, with commas between; without them the wheel has the program alone")
	program := flag.String("program", "", "the program dsp")
	license := flag.String("license", "LICENSE", "file of the license")
	platform := flag.String("platform", "", "platform tag, such as manylinux_2_17_x86_64")
	to := flag.String("to", "build", "folder of the wheel")
	flag.Parse()
	path, err := write(*modules, strings.FieldsFunc(*libraries, func(r rune) bool { return r == ',' }), *program, *license, *platform, *to)
	if err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
	fmt.Println(path)
}

var versionLine = regexp.MustCompile(`(?m)^__version__ = "([0-9a-z.+]+)"$`)

// write writes the wheel, whole or not at all, and returns its path.
func write(modules string, libraries []string, program, license, platform, to string) (path string, err error) {
	if platform == "" || program == "" {
		return "", errors.New("needs -platform and -program")
	}
	text, err := os.ReadFile(filepath.Join(modules, "dsp", "__init__.py"))
	if err != nil {
		return "", err
	}
	version := versionLine.FindSubmatch(text)
	if version == nil {
		return "", errors.New("dsp/__init__.py has no line __version__ = \"…\"")
	}
	readme, err := os.ReadFile(filepath.Join(modules, "README.md"))
	if err != nil {
		return "", err
	}
	w := &wheel{info: fmt.Sprintf("%s-%s.dist-info", name, version[1])}
	w.zip = zip.NewWriter(&w.content)
	w.zip.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) { return flate.NewWriter(to, flate.BestCompression) })
	if err := w.modules(filepath.Join(modules, "dsp"), len(libraries) == 0); err != nil {
		return "", err
	}
	for _, library := range libraries {
		if err := w.file(library, "dsp/"+filepath.Base(library), 0o755); err != nil {
			return "", err
		}
	}
	script := "dsp" + strings.TrimPrefix(filepath.Ext(program), ".so")
	if err := w.file(program, fmt.Sprintf("%s-%s.data/scripts/%s", name, version[1], script), 0o755); err != nil {
		return "", err
	}
	if err := w.file(license, w.info+"/LICENSE", 0o644); err != nil {
		return "", err
	}
	w.add(w.info+"/METADATA", fmt.Appendf(nil, metadata, version[1], readme), 0o644)
	w.add(w.info+"/WHEEL", fmt.Appendf(nil, "Wheel-Version: 1.0\nGenerator: dsp\nRoot-Is-Purelib: false\nTag: py3-none-%s\n", platform), 0o644)
	w.records = append(w.records, w.info+"/RECORD,,")
	w.add(w.info+"/RECORD", []byte(strings.Join(w.records, "\n")+"\n"), 0o644)
	if err := errors.Join(w.err, w.zip.Close()); err != nil {
		return "", err
	}
	path = filepath.Join(to, fmt.Sprintf("%s-%s-py3-none-%s.whl", name, version[1], platform))
	if err := os.MkdirAll(to, 0o777); err != nil {
		return "", err
	}
	if err := os.WriteFile(path+".part", w.content.Bytes(), 0o666); err != nil {
		return "", err
	}
	return path, os.Rename(path+".part", path)
}

// wheel is a wheel that is being written. Its times are fixed, so that the same files make the same wheel.
type wheel struct {
	content bytes.Buffer
	zip     *zip.Writer
	info    string // the folder of metadata
	records []string
	err     error
}

// modules adds the Python files of a folder and the marker of types. Those that need the library are left out where
// there is none: the wheel then is the program, and importing dsp says so.
func (w *wheel) modules(folder string, programAlone bool) error {
	if programAlone {
		w.add("dsp/__init__.py", []byte("raise ImportError(\"dsp's library is not built for this platform: "+
			"the wheel has the program dsp alone (docs/guide/python.md says how to use a model through it)\")\n"), 0o644)
		return nil
	}
	return filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "__pycache__" {
			return filepath.SkipDir
		}
		if entry.IsDir() || !slices.Contains([]string{".py", ".pyi", ".typed"}, filepath.Ext(file)) {
			return nil
		}
		inside, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		return w.file(file, "dsp/"+filepath.ToSlash(inside), 0o644)
	})
}

func (w *wheel) file(from, path string, mode fs.FileMode) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	w.add(path, content, mode)
	return nil
}

func (w *wheel) add(path string, content []byte, mode fs.FileMode) {
	h := &zip.FileHeader{Name: path, Method: zip.Deflate, Modified: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}
	h.SetMode(mode)
	to, err := w.zip.CreateHeader(h)
	if err == nil {
		_, err = to.Write(content)
	}
	w.err = errors.Join(w.err, err)
	sum := sha256.Sum256(content)
	w.records = append(w.records, fmt.Sprintf("%s,sha256=%s,%d", path, base64.RawURLEncoding.EncodeToString(sum[:]), len(content)))
}
