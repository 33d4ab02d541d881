// Package udf holds the SQL functions of the schema, one a file. Views expand them when they are created, so a changed
// function changes no view that exists.
package udf

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
)

//go:embed *.sql drop/*.sql
var files embed.FS

// Function is one SQL function.
type Function struct {
	Name   string
	Create string // CREATE OR REPLACE FUNCTION
	Drop   string // DROP FUNCTION IF EXISTS
}

// Functions returns every function in the order of its name. They may be created in any order, also those that call another.
func Functions() ([]Function, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list functions: %w", err)
	}
	functions := make([]Function, 0, len(names))
	for _, name := range names {
		create, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read function: %w", err)
		}
		drop, err := files.ReadFile("drop/" + name)
		if err != nil {
			return nil, fmt.Errorf("read how to drop a function: %w", err)
		}
		functions = append(functions, Function{
			Name: strings.TrimSuffix(name, ".sql"), Create: string(create), Drop: string(drop),
		})
	}
	return functions, nil
}
