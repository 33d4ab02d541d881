package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"topk/udf"
)

// prepare creates the database and every function. It returns how many functions are new or have another text.
func (m *Migrator) prepare(ctx context.Context) (changed int, err error) {
	db, err := m.server()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, query("clickhouse_create_database")); err != nil {
		return 0, fmt.Errorf("create the database: %w", err)
	}
	functions, err := udf.Functions()
	if err != nil {
		return 0, err
	}
	before, err := existingFunctions(ctx, db)
	if err != nil {
		return 0, err
	}
	for _, f := range functions {
		if _, err := db.ExecContext(ctx, f.Create); err != nil {
			return 0, fmt.Errorf("create function %s: %w", f.Name, err)
		}
	}
	after, err := existingFunctions(ctx, db)
	if err != nil {
		return 0, err
	}
	for _, f := range functions {
		if text, was := before[f.Name]; !was || text != after[f.Name] {
			changed++
		}
	}
	return changed, nil
}

// clear removes what prepare made, the database only when it is empty. It returns how many functions were dropped.
func (m *Migrator) clear(ctx context.Context) (dropped int, err error) {
	db, err := m.server()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	functions, err := udf.Functions()
	if err != nil {
		return 0, err
	}
	for _, f := range functions {
		if _, err := db.ExecContext(ctx, f.Drop); err != nil {
			return dropped, fmt.Errorf("drop function %s: %w", f.Name, err)
		}
		dropped++
	}
	if _, err := db.ExecContext(ctx, query("clickhouse_drop_history")); err != nil {
		return dropped, fmt.Errorf("drop the history: %w", err)
	}
	var tables uint64
	if err := db.QueryRowContext(ctx, query("clickhouse_tables")).Scan(&tables); err != nil {
		return dropped, fmt.Errorf("count what is left: %w", err)
	}
	if tables > 0 {
		m.log.Warn("the database stays: it holds tables that are not of this schema", "tables", tables)
		return dropped, nil
	}
	if _, err := db.ExecContext(ctx, query("clickhouse_drop_database")); err != nil {
		return dropped, fmt.Errorf("drop the database: %w", err)
	}
	return dropped, nil
}

// existingFunctions returns name -> text of the functions on the server.
func existingFunctions(ctx context.Context, db *sql.DB) (_ map[string]string, err error) {
	rows, err := db.QueryContext(ctx, query("clickhouse_functions"))
	if err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	functions := map[string]string{}
	for rows.Next() {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return nil, fmt.Errorf("read a function: %w", err)
		}
		functions[name] = text
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	return functions, nil
}
