package models

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/models/safetensors"
	"github.com/dsp-go/dsp/structured"
)

// Potentials computes the potentials of all examples of d, with the model's constraints applied as −∞. Edge potentials
// are [Y×Y] or, where the network makes them for every position, [ΣT×Y×Y].
func (m *Model) Potentials(ctx context.Context, d *structured.Dataset, threads int) (*structured.Potentials, error) {
	if err := m.accepts(d); err != nil {
		return nil, err
	}
	all := &structured.Potentials{}
	offsets := d.Offsets
	if len(offsets) == 0 {
		offsets = []int{0}
	}
	all.Resize(offsets, m.Labels.Len(), m.Net.PerPosition())
	if m.device != nil {
		return all, m.device.potentials(ctx, m, d, all)
	}
	type piece struct {
		at         int // position
		node, edge []float32
	}
	err := inOrder(ctx, threads, each(batches(d)), m.newPredictor,
		func(p *predictor, examples []int) (piece, error) {
			if err := p.potentials(d, examples); err != nil {
				return piece{}, err
			}
			return piece{d.Offsets[examples[0]], slices.Clone(p.θ.Node), slices.Clone(p.θ.Edge)}, nil
		},
		func(r piece) error {
			copy(all.Node[r.at*all.Y:], r.node)
			if all.PerPosition {
				copy(all.Edge[r.at*all.Y*all.Y:], r.edge)
			} else {
				copy(all.Edge, r.edge)
			}
			return nil
		})
	return all, err
}

// ExportPotentials writes the potentials of d to a .npz or .safetensors file: node [ΣT×Y]; edge [Y×Y], row "from", or
// [ΣT×Y×Y], whose entry t is the step into position t and means nothing where t starts a sequence; offsets int64 [n+1];
// labels int32 [ΣT], the gold ones, if there are any; and the label names and example ids, as Unicode arrays label_names
// and ids in npz, as JSON lists of these names in the metadata of safetensors.
func (m *Model) ExportPotentials(ctx context.Context, d *structured.Dataset, path string, threads int) error {
	format, err := exportFormat(path, ".npz", ".safetensors")
	if err != nil {
		return err
	}
	θ, err := m.Potentials(ctx, d, threads)
	if err != nil {
		return err
	}
	edge := []int{θ.Y, θ.Y}
	if θ.PerPosition {
		edge = []int{θ.Positions(), θ.Y, θ.Y}
	}
	offsets := make([]int64, len(θ.Offsets))
	for i, o := range θ.Offsets {
		offsets[i] = int64(o)
	}
	ids := make([]string, d.Len())
	for i := range ids {
		ids[i] = d.ID(i)
	}
	if format == ".npz" {
		return structured.WriteFile(path, func(w io.Writer) error {
			return writeNPZ(w, func(n npzWriter) error {
				err := firstError(
					add(n, "node", θ.Node, θ.Positions(), θ.Y),
					add(n, "edge", θ.Edge, edge...),
					add(n, "offsets", offsets, len(offsets)),
					n.addText("label_names", m.Labels.Names()),
					n.addText("ids", ids))
				if err == nil && d.Labels != nil {
					err = add(n, "labels", d.Labels, len(d.Labels))
				}
				return err
			})
		})
	}
	f := &safetensors.File{}
	safetensors.Add(f, "node", θ.Node, θ.Positions(), θ.Y)
	safetensors.Add(f, "edge", θ.Edge, edge...)
	safetensors.Add(f, "offsets", offsets)
	if d.Labels != nil {
		safetensors.Add(f, "labels", d.Labels)
	}
	if f.Metadata, err = jsonTexts(map[string]any{"label_names": m.Labels.Names(), "ids": ids}); err != nil {
		return err
	}
	return safetensors.Write(path, f)
}

// ExportWeights writes the network's weights to a .txt, .npz or .safetensors file: a tensor for each parameter of the
// network, with label_names as a Unicode array in npz and as a JSON list in the metadata of safetensors. Where attributes
// have names, these are in attribute_names and edge_attribute_names: bytes, a line feed after each name. As text, the
// weights of a linear net of attributes are what ImportWeights reads (see weightstext.go); of another net, each parameter
// is a line "name shape", such as "W 128×26", and lines with the numbers, one row a line.
func (m *Model) ExportWeights(path string) error {
	format, err := exportFormat(path, ".txt", ".npz", ".safetensors")
	if err != nil {
		return err
	}
	if format == ".txt" {
		if m.Dictionary != nil {
			return structured.WriteFile(path, m.writeAttributeWeights)
		}
		return structured.WriteFile(path, m.writeText)
	}
	f := &safetensors.File{}
	m.addWeights(f)
	if err := addDictionary(f, m.Dictionary); err != nil {
		return err
	}
	if format == ".safetensors" {
		if f.Metadata, err = jsonTexts(map[string]any{"label_names": m.Labels.Names()}); err != nil {
			return err
		}
		return safetensors.Write(path, f)
	}
	return structured.WriteFile(path, func(w io.Writer) error {
		return writeNPZ(w, func(n npzWriter) error {
			for _, name := range slices.Sorted(maps.Keys(f.Tensors)) {
				t := f.Tensors[name]
				var err error
				switch data := t.Data.(type) {
				case []float32:
					err = add(n, name, data, t.Shape...)
				case []uint8:
					err = add(n, name, data, t.Shape...)
				}
				if err != nil {
					return err
				}
			}
			return n.addText("label_names", m.Labels.Names())
		})
	})
}

func (m *Model) writeText(to io.Writer) error {
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

func writeNPZ(w io.Writer, write func(n npzWriter) error) error {
	n := newNPZ(w)
	if err := write(n); err != nil {
		return err
	}
	return n.Close()
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// jsonTexts makes metadata, whose values are texts: the JSON of each.
func jsonTexts(values map[string]any) (map[string]string, error) {
	texts := make(map[string]string, len(values))
	for name, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		texts[name] = string(text)
	}
	return texts, nil
}
