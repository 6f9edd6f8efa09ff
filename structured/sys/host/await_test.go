package host

import (
	"context"
	"errors"
	"testing"
)

func TestAwait(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	if x, err := Await(ctx, func() (int, error) { return 7, nil }); x != 7 || err != nil {
		t.Errorf("%d, %v", x, err)
	}
	failed := errors.New("failed")
	if _, err := Await(ctx, func() (int, error) { return 7, failed }); !errors.Is(err, failed) {
		t.Error(err)
	}
	if _, err := Await(ctx, func() (int, error) { panic("lost") }); err == nil {
		t.Error("no error of a panic")
	}
	forever := make(chan int)
	go cancel()
	if x, err := Await(ctx, func() (int, error) { return <-forever, nil }); x != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d, %v", x, err)
	}
	close(forever)
}
