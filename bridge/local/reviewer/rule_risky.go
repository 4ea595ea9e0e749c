package reviewer

import (
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// riskyLine is code that is wrong more often than it is right.
type riskyLine struct {
	applies func(language) bool
	// hint must be in the line; it spares the expression on most lines.
	hint       string
	expression *lazyregexp.Regexp
	title      string
	why        string
}

func anyLanguage(language) bool { return true }

const (
	noCertificate = "Anyone on the way can read and change the traffic. Trust the right certificate authority instead."
	runsText      = "It runs text as code; with anything from outside in it, strangers choose what runs."
	injection     = "A value with a quote in it becomes part of the statement. Pass it as a parameter."
	swallowed     = "What goes wrong here goes unnoticed. Handle it, return it, or say in a comment why it does not matter."
)

var riskyLines = []riskyLine{
	{only(langGo), "InsecureSkipVerify", lazyregexp.New(`InsecureSkipVerify\s*[:=]\s*true\b`), "Certificate check turned off", noCertificate},
	{only(langPython), "verify", lazyregexp.New(`[(,\s]verify\s*=\s*False\b`), "Certificate check turned off", noCertificate},
	{only(langPython), "_create_unverified_context", lazyregexp.New(`ssl\._create_unverified_context\b`), "Certificate check turned off", noCertificate},
	{language.isScript, "rejectUnauthorized", lazyregexp.New(`rejectUnauthorized["']?\s*:\s*false\b`), "Certificate check turned off", noCertificate},
	{anyLanguage, "NODE_TLS_REJECT_UNAUTHORIZED", lazyregexp.New(`NODE_TLS_REJECT_UNAUTHORIZED["'\]]*\s*[:=]\s*["']?0`), "Certificate check turned off", noCertificate},
	{isShellLike, "curl", lazyregexp.New(`\bcurl\b[^|;]*(\s-[a-zA-Z]*k[a-zA-Z]*\s|--insecure\b)`), "Certificate check turned off", noCertificate},
	{isShellLike, "--no-check-certificate", lazyregexp.New(`\bwget\s.*--no-check-certificate\b`), "Certificate check turned off", noCertificate},
	{isShellLike, "sslVerify", lazyregexp.New(`http\.sslVerify[ =]["']?false\b`), "Certificate check turned off", noCertificate},

	{language.isScript, "eval(", lazyregexp.New(`(^|[^\w.$])(window\.)?eval\(\s*[^)\s]`), "`eval` of text", runsText},
	{language.isScript, "new Function(", lazyregexp.New(`\bnew Function\(\s*[^)\s]`), "`new Function` of text", runsText},
	{only(langPython), "eval(", lazyregexp.New(`(^|[^\w."'])eval\(\s*[^)\s]`), "`eval` of text", runsText},
	{only(langPython), "exec(", lazyregexp.New(`(^|[^\w."'])exec\(\s*[^)\s]`), "`exec` of text", runsText},
	{only(langPHP), "eval(", lazyregexp.New(`(^|[^\w>:$])eval\(`), "`eval` of text", runsText},
	{only(langRuby), "eval(", lazyregexp.New(`(^|[^\w.])eval\(`), "`eval` of text", runsText},
	{only(langPython), "pickle.load", lazyregexp.New(`(^|[^\w"'])pickle\.loads?\(`), "Unpickling", "Whoever wrote the data chooses what code runs. Use a format that holds data only."},
	{only(langPython), "yaml.load(", lazyregexp.New(`\byaml\.load\(([^),]*\)|[^)]*Loader=yaml\.(Unsafe|Full)?Loader\b)`), "`yaml.load` without a safe loader", "A document can create any object. Use `yaml.safe_load`."},

	{language.isScript, "dangerouslySetInnerHTML", lazyregexp.New(`\bdangerouslySetInnerHTML\s*[=:]`), "HTML put in unescaped", "With text of others in it, they run scripts in your users' browsers."},
	{language.isScript, "nnerHTML", lazyregexp.New("\\.innerHTML\\s*\\+?=\\s*([^\\s=\"'`]|`[^`]*\\$\\{|[\"'][^\"']*[\"']\\s*\\+)"), "HTML put in unescaped", "With text of others in it, they run scripts in your users' browsers."},
	{language.isScript, "v-html", lazyregexp.New(`\sv-html=`), "HTML put in unescaped", "With text of others in it, they run scripts in your users' browsers."},

	{only(langPython), "shell", lazyregexp.New(`\bshell\s*=\s*True\b`), "Command goes through a shell", "Text of others in it becomes commands. Pass a list of arguments instead."},
	{only(langPython), "os.system(", lazyregexp.New(`\bos\.system\(\s*(f["']|[^"'\s)]|["'][^"']*["']\s*[%+.])`), "Command goes through a shell", "Text of others in it becomes commands. Pass a list of arguments instead."},
	{only(langGo), "exec.Command", lazyregexp.New(`exec\.Command(Context)?\((\w+,\s*)?"(/bin/)?(ba)?sh",\s*"-l?c",\s*([^"\s]|"[^"]*"\s*\+)`), "Command goes through a shell", "Text of others in it becomes commands. Pass a list of arguments instead."},

	{anyLanguage, "777", lazyregexp.New(`\bchmod\b[^;|&]{0,40}[\s(,'"]0?o?777\b|\bmode=["']?0?777\b`), "Everyone may write", "`777` lets every account on the machine change what is there."},
	{only(langGo), "777", lazyregexp.New(`\b(Mkdir|MkdirAll|WriteFile|OpenFile|Chmod)\(.*\b0o?777\b`), "Everyone may write", "`0777` lets every account on the machine change what is there, where the umask allows it."},

	{only(langGo), "Sprintf", lazyregexp.New(`(?i)Sprintf\(\s*["` + "`" + `]\s*(SELECT\s.*\sFROM\s.*\sWHERE\s|INSERT\s+INTO\s.*VALUES|UPDATE\s.*\sSET\s|DELETE\s+FROM\s.*WHERE\s)[^"` + "`" + `]*%[svq]`), "SQL put together from text", injection},
	{anyLanguage, "+", lazyregexp.New(`(?i)["'](SELECT\s[^"]*\sFROM\s[^"]*\sWHERE\s|INSERT\s+INTO\s[^"]*VALUES|UPDATE\s[^"]*\sSET\s|DELETE\s+FROM\s[^"]*WHERE\s)[^"]*["']\s*\+\s*[A-Za-z_$(]`), "SQL put together from text", injection},
	{only(langPython), "", lazyregexp.New(`(?i)\bf["']{1,3}\s*(SELECT\s.*\sFROM\s.*\sWHERE\s|INSERT\s+INTO\s.*VALUES|UPDATE\s.*\sSET\s|DELETE\s+FROM\s.*WHERE\s)[^"']*['"]?\{`), "SQL put together from text", injection},
	{only(langPython), "%", lazyregexp.New(`(?i)["']\s*(SELECT\s.*\sFROM\s.*\sWHERE\s|INSERT\s+INTO\s.*VALUES|UPDATE\s.*\sSET\s|DELETE\s+FROM\s.*WHERE\s).*%s.*["']\s*%\s*[\w(]`), "SQL put together from text", injection},
	{language.isScript, "${", lazyregexp.New("(?i)(^|[^\\w.)])`\\s*(SELECT\\s.*\\sFROM\\s.*\\sWHERE\\s|INSERT\\s+INTO\\s.*VALUES|UPDATE\\s.*\\sSET\\s|DELETE\\s+FROM\\s.*WHERE\\s)[^`]*\\$\\{"), "SQL put together from text", injection},

	{only(langGo), "_ = err", lazyregexp.New(`^\s*_ = err\s*$`), "Error swallowed", swallowed},
	{only(langRuby), "rescue nil", lazyregexp.New(`\brescue nil\s*$`), "Error swallowed", swallowed},
	{isCurly, "catch", lazyregexp.New(`\bcatch\s*(\([^)]*\)\s*)?\{\s*\}`), "Error swallowed", swallowed},
}

func isShellLike(l language) bool {
	return l == langShell || l == langContainer || l == langMake || l == langYAML
}

// isCurly reports whether the language catches errors in braces.
func isCurly(l language) bool {
	switch l {
	case langJavaScript, langTypeScript, langJava, langKotlin, langCSharp, langPHP, langDart, langScala, langSwift, langCPP:
		return true
	}
	return false
}

var (
	opensCatch = lazyregexp.New(`\bcatch\s*(\([^)]*\)\s*)?\{\s*$`)
	catchesAll = lazyregexp.New(`^\s*except(\s+(Exception|BaseException)(\s+as\s+\w+)?)?\s*:\s*(pass\s*)?$`)
	bareExcept = lazyregexp.New(`^\s*except\s*:`)
	passAlone  = lazyregexp.New(`^(pass|\.\.\.)$`)
)

// checkRiskyCode finds risky lines in code and configuration. Tests and examples
// may do what programs should not.
func checkRiskyCode(p *pull, found *collector) {
	for _, c := range p.changes {
		switch {
		case !c.written() || c.fixture || c.language == "":
			continue
		case c.role != roleCode && c.role != roleCI && c.role != roleConfig:
			continue
		}
		var candidates []riskyLine
		for _, risk := range riskyLines {
			if risk.applies(c.language) {
				candidates = append(candidates, risk)
			}
		}
		c.eachAdded(func(i int, l *line) {
			text := l.scanned()
			for _, risk := range candidates {
				if strings.Contains(text, risk.hint) && risk.expression.MatchString(text) && !c.isComment(text) {
					found.add(c.at(l, SeverityWarning, risk.title, risk.why))
					return
				}
			}
			switch {
			case c.swallows(i, text):
				found.add(c.at(l, SeverityWarning, "Error swallowed", swallowed))
			case c.language == langPython && bareExcept.MatchString(text) && !c.raisesSoon(i):
				found.add(c.at(l, SeverityInfo, "Bare `except`", "It also catches the interrupt key and the program's own exit. Name the exceptions."))
			}
		})
	}
}

// swallows reports whether an error's branch, which may go on in the next line, is empty.
func (c *change) swallows(i int, text string) bool {
	switch {
	case isCurly(c.language):
		return strings.Contains(text, "catch") && opensCatch.MatchString(text) && c.nextLine(i) == "}"
	case c.language == langPython && strings.Contains(text, "except") && catchesAll.MatchString(text):
		return strings.HasSuffix(strings.TrimSpace(text), "pass") || passAlone.MatchString(c.nextLine(i))
	}
	return false
}

// raisesSoon reports whether a branch that begins at index i raises again within
// the few lines that clean-up takes.
func (c *change) raisesSoon(i int) bool {
	const soon = 8
	lines := c.patch.lines[i+1:]
	for j := range min(len(lines), soon) {
		if l := &lines[j]; l.kind != lineRemoved && strings.HasPrefix(strings.TrimSpace(l.text), "raise") {
			return true
		}
	}
	return false
}
