package top

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/bidi"
)

// Isolates keep the direction of an id to itself: without them a right-to-left id turns its neighbours around.
const (
	firstStrongIsolate    = "\u2068"
	popDirectionalIsolate = "\u2069"
)

const ellipsis = "…"

// printable makes any text safe to print: what a terminal would obey, and what would not be seen, is written as an escape.
func printable(text string) string {
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return text
	}
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case !hidden(r):
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			out.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return out.String()
}

// hidden says whether a rune is shown as an escape: control characters, line breaks, and format characters such as
// direction overrides. A joiner stays, because emoji and several scripts need it.
func hidden(r rune) bool {
	switch {
	case r == 0x200c || r == 0x200d:
		return false
	case r < ' ' || (r >= 0x7f && r < 0xa0):
		return true
	case r < utf8.RuneSelf:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}

// fit returns text of at most columns terminal columns, shortened between characters, and isolated when it needs to be.
// columns <= 0 shortens nothing.
func fit(text string, columns int) string {
	text = printable(text)
	if columns > 0 && uniseg.StringWidth(text) > columns {
		text = shortened(text, columns-uniseg.StringWidth(ellipsis)) + ellipsis
	}
	if strings.ContainsFunc(text, rightToLeft) {
		return firstStrongIsolate + text + popDirectionalIsolate
	}
	return text
}

func shortened(text string, columns int) string {
	var out strings.Builder
	used := 0
	for characters := uniseg.NewGraphemes(text); characters.Next(); {
		used += characters.Width()
		if used > columns {
			break
		}
		out.WriteString(characters.Str())
	}
	return out.String()
}

func rightToLeft(r rune) bool {
	if r < utf8.RuneSelf {
		return false
	}
	properties, _ := bidi.LookupRune(r)
	class := properties.Class()
	return class == bidi.R || class == bidi.AL || class == bidi.AN
}
