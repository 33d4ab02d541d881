// Package statement finds the parts of a ClickHouse statement that the HTTP interface must know before the engine
// parses it: what kind it is, its output format, and where the inline data of an INSERT begins. It never decides
// whether a statement is right: what it does not understand goes to the engine, whose error is the answer.
package statement

import "errors"

// Kind says how a statement is run.
type Kind uint8

const (
	// Other runs to its end and has no result worth streaming: DDL, INSERT SELECT, SYSTEM.
	Other Kind = iota
	// Select has a result of any size.
	Select
	// Output has a small result: SHOW, DESCRIBE, EXPLAIN, EXISTS, CHECK. The engine does not stream these.
	Output
	// Insert takes data.
	Insert
	// Session changes its session: USE, SET, CREATE TEMPORARY TABLE and whatever else is not known to leave it alone.
	Session
	// Kill is KILL QUERY.
	Kill
	// Empty has no token.
	Empty
)

// Errors that a text can have whatever the engine says of its statements.
var (
	ErrMulti   = errors.New("multi-statements are not allowed")
	ErrOutfile = errors.New("INTO OUTFILE is not allowed over HTTP")
	ErrInfile  = errors.New("INSERT FROM INFILE is not allowed over HTTP")
	ErrInput   = errors.New("the table function input is not supported by the embedded ClickHouse")
)

// Statement is a text taken apart.
type Statement struct {
	Kind   Kind
	Text   string // without a closing semicolon; of an Insert, without FORMAT clause and data
	Format string // input format of an Insert, output format of a Select or Output that names one
	Cut    int    // where in Text the FORMAT clause of a Select begins, or would; INTO OUTFILE goes there
	Data   int    // where the data of an Insert begins in the source
	Target string // KILL QUERY WHERE query_id = '...': the id
}

// Parse takes source apart. Only the text up to the data of an Insert is looked at, so source may end within the data.
func Parse(source string) (Statement, error) {
	tokens := lex(source)
	if len(tokens) == 0 {
		return Statement{Kind: Empty}, nil
	}
	if insert, ok, err := parseInsert(source, tokens); ok || err != nil {
		return insert, err
	}
	return parseOther(source, tokens)
}

// lex returns the tokens outside of every bracket, opening brackets and semicolons, up to the data of an INSERT.
func lex(source string) []token {
	var tokens []token
	depth, settled := 0, false
	for offset := 0; ; {
		t := next(source, offset)
		offset = t.end
		switch {
		case t.kind == end:
			return tokens
		case t.kind == broken:
			return append(tokens, t)
		case t.isSymbol(';'):
			tokens = append(tokens, t)
			depth = 0 // no statement goes on after one, whatever it left open
		case t.isSymbol('(') || t.isSymbol('[') || t.isSymbol('{'):
			if depth == 0 {
				tokens = append(tokens, t)
			}
			depth++
		case t.isSymbol(')') || t.isSymbol(']') || t.isSymbol('}'):
			depth--
		case depth == 0:
			tokens = append(tokens, t)
			if !settled {
				var data bool
				if data, settled = insertDataStart(tokens); data {
					return tokens
				}
			}
		}
	}
}

func parseOther(source string, tokens []token) (Statement, error) {
	text, tokens, err := cutSemicolon(source, tokens)
	if err != nil {
		return Statement{}, err
	}
	if len(tokens) == 0 {
		return Statement{Kind: Empty}, nil
	}
	result := Statement{Kind: kindOf(tokens), Text: text}
	for i, t := range tokens[:len(tokens)-1] {
		if t.is("INTO") && tokens[i+1].is("OUTFILE") && (result.Kind == Select || result.Kind == Output) {
			return Statement{}, ErrOutfile
		}
	}
	if result.Kind == Other && readsInput(text) {
		return Statement{}, ErrInput
	}
	result.Format, result.Cut = outputFormat(tokens, len(text))
	if result.Kind == Kill {
		result.Target = killTarget(tokens)
	}
	return result, nil
}

// readsInput finds INSERT ... SELECT ... FROM input('...'). The library would take it and insert nothing.
func readsInput(text string) bool {
	insert := false
	for word, before := (token{}), (token{}); ; {
		t := next(text, before.end)
		switch {
		case t.kind == end || t.kind == broken:
			return false
		case t.is("INSERT"):
			insert = true
		case insert && t.isSymbol('(') && before.is("input") && (word.is("FROM") || word.is("JOIN")):
			return true
		}
		word, before = before, t
	}
}

// cutSemicolon removes one closing semicolon; more statements after it are an error.
func cutSemicolon(source string, tokens []token) (string, []token, error) {
	for i, t := range tokens {
		if !t.isSymbol(';') {
			continue
		}
		for _, after := range tokens[i+1:] {
			if !after.isSymbol(';') {
				return "", nil, ErrMulti
			}
		}
		return source[:t.start], tokens[:i], nil
	}
	return source, tokens, nil
}

var outputs = []string{"SHOW", "DESCRIBE", "DESC", "EXPLAIN", "EXISTS", "CHECK"}
var others = []string{"ALTER", "DROP", "OPTIMIZE", "RENAME", "TRUNCATE", "SYSTEM", "DELETE", "UPDATE", "UNDROP", "EXCHANGE",
	"BACKUP", "RESTORE", "DETACH", "ATTACH", "INSERT"}

func kindOf(tokens []token) Kind {
	first := tokens[0]
	switch {
	case first.isSymbol('('), first.is("SELECT"), first.is("FROM"):
		return Select
	case anyOf(first, outputs):
		return Output
	case first.is("WITH"):
		for i, t := range tokens[:len(tokens)-1] {
			if t.is("INSERT") && tokens[i+1].is("INTO") {
				return Other
			}
		}
		return Select
	case first.is("KILL"):
		return Kill
	case first.is("CREATE"):
		for _, t := range tokens[:min(len(tokens), 4)] {
			if t.is("TEMPORARY") {
				return Session
			}
		}
		return Other
	case anyOf(first, others):
		return Other
	}
	return Session
}

func anyOf(t token, keywords []string) bool {
	for _, keyword := range keywords {
		if t.is(keyword) {
			return true
		}
	}
	return false
}

// outputFormat finds FORMAT name at the end, or before a last SETTINGS clause, and where it begins.
func outputFormat(tokens []token, end int) (string, int) {
	for i := len(tokens) - 2; i > 0; i-- {
		if !tokens[i].is("FORMAT") || tokens[i+1].kind != word {
			continue
		}
		if i+2 == len(tokens) || tokens[i+2].is("SETTINGS") {
			return tokens[i+1].text, tokens[i].start
		}
	}
	return "", end
}

// killTarget reads KILL QUERY WHERE query_id = '...' [SYNC | ASYNC | TEST].
func killTarget(tokens []token) string {
	if len(tokens) < 6 || len(tokens) > 7 || !tokens[1].is("QUERY") || !tokens[2].is("WHERE") ||
		!tokens[3].is("query_id") || !tokens[4].isSymbol('=') || tokens[5].kind != quoted || tokens[5].text[0] != '\'' {
		return ""
	}
	if len(tokens) == 7 && tokens[6].is("TEST") {
		return ""
	}
	return tokens[5].text[1 : len(tokens[5].text)-1]
}
