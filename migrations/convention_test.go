package migrations

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// statement is a file without its comment lines.
func statement(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}

func header(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "--") {
			break
		}
		lines = append(lines, strings.TrimPrefix(strings.TrimSpace(line), "--"))
	}
	return strings.Join(lines, " ")
}

// read returns the text of each file of a history by its name.
func read(t *testing.T, folder fs.FS, prefix string) map[string]string {
	t.Helper()
	entries, err := fs.ReadDir(folder, prefix)
	require.NoError(t, err)
	texts := map[string]string{}
	for _, entry := range entries {
		text, err := fs.ReadFile(folder, prefix+"/"+entry.Name())
		require.NoError(t, err)
		texts[entry.Name()] = string(text)
	}
	return texts
}

func TestHistoriesAreGaplessPairs(t *testing.T) {
	for prefix, folder := range map[string]fs.FS{ClickHouseFolder: ClickHouse, PostgresFolder: Postgres} {
		texts := read(t, folder, prefix)
		files, err := listFiles(folder, prefix)
		require.NoError(t, err)
		require.Len(t, texts, 2*len(files), "%s holds up and down pairs and nothing else", prefix)
		for i, f := range files {
			require.Equal(t, i+1, f.version, "%s: the number after %06d", prefix, i)
			for name, text := range texts {
				if strings.HasSuffix(name, ".down.sql") && strings.Contains(name, "_"+f.name+".") {
					require.NotEmpty(t, statement(text), name)
				}
			}
		}
	}
}

func TestEveryFileSaysWhatItIs(t *testing.T) {
	for prefix, folder := range map[string]fs.FS{ClickHouseFolder: ClickHouse, PostgresFolder: Postgres} {
		for name, text := range read(t, folder, prefix) {
			require.NotRegexp(t, `(?i)\b(todo|fixme|xxx)\b`, text, name)
			for line := range strings.Lines(text) {
				require.LessOrEqual(t, len(line), 200, "%s: %s", name, line)
			}
			if !strings.HasSuffix(name, ".up.sql") {
				continue
			}
			about := header(text)
			require.NotEmpty(t, about, "%s starts with a comment", name)
			if strings.Contains(text, "MergeTree") || strings.Contains(text, "PRIMARY KEY") {
				require.Regexp(t, `(?i)written by`, about, "%s says who writes it", name)
				require.Regexp(t, `(?i)read by|read when|read with|read from|every question|each question`, about, "%s says who reads it", name)
				require.Regexp(t, `(?i)order|key`, about, "%s justifies its order", name)
				require.Regexp(t, `(?i)kept|dropped|removed|stay|never moves`, about, "%s says how long rows live", name)
			}
		}
	}
}

// A statement that changes an object must be safe to run twice: what a killed process has left cannot be seen then.
func TestOneObjectEachAndNamedForIt(t *testing.T) {
	for prefix, folder := range map[string]fs.FS{ClickHouseFolder: ClickHouse, PostgresFolder: Postgres} {
		texts := read(t, folder, prefix)
		files, err := listFiles(folder, prefix)
		require.NoError(t, err)
		for name, text := range texts {
			for _, f := range files {
				if !strings.Contains(name, "_"+f.name+".") {
					continue
				}
				if f.object == "" {
					require.Contains(t, text, "IF ", name)
					continue
				}
				require.Equal(t, f.name, f.object, name)
				verb := "CREATE "
				if strings.HasSuffix(name, ".down.sql") {
					verb = "DROP "
				}
				require.Equal(t, 1, len(regexp.MustCompile(`\b`+verb+`(TABLE|MATERIALIZED VIEW|VIEW)\b`).FindAllString(text, -1)), name)
				require.True(t, strings.HasPrefix(statement(text), verb), name)
			}
		}
	}
}

func TestClickHouseFilesAreOneQualifiedStatement(t *testing.T) {
	object := regexp.MustCompile(`(?:\bTABLE|\bVIEW|\bTO|\bFROM|[^Y] JOIN) +([a-zA-Z_.]+)`)
	for name, text := range read(t, ClickHouse, ClickHouseFolder) {
		require.NotContains(t, text, ";", "%s: stock tools may split there", name)
		require.NotContains(t, header(text), "'", "%s: the driver in the stock tool takes it for the start of a text", name)
		for _, found := range object.FindAllStringSubmatch(statement(text), -1) {
			require.True(t, strings.HasPrefix(found[1], "topk."), "%s names %q without its database", name, found[1])
		}
		if strings.HasSuffix(name, ".down.sql") {
			require.Regexp(t, `^DROP (TABLE|VIEW) topk\.[a-z0-9_]+ SYNC$`, statement(text), name)
		}
	}
}

// Every view is made after its source and its target, and a queue is read only once all views behind it exist.
func TestViewsAreCreatedBeforeRowsFlow(t *testing.T) {
	texts := read(t, ClickHouse, ClickHouseFolder)
	files, err := listFiles(ClickHouse, ClickHouseFolder)
	require.NoError(t, err)
	made := map[string]int{}
	flows := map[string]int{} // Null table -> version of the view that feeds it from Kafka
	for _, f := range files {
		made[f.object] = f.version
	}
	view := regexp.MustCompile(`(?s)^CREATE MATERIALIZED VIEW topk\.\w+ TO topk\.(\w+) AS.*?FROM topk\.(\w+)`)
	parts := map[int][]string{}
	for name, text := range texts {
		for _, f := range files {
			if found := view.FindStringSubmatch(statement(text)); found != nil && strings.Contains(name, "_"+f.name+".up.") {
				parts[f.version] = found[1:]
				if strings.HasSuffix(found[2], "_queue") && strings.HasSuffix(found[1], "_in") {
					flows[found[1]] = f.version
				}
			}
		}
	}
	require.Len(t, flows, 2)
	readers := map[string]int{}
	for _, part := range parts {
		readers[part[1]]++
	}
	require.Equal(t, []int{1, 1}, []int{readers["counts_queue"], readers["events_queue"]}, "a second reader of a queue misses blocks")
	for version, part := range parts {
		require.Less(t, made[part[0]], version, "target of step %d", version)
		require.Less(t, made[part[1]], version, "source of step %d", version)
		if feeder, behind := flows[part[1]]; behind {
			require.Less(t, version, feeder, "step %d would miss the first blocks", version)
		}
	}
}
