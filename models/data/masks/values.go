package masks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// Values say what the values of pixels in files mean. Masks of one kind of object often have the values 0 and 255, and
// others have values far apart, so that they are seen as different greys. In most sets values are labels, and 255 is
// void: nil Values.
type Values struct {
	Void   int     // the value of pixels that count nowhere; NoVoid: there is none
	Labels []uint8 // the value of each label; nil: label k has the value k
}

// NoVoid is the void value of masks all of whose pixels count.
const NoVoid = -1

// None and Auto are settings: no value is void, and the files decide.
const None, Auto = "none", "auto"

// ParseValues reads the settings void (auto, none or a value) and mask-values (auto, or the values of the labels in
// their order). Auto is 255 for void, unless that is the value of a label.
func ParseValues(void, labels string) (*Values, error) {
	v := &Values{Void: Void}
	switch void {
	case Auto:
	case None:
		v.Void = NoVoid
	default:
		l, err := strconv.ParseUint(void, 10, 8)
		if err != nil {
			return nil, structured.BadInput("--void %s: expected auto, none or a value from 0 to 255", void)
		}
		v.Void = int(l)
	}
	if labels == Auto {
		if v.Void == Void {
			return nil, nil
		}
		return v, nil
	}
	for text := range strings.SplitSeq(labels, ",") {
		l, err := strconv.ParseUint(strings.TrimSpace(text), 10, 8)
		switch {
		case err != nil:
			return nil, structured.BadInput("--mask-values %s: %q, expected auto, or values from 0 to 255, such as 0,255",
				labels, text)
		case slices.Contains(v.Labels, uint8(l)):
			return nil, structured.BadInput("--mask-values %s: %d is there twice", labels, l)
		}
		v.Labels = append(v.Labels, uint8(l))
	}
	if i := slices.Index(v.Labels, uint8(v.Void)); i >= 0 && v.Void != NoVoid {
		if void != Auto {
			return nil, structured.BadInput("--mask-values %s has %d, which --void says is void", labels, v.Void)
		}
		v.Void = NoVoid
	}
	if len(v.Labels) > MaxLabels {
		return nil, structured.BadInput("--mask-values: %d values, expected at most %d", len(v.Labels), MaxLabels)
	}
	return v, nil
}

// Settings returns the settings that ParseValues reads.
func (v *Values) Settings() (void, labels string) {
	if v == nil {
		return strconv.Itoa(Void), Auto
	}
	if void = None; v.Void != NoVoid {
		void = strconv.Itoa(v.Void)
	}
	if v.Labels == nil {
		return void, Auto
	}
	return void, strings.Join(v.Names(), ",")
}

// Names returns the values of the labels as text.
func (v *Values) Names() []string {
	names := make([]string, len(v.Labels))
	for k, l := range v.Labels {
		names[k] = strconv.Itoa(int(l))
	}
	return names
}

// Read returns a mask with labels in place of the values that its file has. A value that is none of theirs is bad
// input; name is that of the file.
func (v *Values) Read(m *Mask, name string) (*Mask, error) {
	if v == nil {
		return m, nil
	}
	const unknown = -1
	var label [256]int
	for l := range label {
		if label[l] = unknown; v.Labels == nil && l < Void {
			label[l] = l
		}
	}
	for k, l := range v.Labels {
		label[l] = k
	}
	if v.Void != NoVoid {
		label[v.Void] = Void
	}
	read := *m
	read.Labels = make([]uint8, len(m.Labels))
	for i, l := range m.Labels {
		if label[l] == unknown {
			return nil, structured.BadInput("%s: the pixel at x %d, y %d has the value %d, expected %s", name,
				i%m.Width, i/m.Width, l, v)
		}
		read.Labels[i] = uint8(label[l])
	}
	return &read, nil
}

// String lists the values, for messages.
func (v *Values) String() string {
	labels := "0 to 254"
	if v.Labels != nil {
		labels = structured.SomeOf(v.Names())
	}
	if v.Void == NoVoid {
		return labels + " (--mask-values), none of them void (--void)"
	}
	return fmt.Sprintf("%s (--mask-values), or %d, void (--void)", labels, v.Void)
}

// Stored returns a mask with the values that files have in place of labels. Where no value is void, void pixels
// keep 255.
func (v *Values) Stored(m *Mask) *Mask {
	if v == nil {
		return m
	}
	stored := *m
	stored.Labels = make([]uint8, len(m.Labels))
	for i, l := range m.Labels {
		switch {
		case l == Void && v.Void != NoVoid:
			l = uint8(v.Void)
		case int(l) < len(v.Labels):
			l = v.Labels[l]
		}
		stored.Labels[i] = l
	}
	return &stored
}

// Found collects the values in masks.
type Found [256]bool

// Add adds those of a mask.
func (f *Found) Add(m *Mask) {
	for _, l := range m.Labels {
		f[l] = true
	}
}

// List returns them in ascending order.
func (f *Found) List() []uint8 {
	var all []uint8
	for l, is := range f {
		if is {
			all = append(all, uint8(l))
		}
	}
	return all
}

// Object returns the values of a background and an object if there are no more than two values, the larger of which is
// 255; nil otherwise.
func (f *Found) Object() *Values {
	if all := f.List(); len(all) == 2 && f[Void] {
		return &Values{Void: NoVoid, Labels: all}
	}
	return nil
}

// Plain reports whether more masks cannot make Object other than nil, nor show whether 255 is void: there are three
// other values, or 255 and two.
func (f *Found) Plain() bool {
	all := f.List()
	return len(all) > 3 || len(all) == 3 && f[Void]
}
