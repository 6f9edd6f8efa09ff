package endtoend

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// page shows the page in a headless Chromium with a fragment, and fails the test unless it comes to hold some texts.
func (s *served) page(fragment string, wants ...string) {
	s.t.Helper()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && browser == "" {
			browser = path
		}
	}
	if browser == "" {
		s.t.Skip("no Chromium here")
	}
	out, err := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+s.t.TempDir(), "--virtual-time-budget=20000",
		"--dump-dom", s.url+"#"+fragment).Output()
	if err != nil {
		s.t.Fatalf("%s: %v", browser, err)
	}
	for _, want := range wants {
		if !strings.Contains(string(out), want) {
			s.t.Errorf("the page lacks %q:\n%s", want, out[max(0, bytes.Index(out, []byte("<main>"))):])
		}
	}
}

// The page shows labels with their probabilities, trees, links, and errors.
func TestServePage(t *testing.T) {
	t.Parallel()
	s := serve(t, "--model", "tags="+tagger(t), "--model", "trees="+parser(t), "--model", "links="+aligner(t))
	_, text := s.get("")
	text = strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "") // the name of SVG's elements, which is no address
	if slices.ContainsFunc([]string{"http://", "https://", "src=\"", "@import"}, func(other string) bool { return strings.Contains(text, other) }) {
		t.Error("the page loads something from elsewhere")
	}
	s.page("model=tags&text=the+red+fox", "<b>red</b><span>B-X</span>", " %</small>", "probability of the whole output")
	s.page("model=tags&text=the+fox.+It+runs.", "<b>fox</b>", "<b>runs</b>")
	s.page("model=trees&word=dogs+bark&upos=NOUN+VERB", "<td>dogs</td>", "root")
	s.page("model=links&source=a+b&target=c", "<th>margin</th>")
	s.page("model=trees&word=dogs+bark", "no pos (found columns)")
}
