package matchings

import "fmt"

// Check returns an error unless y is a matching with that many targets. Numbers below 0 are not known for certain and are not checked.
func Check(y []int32, targets int) error {
	taken := make([]int, targets+1) // by which source, counted from 1
	for i, number := range y {
		switch {
		case int(number) > targets:
			return fmt.Errorf("source %d is linked to target %d, expected at most %d", i+1, number, targets)
		case number <= 0:
		case taken[number] > 0:
			return fmt.Errorf("sources %d and %d are both linked to target %d, expected one source per target", taken[number], i+1, number)
		default:
			taken[number] = i + 1
		}
	}
	return nil
}
