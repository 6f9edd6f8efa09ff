package text

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// WriteCRFsuite writes a data set with Attributes as an attribute file of CRFsuite, which CRFsuite.Read reads
// back. Without Labels its lines begin with a tab. Hashed attributes are named by their numbers. The format cannot
// express step attributes, or tabs and line ends in names: they are bad input.
func WriteCRFsuite(w io.Writer, d *structured.Dataset) error {
	switch {
	case d.Attributes == nil:
		return structured.BadInput("%s: no attributes to write; features or a template make them", d.Name)
	case d.EdgeAttributes != nil && len(d.EdgeAttributes.Index) > 0:
		return structured.BadInput("%s: attributes of steps (lines of a template that begin with B) have no "+
			"place in an attribute file", d.Name)
	}
	var labels []string
	if d.Labels != nil {
		var err error
		if labels, err = escapedNames(d, "label", d.Alphabet.Names()); err != nil {
			return err
		}
	}
	attributes := func(i int32) string { return strconv.Itoa(int(i)) }
	if d.Dictionary.Node != nil {
		names, err := escapedNames(d, "attribute", d.Dictionary.Node.Names())
		if err != nil {
			return err
		}
		attributes = func(i int32) string { return names[i] }
	}
	out := bufio.NewWriterSize(w, 1<<16)
	for i := range d.Len() {
		if weight := d.Weight(i); weight != 1 {
			out.WriteString("@weight:" + strconv.FormatFloat(weight, 'g', -1, 64) + "\n")
		}
		for t := d.Offsets[i]; t < d.Offsets[i+1]; t++ {
			if d.Labels != nil {
				if d.Labels[t] < 0 {
					return structured.BadInput("%s: position %d has no gold label, with which its line would begin",
						d.Where(i), t-d.Offsets[i])
				}
				out.WriteString(labels[d.Labels[t]])
			}
			index, value := d.Attributes.Row(t)
			for k, a := range index {
				out.WriteByte('\t')
				out.WriteString(attributes(a))
				if value != nil && value[k] != 1 {
					out.WriteByte(':')
					out.WriteString(strconv.FormatFloat(float64(value[k]), 'g', -1, 32))
				}
			}
			if len(index) == 0 && d.Labels != nil && strings.IndexByte(labels[d.Labels[t]], ' ') >= 0 {
				out.WriteByte('\t') // without which its reader takes blanks for separators
			}
			out.WriteByte('\n')
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}

var escaped = strings.NewReplacer(`\`, `\\`, `:`, `\:`)

// escapedNames returns the names as they are spelt in an attribute file.
func escapedNames(d *structured.Dataset, what string, names []string) ([]string, error) {
	spelt := make([]string, len(names))
	for i, name := range names {
		if strings.TrimSpace(name) == "" || strings.ContainsAny(name, "\t\n\r") {
			return nil, structured.BadInput("%s: %s %q cannot stand in an attribute file, expected some text "+
				"without tabs and line ends", d.Name, what, name)
		}
		spelt[i] = escaped.Replace(name)
	}
	return spelt, nil
}
