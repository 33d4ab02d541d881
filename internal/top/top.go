// Package top shows lists and their grades in a terminal.
package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"topk/internal/apiclient"
	"topk/internal/event"
	"topk/internal/list"
	"topk/internal/slice"
)

// Config says which list to show, and how.
type Config struct {
	API      string // base URL
	ItemType string
	Window   string
	Slice    slice.Request
	K        int
	MinCount uint64 // entries of fewer views are left out
	Watch    bool   // redraw until interrupted
	JSON     bool   // the API's own answer, for scripts
}

// DefaultConfig is what topk top starts with.
func DefaultConfig() Config {
	return Config{
		API: "http://127.0.0.1:8081", ItemType: event.DefaultItemType, Window: list.DefaultWindow, K: 10, MinCount: 1,
	}
}

// Validate reports every mistake at once. Item types, windows and slices are left to the API, which may know more of them.
func (c Config) Validate() error {
	var mistakes []error
	if err := validAPI(c.API); err != nil {
		mistakes = append(mistakes, err)
	}
	if c.K < list.MinK || c.K > list.MaxK {
		mistakes = append(mistakes, fmt.Errorf("k: %d is not from %d to %d", c.K, list.MinK, list.MaxK))
	}
	if c.MinCount < 1 {
		mistakes = append(mistakes, errors.New("min-count: 0 is not 1 or more"))
	}
	if c.Watch && c.JSON {
		mistakes = append(mistakes, errors.New("watch: cannot be used together with json"))
	}
	return errors.Join(mistakes...)
}

func validAPI(base string) error {
	if u, err := url.Parse(base); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return fmt.Errorf("api: %q must be a URL such as http://127.0.0.1:8081", base)
	}
	return nil
}

// Screen is where a list is shown.
type Screen struct {
	Out      io.Writer
	Terminal bool                       // Out is a terminal
	Size     func() (columns, rows int) // of the terminal; nil or zeros when it is not known
}

func (s Screen) size() (columns, rows int) {
	if !s.Terminal || s.Size == nil {
		return 0, 0
	}
	return s.Size()
}

// Show prints the list once, or keeps it on the screen until ctx ends.
func Show(ctx context.Context, c Config, screen Screen) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if c.Watch && !screen.Terminal {
		return errors.New("watch: standard output is not a terminal; leave --watch out to print the list once")
	}
	api := apiclient.New(c.API)
	defer api.Close()
	query := apiclient.Query{ItemType: c.ItemType, Window: c.Window, K: c.K, MinCount: c.MinCount, Slice: c.Slice}
	if c.Watch {
		return watch(ctx, api, query, screen)
	}
	answer, err := api.Get(ctx, query, nil)
	if err != nil {
		return harmless(err)
	}
	if c.JSON {
		_, err := screen.Out.Write(append(answer.Body, '\n'))
		return err
	}
	l, err := answer.List()
	if err != nil {
		return err
	}
	columns, _ := screen.size()
	_, err = io.WriteString(screen.Out, render(l, time.Now(), columns))
	return err
}

// harmless is an error that may be printed: what the API said in it may hold what a terminal would obey.
func harmless(err error) error {
	var refused *apiclient.RefusedError
	if errors.As(err, &refused) {
		return &apiclient.RefusedError{Status: printable(refused.Status), Detail: printable(refused.Detail)}
	}
	return err
}
