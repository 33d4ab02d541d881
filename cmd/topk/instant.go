package main

import (
	"time"

	"github.com/spf13/pflag"

	"topk/internal/zone"
)

// instant is a flag that takes a time, or a date for its midnight in UTC. What it says of anything else is in words: pflag's own
// flag for times prints the layouts of Go.
type instant struct{ at *time.Time }

func instantVar(flags *pflag.FlagSet, at *time.Time, name, usage string) {
	flags.Var(instant{at}, name, usage)
}

func (i instant) Set(text string) (err error) {
	*i.at, err = zone.ParseInstant(text)
	return err
}

func (i instant) String() string {
	if i.at == nil || i.at.IsZero() {
		return ""
	}
	return i.at.Format(time.RFC3339Nano)
}

func (instant) Type() string { return "time" }
