package uai

import (
	"bufio"
	"math"
	"strconv"
)

// WritePR writes the answer to the task PR: the partition function, as its decimal logarithm.
func WritePR(w *bufio.Writer, logZ float64) {
	w.WriteString("PR\n")
	w.WriteString(number(logZ / math.Ln10))
	w.WriteByte('\n')
}

// WriteMAR writes the answer to the task MAR: of every variable its number of states and their probabilities.
func WriteMAR(w *bufio.Writer, p [][]float64) {
	w.WriteString("MAR\n")
	w.WriteString(strconv.Itoa(len(p)))
	for _, of := range p {
		w.WriteByte(' ')
		w.WriteString(strconv.Itoa(len(of)))
		for _, x := range of {
			w.WriteByte(' ')
			w.WriteString(number(x))
		}
	}
	w.WriteByte('\n')
}

// WriteMAP writes the answer to the task MAP: the state of every variable.
func WriteMAP(w *bufio.Writer, states []int) {
	w.WriteString("MAP\n")
	w.WriteString(strconv.Itoa(len(states)))
	for _, s := range states {
		w.WriteByte(' ')
		w.WriteString(strconv.Itoa(s))
	}
	w.WriteByte('\n')
}

func number(x float64) string {
	if math.IsInf(x, -1) {
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', 10, 64)
}
