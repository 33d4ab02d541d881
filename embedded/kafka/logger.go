package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
)

// logger hands kfake's messages to slog.
type logger struct{ log *slog.Logger }

// Logf implements kfake.Logger.
func (l logger) Logf(level kfake.LogLevel, format string, args ...any) {
	to := slog.LevelDebug
	switch {
	case level == kfake.LogLevelError:
		to = slog.LevelError
	case strings.HasPrefix(format, "txn: EndTxn slow"):
		// It warns at 5 ms, which every flush takes when each of its batches is fsynced.
	case level == kfake.LogLevelWarn:
		to = slog.LevelWarn
	}
	if l.log.Enabled(context.Background(), to) {
		l.log.Log(context.Background(), to, fmt.Sprintf(format, args...))
	}
}
