package embedded

import (
	"io"
	"os"
	"strings"
)

const (
	lastLines = 20
	lastBytes = 8 << 10
)

// lastWords are the last lines that this run wrote to its log.
func (p *process) lastWords() string {
	file, err := os.Open(p.logPath)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }() // it was only read
	from := p.logFrom
	if info, err := file.Stat(); err == nil {
		from = max(from, info.Size()-lastBytes)
	}
	text, err := io.ReadAll(io.NewSectionReader(file, from, lastBytes))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
}
