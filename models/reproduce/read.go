package reproduce

import (
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/dsp-go/dsp/models/config"
	"github.com/dsp-go/dsp/models/settings"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/sys/documents"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// Read reads the figures from a YAML file, or from all of them in a folder, in the order of their names.
func Read(path string) ([]*Figure, error) {
	files := []string{path}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, structured.BadInput("--from: %w", err)
	case info.IsDir():
		if files, err = host.FilesIn(path, "*.yaml"); err != nil || len(files) == 0 {
			return nil, structured.BadInput("--from %s: no .yaml files there; --write %s makes them", path, path)
		}
	}
	var all []*Figure
	for _, file := range files {
		text, err := host.ReadText(file, documents.MostBytes)
		if err != nil {
			return nil, structured.BadInput("--from: %w", err)
		}
		f, err := Parse(file, text)
		if err != nil {
			return nil, err
		}
		if k := slices.IndexFunc(all, func(g *Figure) bool { return g.Name == f.Name }); k >= 0 {
			return nil, structured.BadInput("%s: figure %s is in %s, too", file, f.Name, all[k].path)
		}
		all = append(all, f)
	}
	return all, nil
}

// Parse reads one figure; path is for messages. Unknown keys and settings, values of the wrong kind, and claims about
// curves that are not there are bad input, with file and line.
func Parse(path string, text []byte) (*Figure, error) {
	d := &document{path: path}
	body, err := d.open(text)
	if err != nil {
		return nil, err
	}
	f := &Figure{Seeds: 10, DataSeed: 1, X: quantity{name: "calls"}, path: path, text: text}
	var (
		data   = "task"
		shared Part // curves, reference and choice of the parts that have none of their own
		choose = choice{}
		parts  []ast.Node
		y      []string
		x      string
	)
	err = d.mapping(body, "the figure", keys{
		"figure":    d.text("figure", &f.Name),
		"title":     d.text("title", &f.Title),
		"data":      d.text("data", &data),
		"data-seed": d.count("data-seed", 0, &f.DataSeed),
		"seeds":     d.count("seeds", 1, &f.Seeds),
		"x":         d.text("x", &x),
		"y":         d.texts("y", &y),
		"settings":  d.settings(&f.Settings),
		"reference": d.settings(&shared.Reference),
		"choose":    d.choice(&choose),
		"curves":    d.list("curves", d.curve(&shared)),
		"parts":     d.list("parts", func(n ast.Node) error { parts = append(parts, n); return nil }),
		"claims":    d.list("claims", d.claim(f)),
		"notes":     d.texts("notes", &f.Notes),
		"quick": func(n ast.Node) error {
			return d.mapping(n, "quick",
				keys{"seeds": d.count("seeds", 1, &f.Quick.Seeds), "settings": d.settings(&f.Quick.Settings)})
		},
	})
	if err != nil {
		return nil, err
	}
	if f.Text = data == "text"; !f.Text && data != "task" {
		return nil, d.bad(body, "data: expected text (drawn sentences) or task (what the task draws, or files that the "+
			"settings name), found %q", data)
	}
	if f.Name == "" || strings.ContainsAny(f.Name, `/\ `) {
		return nil, d.bad(body, "figure: expected a name for its files, such as 2")
	}
	if err := d.axes(body, f, x, y); err != nil {
		return nil, err
	}
	if parts == nil {
		f.Parts = []Part{shared}
	}
	for _, n := range parts {
		p := Part{Curves: shared.Curves, Reference: shared.Reference}
		own := Part{}
		err := d.mapping(n, "a part", keys{
			"name":      d.text("name", &p.Name),
			"settings":  d.settings(&p.Settings),
			"reference": d.settings(&p.Reference),
			"curves":    d.list("curves", d.curve(&own)),
		})
		if err != nil {
			return nil, err
		}
		if own.Curves != nil {
			p.Curves = own.Curves
		}
		if slices.ContainsFunc(f.Parts, func(q Part) bool { return q.Name == p.Name }) {
			return nil, d.bad(n, "a part needs a name of its own, found %q", p.Name)
		}
		f.Parts = append(f.Parts, p)
	}
	for i := range f.Parts {
		p := &f.Parts[i]
		if len(p.Curves) == 0 {
			return nil, d.bad(body, "part %q has no curves", p.Name)
		}
		p.Curves = slices.Clone(p.Curves)
		for k := range p.Curves {
			if p.Curves[k].Choose == (choice{}) {
				p.Curves[k].Choose = choose
			}
		}
	}
	return f, f.checkClaims(d)
}

// axes reads the names of the axes.
func (d *document) axes(n ast.Node, f *Figure, x string, y []string) error {
	if x != "" {
		q, err := parseQuantity(x)
		if err != nil || !q.progress() {
			return d.bad(n, "x: expected calls, all-calls, passes or seconds, found %q", x)
		}
		f.X = q
	}
	if y == nil {
		y = []string{"objective"}
	}
	for _, text := range y {
		a, err := parseQuantity(text)
		if err != nil {
			return d.bad(n, "y: %w", err)
		}
		f.Y = append(f.Y, a)
	}
	return nil
}

// settings reads a mapping of settings of dsp train.
func (d *document) settings(to *overrides) func(n ast.Node) error {
	return func(n ast.Node) error {
		*to = overrides{d.path, n}
		c := base()
		if err := to.apply(&c); err != nil {
			return err
		}
		for _, kv := range settings.MappingValues(n) {
			if s, ok := settings.Named(config.Settings(&c), kv.Key.GetToken().Value); ok {
				if err := s.Check(); err != nil {
					return d.bad(kv, "%w", err)
				}
			}
		}
		return nil
	}
}

// curve reads an item of a list of curves.
func (d *document) curve(to *Part) func(n ast.Node) error {
	return func(n ast.Node) error {
		var c Curve
		err := d.mapping(n, "a curve", keys{
			"name":     d.text("name", &c.Name),
			"settings": d.settings(&c.Settings),
			"tune":     d.tune(&c.Tune),
			"choose":   d.choice(&c.Choose),
		})
		switch {
		case err != nil:
			return err
		case c.Name == "":
			return d.bad(n, "a curve needs a name")
		case slices.ContainsFunc(to.Curves, func(o Curve) bool { return o.Name == c.Name }):
			return d.bad(n, "two curves are called %q", c.Name)
		}
		to.Curves = append(to.Curves, c)
		return nil
	}
}

// tune reads the settings to choose, with the values to try.
func (d *document) tune(to *[]grid) func(n ast.Node) error {
	return func(n ast.Node) error {
		all := keys{}
		c := base()
		for _, s := range config.Settings(&c) {
			g := grid{name: s.Name}
			all[s.Name] = func(n ast.Node) error {
				g.node = n
				if err := d.texts(s.Name, &g.values)(n); err != nil {
					return err
				}
				for _, value := range g.values {
					if err := s.Set(value); err != nil {
						return d.bad(n, "tune: %s: %w", s.Name, err)
					}
				}
				if len(g.values) == 0 {
					return d.bad(n, "tune: %s: expected values to try", s.Name)
				}
				*to = append(*to, g)
				return nil
			}
		}
		return d.mapping(n, "tune", all)
	}
}

// choice reads how values of tuned settings are compared.
func (d *document) choice(to *choice) func(n ast.Node) error {
	return func(n ast.Node) error {
		var text string
		if err := d.text("choose", &text)(n); err != nil {
			return err
		}
		var err error
		if *to, err = parseChoice(text); err != nil {
			return d.bad(n, "choose: %w", err)
		}
		return nil
	}
}

// claim reads an item of the list of claims.
func (d *document) claim(f *Figure) func(n ast.Node) error {
	return func(n ast.Node) error {
		c := Claim{node: n}
		var text string
		var at ast.Node
		err := d.mapping(n, "a claim", keys{
			"says":  d.text("says", &c.Says),
			"where": d.text("where", &c.Where),
			"part":  d.text("part", &c.Part),
			"check": func(n ast.Node) error { at = n; return d.text("check", &text)(n) },
		})
		switch {
		case err != nil:
			return err
		case c.Says == "" || text == "":
			return d.bad(n, "a claim needs says (its words) and check (how to check it)")
		}
		if c.Check, err = parseCheck(text); err != nil {
			return d.bad(at, "check: %w", err)
		}
		c.node = at
		f.Claims = append(f.Claims, c)
		return nil
	}
}

// checkClaims refuses claims about parts and curves that are not there.
func (f *Figure) checkClaims(d *document) error {
	for _, c := range f.Claims {
		var names []string
		for _, p := range f.parts(c) {
			names = nil
			for _, curve := range p.Curves {
				names = append(names, curve.Name)
			}
			for _, name := range c.Check.curves() {
				if !slices.Contains(names, name) {
					return d.bad(c.node, "check: part %q has no curve %q%s; it has %s", p.Name, name, suggest(name, names),
						strings.Join(names, ", "))
				}
			}
		}
		if names == nil {
			return d.bad(c.node, "there is no part %q", c.Part)
		}
	}
	return nil
}

func suggest(name string, names []string) string {
	if near := settings.Nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// parts returns the parts that a claim speaks of.
func (f *Figure) parts(c Claim) []Part {
	var all []Part
	for _, p := range f.Parts {
		if c.Part == "" || c.Part == p.Name {
			all = append(all, p)
		}
	}
	return all
}
