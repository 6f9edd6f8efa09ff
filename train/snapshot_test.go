package train

import (
	"reflect"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/structured/sys/safetensors"
)

// A checkpoint keeps every number of a state but those that say of themselves that they are not in it.
func TestStateComesBack(t *testing.T) {
	var was, is State
	fields := reflect.ValueOf(&was).Elem()
	for k := range fields.NumField() {
		switch f := fields.Field(k); f.Kind() {
		case reflect.Int:
			f.SetInt(int64(k + 1))
		case reflect.Float64:
			f.SetFloat(float64(k) + 0.5)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]float32{1, 2}))
		default:
			t.Fatalf("a field of type %s", f.Type())
		}
	}
	shot := &snapshot{prefix: "state.", new: map[string]safetensors.Tensor{}}
	was.archive(shot)
	from := &restorer{prefix: "state.", file: &safetensors.File{Tensors: shot.new}, read: map[string]bool{}}
	is.archive(from)
	if err := from.finish(); shot.err != nil || err != nil {
		t.Fatal(shot.err, err)
	}
	back := reflect.ValueOf(&is).Elem()
	for k := range fields.NumField() {
		name := fields.Type().Field(k).Name
		kept := !slices.Contains([]string{"Above", "Deferred"}, name)
		if same := reflect.DeepEqual(fields.Field(k).Interface(), back.Field(k).Interface()); same != kept {
			t.Errorf("%s was %v, is %v", name, fields.Field(k), back.Field(k))
		}
	}
}
