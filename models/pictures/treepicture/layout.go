package treepicture

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/dsp-go/dsp/models/pictures/canvas"
)

// arc is a line from a head to its dependent. Words count from 0; the head of the root is −1.
type arc struct {
	head, dependent int
	label           string
	line            draw.LineStyle
	text            color.Color
	level           int       // height at which it is drawn, from 1
	from, to        vg.Length // x positions of its ends at the head and at the dependent
}

func (a *arc) isRoot() bool { return a.head < 0 }

// ends returns the left and the right word.
func (a *arc) ends() (left, right int) { return min(a.head, a.dependent), max(a.head, a.dependent) }

func (a *arc) labelWidth() vg.Length { return canvas.Style(smallSize, canvas.Ink).Width(a.label) + 6 }

// layout holds the positions of everything in the picture of a sentence.
type layout struct {
	s             *Sentence
	arcs          []*arc
	centre        []vg.Length // [n] x positions of the words
	width, height vg.Length
	base          vg.Length // baseline of the arcs, just above the words
}

func newLayout(s *Sentence) *layout {
	l := &layout{s: s, arcs: s.arcs()}
	l.stack()
	l.place()
	l.base = 20
	if s.Tags != nil {
		l.base += 13
	}
	top := 0
	for _, a := range l.arcs {
		top = max(top, a.level)
	}
	l.height = l.base + vg.Length(top)*levelStep + headRoom/2
	return l
}

// arcs lists the arcs to draw.
func (s *Sentence) arcs() []*arc {
	var arcs []*arc
	for d, h := range s.Heads {
		probability := float32(1)
		if s.Certainty != nil {
			probability = s.Certainty[d]
		}
		a := &arc{head: int(h) - 1, dependent: d, label: s.Relations[d], line: arcLine(canvas.Right, probability),
			text: canvas.Ink}
		switch {
		case s.GoldHeads == nil:
		case s.GoldHeads[d] != h:
			a.line, a.text = arcLine(canvas.Wrong, probability), canvas.Wrong
			missed := &arc{head: int(s.GoldHeads[d]) - 1, dependent: d, line: goldLine(), text: canvas.Gold}
			if s.GoldRelations != nil {
				missed.label = s.GoldRelations[d]
			}
			arcs = append(arcs, missed)
		case s.GoldRelations != nil && s.GoldRelations[d] != s.Relations[d]:
			a.label, a.text = a.label+" ("+s.GoldRelations[d]+")", canvas.Wrong
		}
		if probability < 0.995 {
			a.label += fmt.Sprintf(" %.2f", probability)
		}
		arcs = append(arcs, a)
	}
	return arcs
}

// stack assigns levels to arcs: each is above all shorter arcs that overlap it.
func (l *layout) stack() {
	slices.SortStableFunc(l.arcs, func(a, b *arc) int {
		fromA, toA := a.ends()
		fromB, toB := b.ends()
		return cmp.Or(cmp.Compare(roots(a), roots(b)), cmp.Compare(toA-fromA, toB-fromB), cmp.Compare(fromA, fromB))
	})
	for k, a := range l.arcs {
		a.level = 1
		from, to := a.ends()
		for _, b := range l.arcs[:k] {
			left, right := b.ends()
			if a.isRoot() { // a vertical line, above the arcs that span or touch its word
				if b.isRoot() || (left <= a.dependent && a.dependent <= right) {
					a.level = max(a.level, b.level+1)
				}
			} else if left < to && from < right {
				a.level = max(a.level, b.level+1)
			}
		}
	}
}

// roots sorts root arcs after all others.
func roots(a *arc) int {
	if a.isRoot() {
		return 1
	}
	return 0
}

// endpoint is the point where an arc meets a word.
type endpoint struct {
	at    *vg.Length
	order int // from the left: short arcs to the left, long ones, the root, long arcs to the right, short ones
}

// place spaces the words so that the labels fit between them, and places the ends of arcs side by side.
func (l *layout) place() {
	n := len(l.s.Words)
	ends := make([][]endpoint, n)
	for _, a := range l.arcs {
		if a.isRoot() {
			ends[a.dependent] = append(ends[a.dependent], endpoint{&a.to, 0})
			continue
		}
		span := 2*n - a.level // higher arcs are further in
		if a.head < a.dependent {
			ends[a.head] = append(ends[a.head], endpoint{&a.from, span})
			ends[a.dependent] = append(ends[a.dependent], endpoint{&a.to, -span})
		} else {
			ends[a.head] = append(ends[a.head], endpoint{&a.from, -span})
			ends[a.dependent] = append(ends[a.dependent], endpoint{&a.to, span})
		}
	}
	half := make([]vg.Length, n) // half the width that a word needs
	for t, word := range l.s.Words {
		half[t] = canvas.Style(wordSize, canvas.Ink).Width(word) / 2
		if l.s.Tags != nil {
			half[t] = max(half[t], canvas.Style(smallSize, canvas.Ink).Width(l.s.Tags[t])/2)
		}
		half[t] = max(half[t], vg.Length(len(ends[t]))*endStep/2)
		slices.SortStableFunc(ends[t], func(a, b endpoint) int { return cmp.Compare(a.order, b.order) })
		for k, e := range ends[t] {
			*e.at = (vg.Length(k) - vg.Length(len(ends[t])-1)/2) * endStep
		}
	}
	l.centre = make([]vg.Length, n)
	for t := range l.centre {
		l.centre[t] = half[t]
		if t == 0 {
			continue
		}
		l.centre[t] = l.centre[t-1] + half[t-1] + wordGap + half[t]
		for _, a := range l.arcs {
			if left, right := a.ends(); right == t && !a.isRoot() { // the label fits between the ends
				need := a.labelWidth() + 2*corner
				if a.head < a.dependent {
					need += a.from - a.to
				} else {
					need += a.to - a.from
				}
				l.centre[t] = max(l.centre[t], l.centre[left]+need)
			}
		}
	}
	for _, a := range l.arcs {
		a.to += l.centre[a.dependent]
		if !a.isRoot() {
			a.from += l.centre[a.head]
		}
	}
	for t := range l.centre {
		l.width = max(l.width, l.centre[t]+half[t])
	}
	for _, a := range l.arcs { // the label of the root stands beside its line
		if a.isRoot() {
			l.width = max(l.width, a.to+4+a.labelWidth())
		}
	}
}
