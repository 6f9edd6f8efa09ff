package structured

import "testing"

func TestParseName(t *testing.T) {
	names := []string{"a", "b", "c"}
	if k, err := ParseName[int]("letter", names, "b"); k != 1 || err != nil {
		t.Errorf("%d, %v", k, err)
	}
	_, err := ParseName[int]("letter", names, "d")
	if want := `letter "d" is not known; use a, b or c`; !IsBadInput(err) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
