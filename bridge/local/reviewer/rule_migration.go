package reviewer

import (
	"fmt"
	"path"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// riskyStatement is a statement that hurts a running system.
type riskyStatement struct {
	expression *lazyregexp.Regexp
	// unless, if set, makes the statement harmless.
	unless   *lazyregexp.Regexp
	severity Severity
	title    string
	why      string
}

const (
	losesData    = "What is in there is gone at once, and code that still runs on it fails until the new version is everywhere."
	breaksOld    = "The version that is running while this is rolled out still uses the old name. Add, move over, then remove."
	rewrites     = "Most databases rewrite or check the whole table under a lock; on a large one, writes wait for that long."
	needsDefault = "It fails where the table has rows already. Give a default, or fill the column first and set the constraint later."
	locksIndex   = "On PostgreSQL, writes to the table wait until the index is built; `CONCURRENTLY` avoids that."
)

var createsTable = lazyregexp.New(`(?i)\bCREATE\s+(?:TEMP(?:ORARY)?\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?["'` + "`" + `]?([\w.]+)`)

// sqlStatements are judged on whole statements, without comments.
var sqlStatements = []riskyStatement{
	{lazyregexp.New(`(?i)\bDROP\s+(TABLE|SCHEMA|DATABASE)\b`), nil, SeverityWarning, "Migration drops a table or more", losesData},
	{lazyregexp.New(`(?i)\bALTER\s+TABLE\b.*\bDROP\s+(COLUMN\s+)?(IF\s+EXISTS\s+)?["` + "`" + `]?\w`), lazyregexp.New(`(?i)\bDROP\s+(CONSTRAINT|DEFAULT|NOT\s+NULL|INDEX|KEY|FOREIGN|PRIMARY|IDENTITY|EXPRESSION|CHECK|PARTITION)\b`), SeverityWarning, "Migration drops a column", losesData},
	{lazyregexp.New(`(?i)^\s*TRUNCATE\b`), nil, SeverityWarning, "Migration empties a table", losesData},
	{lazyregexp.New(`(?i)^\s*DELETE\s+FROM\s`), lazyregexp.New(`(?i)\bWHERE\b`), SeverityWarning, "Migration deletes every row of a table", losesData},
	{lazyregexp.New(`(?i)\bALTER\s+TABLE\b.*\b(ALTER\s+(COLUMN\s+)?\S+\s+(SET\s+DATA\s+)?TYPE|MODIFY\s+(COLUMN\s+)?\S+\s+\w|CHANGE\s+COLUMN)\b`), nil, SeverityWarning, "Migration changes a column's type", rewrites},
	{lazyregexp.New(`(?i)\bALTER\s+TABLE\b.*\bALTER\s+(COLUMN\s+)?\S+\s+SET\s+NOT\s+NULL\b`), nil, SeverityWarning, "Migration makes a column mandatory", "It fails on rows without a value, and checks the whole table under a lock."},
	{lazyregexp.New(`(?i)\bALTER\s+TABLE\b.*\bADD\s+(COLUMN\s+)?.*\bNOT\s+NULL\b`), lazyregexp.New(`(?i)\b(DEFAULT|GENERATED|IDENTITY|SERIAL|BIGSERIAL|CHECK|ADD\s+CONSTRAINT|SET\s+NOT\s+NULL)\b`), SeverityWarning, "Mandatory column without a default", needsDefault},
	{lazyregexp.New(`(?i)\bALTER\s+TABLE\b.*\bRENAME\b`), lazyregexp.New(`(?i)\bRENAME\s+(CONSTRAINT|INDEX|KEY)\b`), SeverityWarning, "Migration renames a table or column", breaksOld},
}

var (
	createsIndex     = lazyregexp.New(`(?i)^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+(?:.*?\s)?ON\s+(?:ONLY\s+)?["` + "`" + `]?([\w.]+)`)
	concurrently     = lazyregexp.New(`(?i)\bCONCURRENTLY\b`)
	railsIndex       = lazyregexp.New(`^\s*add_index[\s(]`)
	railsConcurrent  = lazyregexp.New(`concurrently`)
	downSection      = lazyregexp.New(`(?i)^\s*--\s*(\+goose\s+down|\+migrate\s+down|migrate:down|//@undo)\b|^\s*def\s+(self\.)?(down|downgrade)\b|public\s+function\s+down\b|exports\.down\b`)
	upSection        = lazyregexp.New(`(?i)^\s*--\s*(\+goose\s+up|\+migrate\s+up|migrate:up)\b|^\s*def\s+(self\.)?(up|change|upgrade)\b|public\s+function\s+up\b|exports\.up\b`)
	downFile         = lazyregexp.New(`(?i)([._-](down|rollback|undo|revert)\.sql$|^U\d+__|(^|/)(down|rollback)/)`)
	frameworkChanges = []riskyStatement{
		{lazyregexp.New(`^\s*(drop_table|remove_columns?|remove_reference)[\s(]|\bmigrations\.(RemoveField|DeleteModel)\(|\bop\.(drop_table|drop_column)\(|\b(dropTable|dropColumn|dropIfExists|removeColumn)\(`), nil, SeverityWarning, "Migration drops a table or column", losesData},
		{lazyregexp.New(`^\s*(rename_table|rename_column)[\s(]|\bmigrations\.Rename(Field|Model)\(|\b(renameTable|renameColumn)\(`), nil, SeverityWarning, "Migration renames a table or column", breaksOld},
		{lazyregexp.New(`^\s*change_column[\s(]|\bop\.alter_column\(.*\btype_=|\bchangeColumn\(`), nil, SeverityWarning, "Migration changes a column's type", rewrites},
		{lazyregexp.New(`^\s*add_column[\s(].*\bnull:\s*false\b|\bop\.add_column\(.*nullable=False`), lazyregexp.New(`\b(server_)?default\b`), SeverityWarning, "Mandatory column without a default", needsDefault},
		{lazyregexp.New(`^\s*change_column_null[\s(].*\bfalse\b`), nil, SeverityWarning, "Migration makes a column mandatory", "It fails on rows without a value, and checks the whole table under a lock."},
	}
)

// checkMigrations finds statements that lose data or block a running system, in
// the part of migrations that goes forward.
func checkMigrations(p *pull, found *collector) {
	for _, c := range p.changes {
		lower := strings.ToLower(c.Path)
		if !isMigrationPath(lower) || c.vendored || c.fixture || c.Status == statusRemoved || c.Kind == kindBinary {
			continue
		}
		if numberedMigration.MatchString(path.Base(c.Path)) && c.Status == statusModified && changesStatements(c) {
			found.add(c.about(SeverityWarning, "A migration that exists already is changed",
				"Databases that have applied it will not apply it again, so they differ from new ones. Add another migration."))
		}
		if downFile.MatchString(c.Path) {
			continue
		}
		down := downLines(c)
		if c.language == langSQL {
			checkSQL(c, down, found)
		} else {
			checkFramework(c, down, found)
		}
	}
}

// changesStatements reports whether more than comments and space changes.
func changesStatements(c *change) bool {
	for i := range c.patch.lines {
		l := &c.patch.lines[i]
		if text := strings.TrimSpace(l.text); l.kind != lineContext && !l.moved && text != "" && !c.language.isComment(text) {
			return true
		}
	}
	return false
}

// downLines tells which lines of the head belong to the way back.
func downLines(c *change) map[int]bool {
	lines := map[int]bool{}
	down := false
	mark := func(number int, text string) {
		switch {
		case downSection.MatchString(text):
			down = true
		case upSection.MatchString(text):
			down = false
		}
		if down {
			lines[number] = true
		}
	}
	if c.headSeen {
		number := 0
		for text := range strings.Lines(c.head) {
			number++
			mark(number, text)
		}
		return lines
	}
	for i := range c.patch.lines {
		if l := &c.patch.lines[i]; l.kind != lineRemoved {
			mark(l.new, l.scanned())
		}
	}
	return lines
}

// maxStatement bounds how much of one statement is put together, in bytes.
const maxStatement = 16 << 10

func checkSQL(c *change, down map[int]bool, found *collector) {
	created := map[string]bool{}
	for _, m := range createsTable.FindAllStringSubmatch(c.head, -1) {
		created[strings.ToLower(m[1])] = true
	}
	var statement strings.Builder
	var first *line
	judge := func() {
		if first != nil {
			judgeSQL(c, first, statement.String(), created, found)
		}
		statement.Reset()
		first = nil
	}
	for i := range c.patch.lines {
		l := &c.patch.lines[i]
		if l.kind == lineRemoved {
			continue
		}
		if l.kind == lineContext || l.starts {
			judge()
		}
		if l.kind == lineContext || l.moved || down[l.new] {
			continue
		}
		text, _, _ := strings.Cut(l.scanned(), "--")
		for text != "" {
			part, rest, ended := strings.Cut(text, ";")
			if strings.TrimSpace(part) != "" {
				if first == nil {
					first = l
				}
				if statement.Len() < maxStatement {
					statement.WriteString(part + " ")
				}
			}
			if ended {
				judge()
			}
			text = rest
		}
	}
	judge()
}

func judgeSQL(c *change, l *line, statement string, created map[string]bool, found *collector) {
	for _, m := range createsTable.FindAllStringSubmatch(statement, -1) {
		created[strings.ToLower(m[1])] = true
	}
	for _, risk := range sqlStatements {
		if risk.expression.MatchString(statement) && (risk.unless == nil || !risk.unless.MatchString(statement)) {
			found.add(c.at(l, risk.severity, risk.title, risk.why))
			return
		}
	}
	if m := createsIndex.FindStringSubmatch(statement); m != nil && !concurrently.MatchString(statement) && !created[strings.ToLower(m[1])] {
		found.add(c.at(l, SeverityInfo, "Index is built under a lock", fmt.Sprintf("On %s, a table that exists already. %s", quote(m[1], maxQuotedName), locksIndex)))
	}
}

// checkFramework judges migrations written in a framework's own words.
func checkFramework(c *change, down map[int]bool, found *collector) {
	c.eachAdded(func(_ int, l *line) {
		text := l.scanned()
		if down[l.new] || c.isComment(text) {
			return
		}
		for _, risk := range frameworkChanges {
			if risk.expression.MatchString(text) && (risk.unless == nil || !risk.unless.MatchString(text)) {
				found.add(c.at(l, risk.severity, risk.title, risk.why))
				return
			}
		}
		if railsIndex.MatchString(text) && !railsConcurrent.MatchString(text) && !strings.Contains(c.head, "create_table") {
			found.add(c.at(l, SeverityInfo, "Index is built under a lock", "On PostgreSQL, writes to the table wait until it is built; `algorithm: :concurrently` avoids that."))
		}
	})
}
