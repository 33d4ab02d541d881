package statement

// parseInsert recognises INSERT [INTO] [TABLE] [FUNCTION] target [...] with data. ok is false for everything else,
// INSERT SELECT included.
func parseInsert(source string, tokens []token) (Statement, bool, error) {
	head, ok := insertHead(tokens)
	if !ok {
		return Statement{}, false, nil
	}
	for i := head; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.is("INFILE") && tokens[i-1].is("FROM"):
			return Statement{}, false, ErrInfile
		case startsSelect(tokens, i), t.isSymbol(';'):
			return Statement{}, false, nil
		case t.is("VALUES"):
			return insertOf(source[:t.start], "Values", t.end), true, nil
		case t.is("FORMAT") && i+1 < len(tokens) && tokens[i+1].kind == word:
			start := skipLine(source, tokens[i+1].end)
			return insertOf(source[:t.start], tokens[i+1].text, start), true, nil
		}
	}
	return Statement{}, false, nil
}

func insertOf(text, format string, data int) Statement {
	return Statement{Kind: Insert, Text: text, Format: format, Data: data}
}

// insertHead returns the index after the target's name, so that a table called values or format is none of the
// keywords that follow it.
func insertHead(tokens []token) (int, bool) {
	if len(tokens) < 2 || !tokens[0].is("INSERT") {
		return 0, false
	}
	i := 1
	if tokens[i].is("INTO") {
		i++
	}
	if i+1 < len(tokens) && tokens[i].is("TABLE") && !tokens[i+1].isSymbol('.') {
		i++
	}
	if i+1 < len(tokens) && tokens[i].is("FUNCTION") && (tokens[i+1].kind == word || tokens[i+1].kind == quoted) {
		i++
	}
	if i >= len(tokens) {
		return 0, false
	}
	for i++; i+1 < len(tokens) && tokens[i].isSymbol('.'); i += 2 {
	}
	return i, true
}

// startsSelect tells whether the token begins the SELECT of an INSERT SELECT.
func startsSelect(tokens []token, i int) bool {
	t := tokens[i]
	return t.is("SELECT") || t.is("WITH") || t.is("WATCH") || t.is("EXPLAIN") ||
		t.is("FROM") && i+1 < len(tokens) && !tokens[i+1].is("INFILE")
}

// insertDataStart tells, while the tokens are still being read, that the data of an INSERT begins after the last one:
// what follows is not SQL and may hold any byte. settled means that no data can come any more.
func insertDataStart(tokens []token) (data, settled bool) {
	if !tokens[0].is("INSERT") {
		return false, true
	}
	last := len(tokens) - 1
	head, ok := insertHead(tokens)
	if !ok || last < head {
		return false, false
	}
	if last > head && startsSelect(tokens, last-1) {
		return false, true
	}
	format := last > head && tokens[last-1].is("FORMAT") && tokens[last].kind == word
	return format || tokens[last].is("VALUES"), false
}

// skipLine skips the blanks and the one line end that separate FORMAT name from its data.
func skipLine(source string, offset int) int {
	for offset < len(source) && (source[offset] == ' ' || source[offset] == '\t' || source[offset] == '\f') {
		offset++
	}
	if offset < len(source) && source[offset] == '\r' {
		offset++
	}
	if offset < len(source) && source[offset] == '\n' {
		offset++
	}
	return offset
}
