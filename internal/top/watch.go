package top

import (
	"context"
	"io"
	"strings"
	"time"

	"topk/internal/apiclient"
	"topk/internal/list"
)

const redrawEvery = time.Second

// What a terminal is told (ECMA-48, and xterm's alternate screen, which keeps what was there before).
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the alternate screen, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	eraseLine   = "\x1b[K" // to the end of the line
	eraseBelow  = "\x1b[J"
)

// watch redraws the list each second until ctx ends, and leaves the terminal as it was.
func watch(ctx context.Context, api *apiclient.Client, query apiclient.Query, screen Screen) (err error) {
	if _, err := io.WriteString(screen.Out, enterScreen); err != nil {
		return err
	}
	defer func() {
		if _, left := io.WriteString(screen.Out, leaveScreen); err == nil {
			err = left
		}
	}()
	ticker := time.NewTicker(redrawEvery)
	defer ticker.Stop()
	var answer *apiclient.Answer
	var last *list.List // in trouble it stays on the screen
	for {
		newest, trouble := api.Get(ctx, query, answer)
		if ctx.Err() != nil {
			return nil
		}
		if trouble == nil && newest != answer {
			var drawn *list.List
			if drawn, trouble = newest.List(); trouble == nil {
				answer, last = newest, drawn
			}
		}
		columns, rows := screen.size()
		if _, err := io.WriteString(screen.Out, frame(last, trouble, columns, rows)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// frame is one picture: drawn over the last one line by line, so that nothing flickers, and cut to the screen's height.
func frame(l *list.List, trouble error, columns, rows int) string {
	var text string
	if trouble != nil {
		text = fit(trouble.Error(), columns) + "\n\n"
	}
	if l != nil {
		text += render(l, time.Now(), columns)
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if rows > 1 && len(lines) > rows-1 {
		lines = lines[:rows-1] // the last row stays empty: writing it to its end would scroll
	}
	var out strings.Builder
	out.WriteString(home)
	for _, line := range lines {
		out.WriteString(line + eraseLine + "\r\n")
	}
	out.WriteString(eraseBelow)
	return out.String()
}
