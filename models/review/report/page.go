package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/host"
)

//go:embed page.html
var pageText string

var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"whole": whole}).Parse(pageText))
})

// whole keeps numbers and their unit on one line.
func whole(text any) string { return strings.ReplaceAll(fmt.Sprint(text), " %", "\u00a0%") }

// Write writes the page to path, whole or not at all.
func (r *Report) Write(path string) error {
	var b bytes.Buffer
	if err := page().Execute(&b, r); err != nil {
		return err
	}
	err := host.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
	if err != nil {
		return structured.BadInput("--out: cannot write there: %w", err)
	}
	return nil
}
