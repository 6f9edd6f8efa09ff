package trees

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// String returns the metrics in one line.
func (m Metrics) String() string {
	return fmt.Sprintf("UAS %.2f %%, LAS %.2f %%, without punctuation %.2f %% and %.2f %%, root %.2f %%",
		100*m.UAS, 100*m.LAS, 100*m.UASNoPunct, 100*m.LASNoPunct, 100*m.Root)
}

// Table formats the attachment scores, followed by one line per relation: its frequency in the gold trees, the shares
// of those words with the right head and with the right head and relation (recall), and the share of the words
// predicted to have the relation that have the right head and relation (precision).
func (m Metrics) Table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d words in %d sentences; the root is right in %.2f %%\n\n", m.Words, m.Sentences, 100*m.Root)
	fmt.Fprintf(&b, "%-19s %8s %8s %8s\n", "attachment", "words", "UAS, %", "LAS, %")
	fmt.Fprintf(&b, "%-19s %8d %8.2f %8.2f\n", "all words", m.Words, 100*m.UAS, 100*m.LAS)
	fmt.Fprintf(&b, "%-19s %8d %8.2f %8.2f\n", "without punctuation", m.NoPunct, 100*m.UASNoPunct, 100*m.LASNoPunct)
	width := 12
	for _, r := range m.Relations {
		width = max(width, utf8.RuneCountInString(r.Name))
	}
	fmt.Fprintf(&b, "\n%*s %*s\n", width+8, "", 35, "head  head+label  head+label")
	fmt.Fprintf(&b, "%-*s %7s %11s %11s %11s\n", width, "relation", "gold", "recall, %", "recall, %", "precision, %")
	for _, r := range m.Relations {
		fmt.Fprintf(&b, "%-*s %7d %11s %11s %12s\n", width, r.Name, r.Gold,
			percent(r.HeadRecall, r.Gold), percent(r.Recall, r.Gold), percent(r.Precision, r.Predicted))
	}
	return b.String()
}

// percent formats a share of n, or a dash if n is 0.
func percent(share float64, n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", 100*share)
}
