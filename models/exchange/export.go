// Package exchange writes weights and potentials for other programs, and reads edited weights back.
package exchange

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models"
	"github.com/dsp-go/dsp/models/data/arrays"
	"github.com/dsp-go/dsp/nets/sparse"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
	"github.com/dsp-go/dsp/structured/graphs"
	"github.com/dsp-go/dsp/structured/sys/host"
	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// ExportPotentials writes the potentials of d to a .npz or .safetensors file: every part by its name, [rows×width], or
// [width] where all examples share it; offsets int64 [n+1] of positions, and of the rows of other tables under the
// table's name with _offsets; labels int32, the gold outputs, if there are any; and the label names and example ids, as
// Unicode arrays label_names and ids in npz, as JSON lists of these names in the metadata of safetensors.
//
// Of chains these are node [ΣT×Y], and edge [Y×Y], row "from", or [ΣT×Y×Y], whose entry t is the step into position t
// and means nothing where t starts a sequence.
func ExportPotentials(ctx context.Context, m *models.Model, d *structured.Dataset, path string, threads int) error {
	format, err := exportFormat(path, ".npz", ".safetensors")
	if err != nil {
		return err
	}
	θ, err := m.Potentials(ctx, d, threads)
	if err != nil {
		return err
	}
	offsets := int64s(d.Offsets)
	ids := make([]string, d.Len())
	for i := range ids {
		ids[i] = d.ID(i)
	}
	if format == ".npz" {
		return host.WriteFile(path, func(w io.Writer) error {
			return arrays.WriteNPZ(w, func(n arrays.NPZWriter) error {
				var err error
				for k := range θ.Parts {
					err = cmp.Or(err, arrays.Add(n, θ.Parts[k].Name, θ.Parts[k].Values, partShape(θ, k)...))
				}
				for _, t := range d.Tables {
					err = cmp.Or(err, arrays.Add(n, t.Name+"_offsets", int64s(t.Offsets), len(t.Offsets)))
				}
				err = cmp.Or(err,
					arrays.Add(n, "offsets", offsets, len(offsets)),
					n.AddText("label_names", m.Labels.Names()),
					n.AddText("ids", ids))
				for _, g := range goldOf(d) {
					err = cmp.Or(err, arrays.Add(n, g.name, g.values, len(g.values)))
				}
				return err
			})
		})
	}
	f := &safetensors.File{}
	for k := range θ.Parts {
		safetensors.Add(f, θ.Parts[k].Name, θ.Parts[k].Values, partShape(θ, k)...)
	}
	for _, t := range d.Tables {
		safetensors.Add(f, t.Name+"_offsets", int64s(t.Offsets))
	}
	safetensors.Add(f, "offsets", offsets)
	for _, g := range goldOf(d) {
		safetensors.Add(f, g.name, g.values)
	}
	if f.Metadata, err = safetensors.JSONMetadata(map[string]any{"label_names": m.Labels.Names(),
		"ids": ids}); err != nil {
		return err
	}
	return safetensors.Write(path, f)
}

// numbers is an array of gold outputs.
type numbers struct {
	name   string
	values []int32
}

// goldOf returns the gold outputs of d as arrays: labels, or what examples read, one after the other, and how many
// symbols each has.
func goldOf(d *structured.Dataset) []numbers {
	switch {
	case d.Labels == nil:
		return nil
	case d.Readings == nil:
		return []numbers{{"labels", d.Labels}}
	}
	lengths := []int32{}
	for _, reading := range d.Readings {
		lengths = append(lengths, int32(len(reading)))
	}
	return []numbers{{"readings", slices.Concat(d.Readings...)}, {"reading_lengths", lengths}}
}

// partShape returns the shape of the array of part k in a file. Edges are matrices of labels, one for each type if they
// have types; those of Potts edges are numbers.
func partShape(θ *structured.Potentials, k int) []int {
	p, y := &θ.Parts[k], θ.Parts[0].Width
	row := []int{p.Width}
	if p.Name == "edge" {
		switch kind, graph := θ.Structure.(graphs.Pairwise); {
		case graph && kind.Edges == graphs.Typed:
			row = []int{p.Width / (y * y), y, y}
		case !graph || kind.Edges == graphs.Own:
			row = []int{y, y}
		}
	}
	if p.Offsets == nil {
		return row
	}
	return append([]int{p.Offsets[len(p.Offsets)-1]}, row...)
}

func int64s(offsets []int) []int64 {
	to := make([]int64, max(1, len(offsets)))
	for i, o := range offsets {
		to[i] = int64(o)
	}
	return to
}

// ExportWeights writes the network's weights to a .txt, .npz or .safetensors file: a tensor for each parameter of the
// network, with label_names as a Unicode array in npz and as a JSON list in the metadata of safetensors. Where
// attributes have names, these are in attribute_names and edge_attribute_names: bytes, a line feed after each name. As
// text, the weights of a linear net of attributes are what ImportWeights reads (see weightstext.go); of another net,
// each parameter is a line "name shape", such as "W 128×26", and lines with the numbers, one row per line.
func ExportWeights(m *models.Model, path string) error {
	format, err := exportFormat(path, ".txt", ".npz", ".safetensors")
	if err != nil {
		return err
	}
	if format == ".txt" {
		if linearOnAttributes(m) {
			return host.WriteFile(path, func(w io.Writer) error { return writeAttributeWeights(w, m) })
		}
		return host.WriteFile(path, func(w io.Writer) error { return writeText(w, m) })
	}
	f, err := m.Tensors()
	if err != nil {
		return err
	}
	if format == ".safetensors" {
		if f.Metadata, err = safetensors.JSONMetadata(map[string]any{"label_names": m.Labels.Names()}); err != nil {
			return err
		}
		return safetensors.Write(path, f)
	}
	return host.WriteFile(path, func(w io.Writer) error {
		return arrays.WriteNPZ(w, func(n arrays.NPZWriter) error {
			for _, name := range slices.Sorted(maps.Keys(f.Tensors)) {
				t := f.Tensors[name]
				var err error
				switch data := t.Data.(type) {
				case []float32:
					err = arrays.Add(n, name, data, t.Shape...)
				case []uint8:
					err = arrays.Add(n, name, data, t.Shape...)
				}
				if err != nil {
					return err
				}
			}
			return n.AddText("label_names", m.Labels.Names())
		})
	})
}

// linearOnAttributes reports whether a model labels chains, and all its weights belong to attributes and transitions.
func linearOnAttributes(m *models.Model) bool {
	_, linear := m.Net.(*sparse.Linear)
	_, chain := m.Net.Form().Structure.(chains.Chain)
	return linear && chain && m.Dictionary != nil
}

// writeText writes the weights of any other net.
func writeText(to io.Writer, m *models.Model) error {
	w := bufio.NewWriter(to)
	var line []byte
	for _, a := range m.Net.Layout() {
		sizes := make([]string, len(a.Shape))
		for i, s := range a.Shape {
			sizes[i] = strconv.Itoa(s)
		}
		line = append(line[:0], a.Name+" "+strings.Join(sizes, "×")+"\n"...)
		row := 1
		if len(a.Shape) > 0 {
			row = a.Shape[len(a.Shape)-1]
		}
		for i, x := range a.Of(m.W) {
			line = strconv.AppendFloat(line, float64(x), 'g', -1, 32)
			if (i+1)%row == 0 {
				line = append(line, '\n')
			} else {
				line = append(line, ' ')
			}
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return w.Flush()
}

// exportFormat returns the extension of path, which must be one of those allowed.
func exportFormat(path string, allowed ...string) (string, error) {
	ext := strings.ToLower(filepath.Ext(path))
	if !slices.Contains(allowed, ext) {
		return "", structured.BadInput("%s: cannot tell what to write; expected a name that ends in %s", path,
			strings.Join(allowed, ", "))
	}
	return ext, nil
}
