package reproduce

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dsp-go/dsp/train/record"
)

// markdown writes the table of all claims, what was tuned, and the notes.
func (r *Result) markdown(w io.Writer) {
	fmt.Fprintf(w, "# What agrees with the paper\n\n%s of %d claims. Every claim is checked by the medians over the seeds and for each seed by "+
		"itself; it agrees or disagrees if the medians and at least 80 %% of the seeds do, and is mixed otherwise. "+
		"Brackets hold the quartiles.\n",
		summary(r.Counts), r.claims())
	for k, f := range r.tables {
		out := r.Figures[k]
		fmt.Fprintf(w, "\n## Figure %s: %s\n\n![figure %[1]s](figure%[1]s.png)\n\n", f.Name, f.Title)
		size := ""
		if f.quick {
			size = ", at the size of --quick"
		}
		fmt.Fprintf(w, "%s%s.\n\n", plural(f.seeds, "seed"), size)
		if len(out.Claims) > 0 {
			fmt.Fprintf(w, "| the paper says | where | part | check | median [quartiles] | seeds | verdict |\n"+
				"|---|---|---|---|---|---|---|\n")
			for _, c := range out.Claims {
				fmt.Fprintf(w, "| %s | %s | %s | `%s` | %s | %d of %d | %s |\n", cell(c.Says), cell(c.Where),
					cell(c.Part), cell(c.Check), cell(strings.Join(c.Values, "; ")), c.Holds, c.Decided, c.Verdict)
			}
		}
		f.writeBounds(w)
		f.writeTuned(w)
		for _, note := range f.Notes {
			fmt.Fprintf(w, "\n* %s", strings.Join(strings.Fields(note), " "))
		}
		if len(f.Notes) > 0 {
			fmt.Fprintln(w)
		}
	}
}

func (r *Result) claims() int {
	n := 0
	for _, k := range r.Counts {
		n += k
	}
	return n
}

// writeBounds writes the dual that suboptimality is measured from.
func (r *figureResults) writeBounds(w io.Writer) {
	var parts []string
	for _, p := range r.parts {
		if p.bound > 0 {
			parts = append(parts, record.Certified(strings.TrimSpace(fmt.Sprintf("%s %.6g", p.Name, p.bound)), p.relaxed()))
		}
	}
	if parts != nil {
		fmt.Fprintf(w, "\nBest certified dual, from which suboptimality is measured: %s.\n", strings.Join(parts, "; "))
	}
}

// writeTuned writes the values that were chosen.
func (r *figureResults) writeTuned(w io.Writer) {
	if len(r.tuned) == 0 {
		return
	}
	fmt.Fprintf(w, "\nChosen on the first seed (* at the edge of the grid): ")
	for k, t := range r.tuned {
		if k > 0 {
			fmt.Fprint(w, "; ")
		}
		name := t.Curve
		if t.Part != "" {
			name = t.Part + ", " + name
		}
		if t.Values == nil {
			fmt.Fprintf(w, "%s diverged with all values", name)
			continue
		}
		fmt.Fprint(w, name)
		for _, setting := range slices.Sorted(maps.Keys(t.Values)) {
			fmt.Fprintf(w, " %s %s", setting, t.Values[setting])
		}
		if t.Edge {
			fmt.Fprint(w, "*")
		}
	}
	fmt.Fprintln(w, ".")
}

// cell makes text fit into a cell of a Markdown table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
