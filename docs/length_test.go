package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostWords is how many words all pages may have together, except for the reference, which is generated. If you add a
// page, shorten others.
const mostWords = 35_000

// word is one that has a letter or a digit, also in tables and code: bars of tables are none.
var word = regexp.MustCompile(`\S*[\pL\pN]\S*`)

// All pages together stay short enough for a person to read them.
func TestWordsOfAllPages(t *testing.T) {
	words, pages := 0, 0
	tree(t, func(path, page string) {
		if strings.HasPrefix(filepath.ToSlash(path), "../docs/reference/") {
			return
		}
		n := len(word.FindAllString(page, -1))
		t.Logf("%5d %s", n, strings.TrimPrefix(path, "../"))
		words, pages = words+n, pages+1
	}, ".md")
	if pages < 50 {
		t.Errorf("found %d pages, expected more", pages)
	}
	if words > mostWords {
		t.Errorf("%d words in %d pages outside docs/reference, expected at most %d; -v lists them", words, pages, mostWords)
	}
}
