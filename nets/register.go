package nets

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/dsp-go/dsp/nets/graph"
	"github.com/dsp-go/dsp/structured"
	"github.com/dsp-go/dsp/structured/chains"
)

// Maker makes the Spec of an own network for inputs and outputs of the given shapes. Every setting that its network has
// is set in c.
type Maker func(c Config, in graph.Input, out Output) (graph.Spec, error)

// Output is what a network scores.
type Output struct {
	Labels int             // labels of the positions of chains, relations of the arcs of trees; other structures need none
	Form   structured.Form // of the potentials: what Spec.Form is for a network that has Parts
}

// ChainOutput is the Output of chains with the given number of labels and kind of edge potentials.
func ChainOutput(labels int, edges string) Output {
	return Output{labels, chains.Form(labels, edges == EdgesPosition)}
}

func (o Output) isChain() bool {
	_, ok := o.Form.Structure.(chains.Chain)
	return ok
}

// own is a registered network.
type own struct {
	name     string
	defaults Config
	make     Maker
}

// registry holds the registered networks in the order of their registration, and the first error of a registration.
var registry struct {
	sync.Mutex
	all []own
	err error
}

// Register gives an own network a name, by which the setting net then chooses it, like a preset: New and Make make it,
// and the program trains, saves and loads models with it. A program registers its networks before it uses any.
//
// A field that is set in defaults is a setting of the network; the user may change it. The others are refused: a
// network whose defaults have Hidden takes --hidden, and no --channels. The setting activation is elu by default, and
// edges transition, so that defaults have these values or none. Dropout is a setting of the network if it has hidden
// layers or an activation.
//
// A name that is empty, taken, or that of a preset is an error, which every later use of the registry reports.
func Register(name string, defaults Config, m Maker) {
	registry.Lock()
	defer registry.Unlock()
	if err := checkRegistration(name, defaults, m); err != nil && registry.err == nil {
		registry.err = err
	} else if err == nil {
		defaults.Net = name
		registry.all = append(registry.all, own{name, defaults, m})
	}
}

func checkRegistration(name string, defaults Config, m Maker) error {
	switch {
	case name == "" || strings.ContainsAny(name, " ,=|") || IsStackFile(name):
		return structured.BadInput("own network %q: expected a name without spaces, commas, = and |, and "+
			"not that of a YAML file", name)
	case isPreset(name) || name == "auto":
		return structured.BadInput("own network %q has the name of a preset; register it under another one", name)
	case slices.ContainsFunc(registry.all, func(o own) bool { return o.name == name }):
		return structured.BadInput("own network %q is registered twice", name)
	case m == nil:
		return structured.BadInput("own network %q is registered without a function that makes it", name)
	case defaults.Activation != "" && defaults.Activation != graph.ELU:
		return structured.BadInput("own network %q has activation %s by default; the default is %s for every network", name,
			defaults.Activation, graph.ELU)
	case defaults.Edges != "" && defaults.Edges != EdgesTransition:
		return structured.BadInput("own network %q has edges %s by default; the default is %s for every network", name,
			defaults.Edges, EdgesTransition)
	}
	return nil
}

func isPreset(name string) bool {
	_, ok := FindPreset(name)
	return ok
}

// Registered returns the names of the own networks in the order of their registration, and the first error of a
// registration.
func Registered() ([]string, error) {
	registry.Lock()
	defer registry.Unlock()
	var names []string
	for _, o := range registry.all {
		names = append(names, o.name)
	}
	return names, registry.err
}

// findOwn returns the own network of that name.
func findOwn(name string) (own, bool) {
	registry.Lock()
	defer registry.Unlock()
	for _, o := range registry.all {
		if o.name == name {
			return o, true
		}
	}
	return own{}, false
}

// HasSetting reports whether a registered network has the setting of Config with that name in YAML; own is false if no
// network is registered under the name net.
func HasSetting(net, setting string) (has, own bool) {
	o, ok := findOwn(net)
	if !ok {
		return false, false
	}
	if setting == "dropout" {
		return true, true // build checks it
	}
	v := reflect.ValueOf(o.defaults)
	for i := range v.NumField() {
		if fieldName(v.Type().Field(i)) == setting {
			return !v.Field(i).IsZero(), true
		}
	}
	return false, true
}

// fieldName returns the name of a setting.
func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}

// resolve fills in the defaults of an own network, and refuses settings that it does not have.
func (o own) resolve(c Config) (Config, error) {
	if o.defaults.Activation == "" && c.Activation == graph.ELU {
		c.Activation = "" // the default of every network
	}
	if o.defaults.Edges == "" &&
		(c.Edges == EdgesTransition || c.Edges != EdgesNone && slices.Contains(graphEdges, c.Edges)) {
		c.Edges = "" // the form of the potentials has the kind of a graph's edges
	}
	to, from := reflect.ValueOf(&c).Elem(), reflect.ValueOf(o.defaults)
	for i := range to.NumField() {
		name := fieldName(to.Type().Field(i))
		if name == "-" {
			continue // says where a setting comes from
		}
		if has, _ := HasSetting(o.name, name); !has && !to.Field(i).IsZero() {
			return c, structured.BadInput("own network %s has no setting %s", o.name, name)
		}
		if to.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return c, nil
}

// build makes the network.
func (o own) build(c Config, in graph.Input, out Output) (net *Net, err error) {
	spec, err := o.spec(c, in, out)
	if err != nil {
		return nil, fmt.Errorf("own network %q: %w", o.name, err)
	}
	spec.Name = o.name
	if net, err = Build(spec, in); err != nil {
		return nil, err
	}
	if c.Dropout > 0 && !net.Needs().Dropout {
		return nil, structured.BadInput("own network %q has no dropout: its function does not call Graph.Dropout", o.name)
	}
	return net, net.mustScore(out)
}

// spec calls the function that makes the network. A panic there is an error.
func (o own) spec(c Config, in graph.Input, out Output) (s graph.Spec, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return o.make(c, in, out)
}

// mustScore refuses a network whose potentials are not those of the outputs.
func (n *Net) mustScore(out Output) error {
	got := n.Form()
	if out.isChain() {
		if _, ok := got.Structure.(chains.Chain); !ok || got.Parts[0].Width != out.Labels {
			return structured.BadInput("own network %q scores %s; expected the labels of a chain, %d of them", n.Name(),
				describe(got), out.Labels)
		}
		return nil
	}
	if !reflect.DeepEqual(got, out.Form) {
		return structured.BadInput("own network %q scores %s; expected %s: the Form that its function is given, with Parts",
			n.Name(), describe(got), describe(out.Form))
	}
	return nil
}

// describe names a structure and its parts.
func describe(f structured.Form) string {
	var parts []string
	for _, p := range f.Parts {
		parts = append(parts, fmt.Sprintf("%s ×%d", p.Name, p.Width))
	}
	return fmt.Sprintf("a %s with parts %s", f.Structure.Name(), strings.Join(parts, ", "))
}
