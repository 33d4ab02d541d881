package api

import (
	"context"
	_ "embed"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"topk/internal/grade"
)

// gradesHeld bounds the grades in memory, about half a kilobyte each: a year of one item type, four days of a hundred.
const gradesHeld = 10_000

//go:embed sql/grades.sql
var gradesSQL string

// gradeMemory holds the newest grades, in the order in which they are shown. The one writer is the follower.
type gradeMemory struct {
	shown atomic.Pointer[[]grade.Shown]
}

// loadGrades brings the grades in memory up to date. With anew, nothing that is held counts: it is perhaps another database.
func (f *follower) loadGrades(ctx context.Context, conn *pgx.Conn, anew bool) error {
	if anew {
		f.grades = nil
	}
	newest := int64(0)
	if len(f.grades) > 0 {
		newest = f.grades[0].ID
	}
	rows, err := conn.Query(ctx, gradesSQL, newest, gradesHeld)
	if err != nil {
		return fmt.Errorf("load grades: %w", err)
	}
	added, err := pgx.CollectRows(rows, grade.FromRow)
	if err != nil {
		return fmt.Errorf("load grades: %w", err)
	}
	if len(added) == 0 && !anew {
		return nil
	}
	f.grades = append(added, f.grades...)
	f.grades = f.grades[:min(len(f.grades), gradesHeld)]
	shown := grade.Show(f.grades)
	f.graded.shown.Store(&shown)
	return nil
}
