package clickhouse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"topk/embedded/clickhouse/internal/chdb"
	"topk/embedded/clickhouse/internal/statement"
)

// allowedInSession refuses what could not be taken back after the query: readonly, once set, forbids its own end. So a GET
// in a session is held to what is known to only read.
func allowedInSession(state state, kind statement.Kind) error {
	if state.readonly && kind != statement.Select && kind != statement.Output {
		return exception(codeReadonly, "Cannot execute query in readonly mode: within a session, GET takes queries that return rows only. (READONLY)")
	}
	if slices.ContainsFunc(state.settings, func(s setting) bool { return s.name == "readonly" }) {
		return exception(codeNotImplemented, "The embedded ClickHouse does not take readonly from the URL within a session: "+
			"send SET readonly, which lasts as long as the session. (NOT_IMPLEMENTED)")
	}
	return nil
}

// overlay brings a session into a request's state for one query. restore, which is never nil, brings it back to its own.
// What a statement that changes its session has set itself stays.
func overlay(conn *chdb.Connection, state state, kind statement.Kind) (restore func() error, err error) {
	own, err := readSession(conn, state)
	if err != nil {
		return func() error { return nil }, err
	}
	restore = func() error { return own.restore(conn) }
	if state.database != "" {
		if _, _, err := conn.Query("USE "+quoteName(state.database), "Null", nil); err != nil {
			return restore, err
		}
	}
	if err := set(conn, state.settings); err != nil || kind != statement.Session {
		return restore, err
	}
	applied, err := readSession(conn, state)
	if err != nil {
		return restore, err
	}
	return func() error {
		now, err := readSession(conn, state)
		if err != nil {
			return err
		}
		return own.without(applied.changes(now)).restore(conn)
	}, nil
}

// sessionState is a session's own database and settings, as far as a request's URL names others.
type sessionState struct {
	database string // empty when the request names none
	settings map[string]sessionSetting
}

type sessionSetting struct {
	value   string
	changed bool // it is not the default
}

func readSession(conn *chdb.Connection, state state) (sessionState, error) {
	own := sessionState{settings: map[string]sessionSetting{}}
	if state.database != "" {
		answer, _, err := conn.Query("SELECT currentDatabase()", "TSVRaw", nil)
		if err != nil {
			return own, err
		}
		own.database = strings.TrimSuffix(string(answer), "\n")
	}
	if len(state.settings) == 0 {
		return own, nil
	}
	var names []string
	for _, s := range state.settings {
		names = append(names, quoteText(s.name))
	}
	answer, _, err := conn.Query("SELECT name, value, toBool(changed) FROM system.settings WHERE name IN ("+strings.Join(names, ", ")+")",
		"JSONCompactEachRow", nil)
	if err != nil {
		return own, err
	}
	for line := range bytes.Lines(answer) {
		var name string
		var s sessionSetting
		if err := json.Unmarshal(line, &[]any{&name, &s.value, &s.changed}); err != nil {
			return own, fmt.Errorf("read the session's settings: %w", err)
		}
		own.settings[name] = s
	}
	return own, nil
}

func (s sessionState) restore(conn *chdb.Connection) error {
	if s.database != "" {
		if _, _, err := conn.Query("USE "+quoteName(s.database), "Null", nil); err != nil {
			return err
		}
	}
	var assignments []string
	for name, setting := range s.settings {
		value := "DEFAULT"
		if setting.changed {
			value = quoteText(setting.value)
		}
		assignments = append(assignments, quoteName(name)+" = "+value)
	}
	return assign(conn, assignments)
}

// changes are the parts in which now is different.
func (s sessionState) changes(now sessionState) sessionState {
	different := sessionState{settings: map[string]sessionSetting{}}
	if now.database != s.database {
		different.database = now.database
	}
	for name, setting := range now.settings {
		if setting != s.settings[name] {
			different.settings[name] = setting
		}
	}
	return different
}

// without leaves out the parts that other has.
func (s sessionState) without(other sessionState) sessionState {
	left := sessionState{settings: map[string]sessionSetting{}}
	if other.database == "" {
		left.database = s.database
	}
	for name, setting := range s.settings {
		if _, found := other.settings[name]; !found {
			left.settings[name] = setting
		}
	}
	return left
}
