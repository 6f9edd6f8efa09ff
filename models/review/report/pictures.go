package report

import (
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/dsp-go/dsp/models/pictures/curves"
	"github.com/dsp-go/dsp/models/training"
)

// Picture is an SVG element.
type Picture template.HTML

func drawCurves(path string, run *training.Recorded) error {
	return curves.Write(path, run.Curves()...)
}

// draw lets paint draw an SVG file, and returns what is in it as an element named by label. The painters of this
// program escape what they write.
func (w *writer) draw(label string, paint func(path string) error) (Picture, error) {
	path := filepath.Join(w.scratch, "picture.svg")
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return "", err
	}
	if err := paint(path); err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	if os.IsNotExist(err) { // there was nothing to draw
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return inline(string(text), label)
}

var (
	svgStart = regexp.MustCompile(`(?s)^.*?<svg[^>]*?width="([0-9.]+)[a-z]*"[^>]*?viewBox="([^"]*)"[^>]*>`)
	fonts    = regexp.MustCompile(`font-family:Liberation Sans;font-variant:normal;`)
	plain    = regexp.MustCompile(`font-weight:normal;font-style:normal;`)
)

// inline turns an SVG file into an element of a page, as wide as the page allows.
func inline(svg, label string) (Picture, error) {
	// PNG files under a wrong name
	svg = strings.ReplaceAll(svg, "data:image/jpg;base64,iVBOR", "data:image/png;base64,iVBOR")
	at := svgStart.FindStringSubmatchIndex(svg)
	if at == nil {
		return "", fmt.Errorf("a picture (%s) is not an SVG file with a size", label)
	}
	var width float64
	if _, err := fmt.Sscan(svg[at[2]:at[3]], &width); err != nil {
		return "", err
	}
	body := plain.ReplaceAllString(fonts.ReplaceAllString(svg[at[1]:], ""), "")
	start := fmt.Sprintf(`<svg role="img" aria-label="%s" viewBox="%s" style="max-width:%.0fpx" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">`,
		template.HTMLEscapeString(label), template.HTMLEscapeString(svg[at[4]:at[5]]), width*4/3)
	return Picture(start + strings.TrimSpace(clean(body))), nil
}

func (p Picture) HTML() template.HTML { return template.HTML(p) }

// clean replaces what no page may contain: control characters and invalid UTF-8.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
