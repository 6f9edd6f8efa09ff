package reproduce

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsp-go/dsp/structured"
)

// check is a claim in a form that can be computed: a measure, and a relation of two expressions of curves' values of
// it, such as
//
//	final objective: casimir-const <= 1.01 * min(sgd, bcfw)
//
// An expression is a sum of terms; a term is a number, a curve, min(…), max(…) or sd(…) of curves, or a number * one of
// these. A curve is written as its name, in double quotes if the name has blanks, parentheses or commas; operators
// stand between blanks. sd is the largest standard deviation over seeds among curves.
type check struct {
	text        string
	measure     measure
	left, right expression
	relation    string // <, <=, >, >=
}

type expression []term

type term struct {
	factor float64
	kind   string   // empty: a curve; min, max, sd, or number: factor alone
	curves []string // their names
}

func parseCheck(text string) (check, error) {
	c := check{text: strings.Join(strings.Fields(text), " ")}
	head, body, ok := strings.Cut(c.text, ": ")
	if !ok {
		return c, structured.BadInput("%q: expected MEASURE: LEFT <= RIGHT, such as final objective: casimir <= sgd", c.text)
	}
	var err error
	if c.measure, err = parseMeasure(head); err != nil {
		return c, err
	}
	tokens, err := tokens(body)
	if err != nil {
		return c, err
	}
	at := slices.IndexFunc(tokens, func(t string) bool { return t == "<" || t == "<=" || t == ">" || t == ">=" })
	if at < 0 {
		return c, structured.BadInput("%q: expected <, <=, > or >= between two expressions", body)
	}
	c.relation = tokens[at]
	if c.left, err = parseExpression(tokens[:at]); err == nil {
		c.right, err = parseExpression(tokens[at+1:])
	}
	return c, err
}

// tokens splits an expression. Names in quotes keep the opening quote, which marks them as names.
func tokens(text string) ([]string, error) {
	var all []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		size := 1
		switch {
		case text[0] == '"':
			end := strings.IndexByte(text[1:], '"')
			if end < 0 {
				return nil, structured.BadInput("%s: a quote is missing", text)
			}
			all = append(all, text[:end+1])
			text = text[end+2:]
			continue
		case !strings.ContainsRune("(),", rune(text[0])):
			if size = strings.IndexAny(text, " (),"); size < 0 {
				size = len(text)
			}
		}
		all = append(all, text[:size])
		text = text[size:]
	}
	return all, nil
}

func parseExpression(tokens []string) (expression, error) {
	var e expression
	sign := 1.0
	for i := 0; ; i++ {
		var t term
		var err error
		if t, tokens, err = parseTerm(tokens); err != nil {
			return nil, err
		}
		t.factor *= sign
		e = append(e, t)
		if len(tokens) == 0 {
			return e, nil
		}
		switch tokens[0] {
		case "+":
			sign = 1
		case "-", "−":
			sign = -1
		default:
			return nil, structured.BadInput("%q: expected + or - between terms", tokens[0])
		}
		tokens = tokens[1:]
	}
}

// parseTerm reads a term and returns what follows it.
func parseTerm(tokens []string) (term, []string, error) {
	t := term{factor: 1}
	if len(tokens) == 0 {
		return t, nil, structured.BadInput("expected a curve or a number at the end")
	}
	if x, err := strconv.ParseFloat(tokens[0], 64); err == nil && !math.IsNaN(x) {
		t.factor = x
		if len(tokens) == 1 || tokens[1] != "*" {
			t.kind = "number"
			return t, tokens[1:], nil
		}
		if tokens = tokens[2:]; len(tokens) == 0 {
			return t, nil, structured.BadInput("expected a curve after *")
		}
	}
	if len(tokens) > 1 && tokens[1] == "(" {
		if t.kind = tokens[0]; t.kind != "min" && t.kind != "max" && t.kind != "sd" {
			return t, nil, structured.BadInput("%q: expected min, max or sd before a parenthesis", t.kind)
		}
		for tokens = tokens[2:]; len(tokens) > 1; tokens = tokens[2:] {
			t.curves = append(t.curves, strings.TrimPrefix(tokens[0], `"`))
			switch tokens[1] {
			case ")":
				return t, tokens[2:], nil
			case ",":
			default:
				return t, nil, structured.BadInput("%q: expected a comma or ) between curves of %s", tokens[1], t.kind)
			}
		}
		return t, nil, structured.BadInput("%s(: expected curves with commas between, then )", t.kind)
	}
	name := tokens[0]
	if slices.Contains([]string{"(", ")", ",", "+", "-", "*"}, name) {
		return t, nil, structured.BadInput("%q: expected a curve or a number", name)
	}
	t.curves = []string{strings.TrimPrefix(name, `"`)}
	return t, tokens[1:], nil
}

// curves returns the names of the curves that c compares, each once, in their order.
func (c check) curves() []string {
	var all []string
	for _, t := range slices.Concat(c.left, c.right) {
		for _, name := range t.curves {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// value evaluates e, given the value and the standard deviation of each curve.
func (e expression) value(of, sd func(curve string) float64) float64 {
	sum := 0.0
	for _, t := range e {
		sum += t.value(of, sd)
	}
	return sum
}

func (t term) value(of, sd func(curve string) float64) float64 {
	if t.kind == "number" {
		return t.factor
	}
	fold := math.Max
	switch t.kind {
	case "min":
		fold = math.Min
	case "sd":
		of = sd
	}
	x := of(t.curves[0])
	for _, name := range t.curves[1:] {
		x = fold(x, of(name))
	}
	return t.factor * x
}

// holds evaluates c. It is undecided if a value is missing, or if both sides are infinite.
func (c check) holds(of, sd func(curve string) float64) (holds, decided bool) {
	left, right := c.left.value(of, sd), c.right.value(of, sd)
	if math.IsNaN(left) || math.IsNaN(right) || math.IsInf(left, 0) && math.IsInf(right, 0) {
		return false, false
	}
	switch c.relation {
	case "<":
		return left < right, true
	case "<=":
		return left <= right, true
	case ">":
		return left > right, true
	}
	return left >= right, true
}
