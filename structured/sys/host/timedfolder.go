package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// TimedFolder makes a folder inside of in, named after what is put there and the time, and returns its path. Where
// others made one of that name in the same second, a number follows: each caller gets a folder of its own.
func TimedFolder(in, name string, now time.Time) (string, error) {
	if err := os.MkdirAll(in, 0o777); err != nil {
		return "", err
	}
	path := filepath.Join(in, name+"-"+now.Format("20060102-150405"))
	for k, try := 2, path; ; k, try = k+1, fmt.Sprintf("%s-%d", path, k) {
		err := os.Mkdir(try, 0o777)
		if err == nil {
			return try, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
}
