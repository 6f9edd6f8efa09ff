package models

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/text"
)

// The formats of data files.
const (
	formatBuiltin  = "builtin"
	formatLetters  = "letters"
	formatConll    = "conll"
	formatConllu   = "conllu"
	formatCRFsuite = "crfsuite"
	formatNPZ      = "npz"
)

// FileFormats are the formats that files may have.
var FileFormats = []string{formatLetters, formatConll, formatConllu, formatCRFsuite, formatNPZ}

// isText reports whether files of the format hold sequences of tokens.
func isText(format string) bool { return hasColumns(format) || format == formatCRFsuite }

// hasColumns reports whether files of the format hold columns, from which inputs are still to be made.
func hasColumns(format string) bool { return format == formatConll || format == formatConllu }

// ResolveFormat resolves the settings that depend on the training file's name and content: the format, the task, and what the
// columns hold.
func (c *Config) ResolveFormat() error {
	switch {
	case c.Train == "":
		c.Format = formatBuiltin
	case c.Format == "":
		var err error
		if c.Format, err = detectFormat(c.Train); err != nil {
			return err
		}
	}
	if c.Task == "auto" {
		c.Task = "tag"
		if c.Format == formatBuiltin || c.Format == formatLetters {
			c.Task = "ocr"
		}
	}
	if c.Format == formatConll && c.Columns == "" {
		c.Columns = text.DefaultColumns
	}
	if c.Format == formatConllu && c.Label == "" && c.Task != "parse" {
		c.Label = "upos"
	}
	return nil
}

// detectFormat tells a file's format from its name, or from how it begins.
func detectFormat(path string) (string, error) {
	if path == "-" {
		return "", structured.BadInput("standard input: cannot tell the format; give --format %s", strings.Join(FileFormats, ", "))
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz")
	switch ext := filepath.Ext(name); ext {
	case ".npz":
		return formatNPZ, nil
	case ".conllu":
		return formatConllu, nil
	case ".crfsuite":
		return formatCRFsuite, nil
	case ".conll", ".iob", ".iob2", ".bio", ".bioes":
		return formatConll, nil
	}
	if strings.HasPrefix(name, "letter.") {
		return formatLetters, nil
	}
	format := ""
	err := open(path, func(r io.Reader) error {
		start := make([]byte, 1<<14)
		n, err := io.ReadFull(r, start)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return structured.BadInput("%s: %w", path, err)
		}
		if format = formatOf(start[:n]); format == "" {
			return structured.BadInput("%s: neither text nor npz; give --format if it is data all the same", path)
		}
		return nil
	})
	return format, err
}

// formatOf tells a format from the start of a file, or answers nothing for what is neither text nor npz.
func formatOf(start []byte) string {
	line, _, _ := bytes.Cut(start, []byte{'\n'})
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return formatNPZ
	case bytes.Count(line, []byte{'\t'}) > 128:
		return formatLetters
	case bytes.IndexByte(line, 0) >= 0:
		return ""
	}
	tokens := 0
	conllu, attributes := true, true
	for line := range bytes.Lines(start) {
		if line[len(line)-1] != '\n' && tokens > 0 {
			break // cut short, perhaps
		}
		fields := strings.Split(strings.TrimSpace(string(line)), "\t")
		if len(fields) == 1 && (fields[0] == "" || fields[0][0] == '#') {
			continue
		}
		tokens++
		conllu = conllu && len(fields) == 10 && strings.Trim(fields[0], "0123456789-.") == ""
		attributes = attributes && looksLikeAttributes(fields[1:])
	}
	switch {
	case tokens > 0 && conllu:
		return formatConllu
	case tokens > 0 && attributes:
		return formatCRFsuite
	}
	return formatConll
}

// looksLikeAttributes reports whether most of the fields are of the form name=value, as CRFsuite's examples and most
// programs write attributes.
func looksLikeAttributes(fields []string) bool {
	named := len(slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return !strings.Contains(f, "=") }))
	return 2*named > len(fields)
}
