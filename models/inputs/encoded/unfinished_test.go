package encoded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsp-go/dsp/models/data/text"
	"github.com/dsp-go/dsp/models/inputs/encoded/encodedtest"
	"github.com/dsp-go/dsp/structured/sys/host"
)

// A run goes on from the rows of one that has died: those that the journal has, if the file still has them. Here the
// dead run's rows are all 7, so that one sees which are computed again.
func TestRowsGoOn(t *testing.T) {
	for _, half := range []bool{false, true} {
		r := open(t, Settings{Dir: encodedtest.Folder(t, "electra"), Layers: "last", Pieces: First, Half: half})
		sentences := slices.Repeat([]string{"a b c", "d a"}, rowsOfLine/4)
		d, folder := data(sentences...), t.TempDir()
		want := rowsOf(t, r, Options{Threads: 1}, sentences...)
		dead := r.newRows(d, d.Column(text.WordColumn))
		path := dead.path(folder)
		u, err := dead.openUnfinished(path)
		if err != nil {
			t.Fatal(err)
		}
		const more = 2 // sentences after the last line of the journal
		there := 0
		for i := 0; there < rowsOfLine+more; i++ {
			sevens := slices.Repeat([]float32{7}, d.Length(i)*dead.width)
			if err := u.write(d.Offsets[i], sevens); err != nil {
				t.Fatal(err)
			}
			there += d.Length(i)
		}
		kept := 0 // sentences of the journal's one line
		for d.Offsets[kept] < rowsOfLine {
			kept++
		}
		const lost = 4 // a sentence whose rows did not reach the disk
		if _, err := u.file.WriteAt([]byte{1}, u.begin+int64(d.Offsets[lost]*dead.size())); err != nil {
			t.Fatal(err)
		}
		journal, err := os.OpenFile(u.journal.Name(), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := journal.WriteString("[{\"at\":-5,\"rows\":9e9}]\n[{\"at\":0"); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(journal.Close(), u.journal.Close(), u.file.Close()); err != nil {
			t.Fatal(err)
		}

		if _, err := r.Apply(d, Options{Threads: 2, Folder: folder}); err != nil {
			t.Fatal(err)
		}
		got, width := valuesOf(t, d), r.Width()
		for i := range d.Len() {
			row := got[d.Offsets[i]*width : d.Offsets[i+1]*width]
			expected := want[d.Offsets[i]*width : d.Offsets[i+1]*width]
			if i < kept && i != lost {
				expected = slices.Repeat([]float32{7}, len(row))
			}
			if !slices.Equal(row, expected) {
				t.Fatalf("half %v: sentence %d of %d, of which %d were kept, begins with %v, expected %v", half, i, d.Len(),
					kept, row[:2], expected[:2])
			}
		}
		if all, _ := os.ReadDir(folder); len(all) != 1 || filepath.Join(folder, all[0].Name()) != path {
			t.Errorf("the folder has %v, expected the finished file alone", all)
		}
	}
}

// Where another process computes the same rows, this one writes a file of its own, and an error leaves nothing.
func TestRowsOfTwoProcesses(t *testing.T) {
	r := open(t, Settings{Dir: encodedtest.Folder(t, "electra"), Layers: "last", Pieces: First})
	d, folder := data("a b", "c"), t.TempDir()
	path := r.newRows(d, d.Column(text.WordColumn)).path(folder)
	other, err := host.OpenLocked(path + ".part")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(d, Options{Threads: 1, Folder: folder}); err != nil {
		t.Fatal(err)
	}
	near(t, "rows beside another process", valuesOf(t, d), rowsOf(t, r, Options{Threads: 1}, "a b", "c"), 0)
	if err := errors.Join(other.Close(), os.Remove(path+".part"), os.Remove(path)); err != nil {
		t.Fatal(err)
	}

	wrong := errors.New("wrong")
	err = r.newRows(d, d.Column(text.WordColumn)).writeOn(path, func([]bool, use) error { return wrong })
	if all, _ := os.ReadDir(folder); !errors.Is(err, wrong) || len(all) > 0 {
		t.Errorf("after the error %v, the folder has %v", err, all)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: %v", path, err)
	}
}
