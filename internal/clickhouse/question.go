package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// connectGrace is what a statement may take beyond its own budget: the server ends it first, with an error that says why.
const connectGrace = 5 * time.Second

// Questions are the statements of one package, a .sql file each, asked with the same settings.
type Questions struct {
	files    fs.FS
	settings ch.Settings
}

// NewQuestions reads statements from sql/<name>.sql of files.
func NewQuestions(files fs.FS, settings ch.Settings) Questions { return Questions{files, settings} }

// Text is the statement of that name. A name without a file is a mistake in the program.
func (q Questions) Text(name string) string {
	text, err := fs.ReadFile(q.files, "sql/"+name+".sql")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Read asks one question and calls scan for each row. An answer that ends early is an error, never a short answer. budget is
// what the server may take.
func (q Questions) Read(ctx context.Context, conn driver.Conn, name string, p Parameters, budget time.Duration, scan func(driver.Rows) error) error {
	ctx, cancel := context.WithTimeout(ctx, budget+connectGrace)
	defer cancel()
	rows, err := conn.Query(q.Context(ctx, p, budget), q.Text(name))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for rows.Next() {
		if err := scan(rows); err != nil {
			return errors.Join(fmt.Errorf("%s: read a row: %w", name, err), rows.Close())
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Execute runs a statement that returns nothing.
func (q Questions) Execute(ctx context.Context, conn driver.Conn, name string, p Parameters, budget time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, budget+connectGrace)
	defer cancel()
	if err := conn.Exec(q.Context(ctx, p, budget), q.Text(name)); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// With are the same questions with some settings changed.
func (q Questions) With(settings ch.Settings) Questions {
	changed := maps.Clone(q.settings)
	maps.Copy(changed, settings)
	q.settings = changed
	return q
}

// Context carries the settings and parameters of a statement that may take budget on the server.
func (q Questions) Context(ctx context.Context, p Parameters, budget time.Duration) context.Context {
	settings := maps.Clone(q.settings)
	settings["max_execution_time"] = budget.Seconds()
	if ctx.Value(patience{}) != nil {
		settings["os_threads_nice_value_query"] = patientNice
	}
	return ch.Context(ctx, ch.WithSettings(settings), ch.WithParameters(p.encode()))
}

// patience marks questions that others may overtake.
type patience struct{}

// patientNice is the nice value of their threads in ClickHouse, which needs CAP_SYS_NICE for it and does without otherwise.
const patientNice = 5

// Patient lets the questions asked with the context wait for others: those of long windows, of recounts and of housekeeping for
// those of the shortest window, which are asked every second.
func Patient(ctx context.Context) context.Context { return context.WithValue(ctx, patience{}, true) }
