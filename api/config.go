// Package api serves lists over HTTP: published ones from memory, those of slices that have none made on demand.
package api

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"

	"topk/internal/clickhouse"
	"topk/internal/slice"
	"topk/rollups/slices"
	"topk/rollups/viewers"
)

// Config says where the API listens and what it reads.
type Config struct {
	Listen   string // host:port
	Postgres string // DSN of the database that holds lists, current_lists and asked_slices
	// ClickHouse is the DSN of what lists of slices are made from on demand, over HTTP; "" makes none.
	ClickHouse string
	// StaleAfter is how long the next version of a list may be overdue before the list is served as stale; 0 is for
	// ever, which suits recorded data: nothing is published after its end.
	StaleAfter time.Duration
	// TrendFloor is how many views an hour are not told from a rise, as the rollup worker has it.
	TrendFloor float64
	// EveryTrend is the least time between two lists of items that trend, as the rollup worker has it: twice as long after one it is overdue.
	EveryTrend time.Duration
	// Viewers says which items are left out of lists that are made on demand, as the rollup worker leaves them out of published ones.
	Viewers viewers.Config
	// Ingest is the base URL of an ingestor that POST /v1/events and POST /views are passed on to; "" passes nothing on.
	Ingest string
	// Pairs are the pairs of dimensions that are counted, as slice.ParsePairs reads them: those of the rollup worker.
	Pairs string
	// Groups name unions of countries, each as slice.ParseGroups reads it.
	Groups []string
}

// DefaultConfig is what topk api starts with.
func DefaultConfig() Config {
	return Config{
		Listen:     "127.0.0.1:8081",
		Postgres:   "postgres://topk@127.0.0.1:15432/topk?sslmode=disable",
		ClickHouse: "http://127.0.0.1:18123/topk",
		StaleAfter: time.Minute,
		Pairs:      slice.DefaultPairs,
		TrendFloor: slices.DefaultConfig().TrendFloor,
		EveryTrend: slices.DefaultConfig().EveryTrend,
		Viewers:    defaultViewers(),
	}
}

// demandViewers is what one question about viewers may take: whom it does not answer for in time stays.
const demandViewers = time.Second

func defaultViewers() viewers.Config {
	config := viewers.DefaultConfig()
	config.Budget = demandViewers
	return config
}

// Validate reports every mistake of the configuration at once.
func (c Config) Validate() error {
	var mistakes []error
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		mistakes = append(mistakes, fmt.Errorf("listen: %w", err))
	}
	if _, err := pgx.ParseConfig(c.Postgres); err != nil {
		mistakes = append(mistakes, fmt.Errorf("postgres: %w", err))
	}
	if c.ClickHouse != "" {
		if _, err := clickhouse.Options(c.ClickHouse); err != nil {
			mistakes = append(mistakes, fmt.Errorf("clickhouse: %w", err))
		}
	}
	if c.StaleAfter < 0 {
		mistakes = append(mistakes, fmt.Errorf("stale-after: %s is negative", c.StaleAfter))
	}
	if c.Ingest != "" {
		u, err := url.Parse(c.Ingest)
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("ingest: %w", err))
		} else if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			mistakes = append(mistakes, fmt.Errorf("ingest: %q must be a URL such as http://127.0.0.1:8080", c.Ingest))
		}
	}
	if err := c.demand(slice.Kept{}).Validate(); err != nil {
		mistakes = append(mistakes, err)
	}
	if err := c.Viewers.Validate(); err != nil {
		mistakes = append(mistakes, err)
	}
	if _, err := c.slicing(); err != nil {
		mistakes = append(mistakes, err)
	}
	return errors.Join(mistakes...)
}

func (c Config) freshness() freshness { return freshness{c.StaleAfter, c.EveryTrend} }

// slicing reads which slices can be asked for. The error joins every mistake.
func (c Config) slicing() (slicing, error) {
	var mistakes []error
	kept, err := slice.ParsePairs(c.Pairs)
	if err != nil {
		mistakes = append(mistakes, fmt.Errorf("slice-pairs: %w", err))
	}
	groups, err := slice.ParseGroups(c.Groups)
	if err != nil {
		mistakes = append(mistakes, fmt.Errorf("group: %w", err))
	}
	return slicing{kept: kept, groups: groups}, errors.Join(mistakes...)
}
