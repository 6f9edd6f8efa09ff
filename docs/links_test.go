package docs

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// tree calls visit for the files of the repository with these endings, by their paths from this folder.
func tree(t *testing.T, visit func(path, text string), endings ...string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name := e.Name(); name == "testdata" || path == "../build" || path == "../bin" ||
				strings.HasPrefix(name, ".") && name != ".." && name != ".ci" {
				return filepath.SkipDir
			}
			return nil
		}
		for _, ending := range endings {
			if strings.HasSuffix(path, ending) {
				text, err := os.ReadFile(path)
				visit(path, string(text))
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

var (
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	span    = regexp.MustCompile("`[^`\n]*`")
	target  = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+?)\s*$`)
	linked  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// anchors returns the names by which GitHub links to the headings of a page.
func anchors(page string) map[string]bool {
	names := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		title := strings.ToLower(linked.ReplaceAllString(m[1], "$1"))
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsNumber(r) || r == '-' || r == '_':
				return r
			}
			return -1
		}, title)
		unique := name
		for k := 1; names[unique]; k++ {
			unique = name + "-" + strconv.Itoa(k)
		}
		names[unique] = true
	}
	return names
}

// broken returns the links of a page that lead nowhere within the repository.
func broken(path, page string) (all []string) {
	text := span.ReplaceAllString(fenced.ReplaceAllString(page, ""), "")
	for _, m := range target.FindAllStringSubmatch(text, -1) {
		link, err := url.Parse(m[1])
		if err != nil || link.Scheme != "" {
			continue
		}
		to, there := path, page
		if link.Path != "" {
			to = filepath.Join(filepath.Dir(path), filepath.FromSlash(link.Path))
			bytes, err := os.ReadFile(to)
			if about, missing := os.Stat(to); missing != nil || err != nil && !about.IsDir() {
				all = append(all, m[1])
				continue
			}
			there = string(bytes)
		}
		if link.Fragment != "" && strings.HasSuffix(to, ".md") && !anchors(there)[link.Fragment] {
			all = append(all, m[1])
		}
	}
	return all
}

// Links lead to files and headings that are there.
func TestLinks(t *testing.T) {
	tree(t, func(path, page string) {
		for _, link := range broken(path, page) {
			t.Errorf("%s links to %s, which is not there", path, link)
		}
	}, ".md")
	page := "# Two words: `a`, é\n## Two words\n## Two words\n" +
		"[1](#two-words-a-é) [2](#two-words-1) [3](#three) [4](links_test.go) " +
		"[5](none.md) `[6](none.md)` [7](https://example.com/none.md)\n" +
		"```\n# No heading\n[8](none.md)\n```\n[9](#no-heading)\n"
	if all := strings.Join(broken("page.md", page), " "); all != "#three none.md #no-heading" {
		t.Errorf("broken links of the test's own page: %s", all)
	}
}

// Pages that code, scripts and other pages name by their path from the root are there.
func TestPagesThatFilesName(t *testing.T) {
	named := regexp.MustCompile(`\bdocs(?:/[\w-]+)+\.md\b`)
	tree(t, func(path, text string) {
		for _, page := range named.FindAllString(text, -1) {
			if _, err := os.Stat(filepath.Join("..", page)); err != nil {
				t.Errorf("%s names %s, which is not there", path, page)
			}
		}
	}, ".go", ".py", ".md", ".sh", ".yml", ".cu", ".cuh", ".h", "Makefile", "Dockerfile", ".ci/run")
}
