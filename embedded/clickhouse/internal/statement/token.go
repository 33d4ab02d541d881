package statement

import "strings"

// kind is what a token is, as far as finding the parts of a statement needs it.
type kind uint8

const (
	end    kind = iota
	word        // a bare identifier, keyword or number
	quoted      // a string, a quoted identifier or a heredoc
	symbol      // one other character
	broken      // a quote or comment that does not end
)

type token struct {
	kind       kind
	start, end int
	text       string
}

// is tells whether the token is a keyword, in any case. A quoted identifier never is.
func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.text, keyword) }

func (t token) isSymbol(s byte) bool { return t.kind == symbol && t.text[0] == s }

// next returns the first token at or after offset, skipping space and comments. The rules are those of ClickHouse's
// lexer: -- and # comments end with the line, /* */ do not nest, quotes are doubled or escaped by a backslash.
func next(source string, offset int) token {
	offset, ok := skipSpace(source, offset)
	if !ok {
		return token{kind: broken, start: offset, end: len(source), text: source[offset:]}
	}
	if offset >= len(source) {
		return token{kind: end, start: len(source), end: len(source)}
	}
	stop, k := scan(source, offset)
	return token{kind: k, start: offset, end: stop, text: source[offset:stop]}
}

func scan(source string, offset int) (int, kind) {
	switch c := source[offset]; {
	case c == '\'' || c == '"' || c == '`':
		return scanQuoted(source, offset, c)
	case c == '$':
		if stop, ok := scanHeredoc(source, offset); ok {
			return stop, quoted
		}
		return offset + 1, symbol
	case isWord(c):
		stop := offset + 1
		for stop < len(source) && (isWord(source[stop]) || source[stop] == '$') {
			stop++
		}
		return stop, word
	}
	return offset + 1, symbol
}

func scanQuoted(source string, offset int, quote byte) (int, kind) {
	for i := offset + 1; i < len(source); i++ {
		switch source[i] {
		case '\\':
			i++
		case quote:
			if i+1 < len(source) && source[i+1] == quote {
				i++
				continue
			}
			return i + 1, quoted
		}
	}
	return len(source), broken
}

// scanHeredoc reads $tag$ text $tag$.
func scanHeredoc(source string, offset int) (int, bool) {
	tagEnd := offset + 1
	for tagEnd < len(source) && isWord(source[tagEnd]) {
		tagEnd++
	}
	if tagEnd >= len(source) || source[tagEnd] != '$' {
		return 0, false
	}
	tag := source[offset : tagEnd+1]
	stop := strings.Index(source[tagEnd+1:], tag)
	if stop < 0 {
		return 0, false
	}
	return tagEnd + 1 + stop + len(tag), true
}

// skipSpace returns the offset after space and comments, and false at a block comment that does not end.
func skipSpace(source string, offset int) (int, bool) {
	for offset < len(source) {
		rest := source[offset:]
		switch {
		case isSpace(source[offset]):
			offset++
		case strings.HasPrefix(rest, "--"), strings.HasPrefix(rest, "# "), strings.HasPrefix(rest, "#!"):
			line := strings.IndexByte(rest, '\n')
			if line < 0 {
				return len(source), true
			}
			offset += line + 1
		case strings.HasPrefix(rest, "/*"):
			stop := strings.Index(rest[2:], "*/")
			if stop < 0 {
				return offset, false
			}
			offset += stop + 4
		default:
			return offset, true
		}
	}
	return offset, true
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v' || c == 0
}

// isWord holds bytes of UTF-8 sequences too: ClickHouse refuses them later, where it can say why.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
