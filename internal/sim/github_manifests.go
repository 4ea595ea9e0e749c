package sim

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A person's pages for a new App. The form comes from anywhere; here it is
// confirmed at once, as if the person had done so.
// https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest

// manifestLife is how long a code can be exchanged.
const manifestLife = time.Hour

// manifest is what a form brought, as far as it is looked at.
type manifest struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	Hook struct {
		URL    string `json:"url"`
		Active *bool  `json:"active"`
	} `json:"hook_attributes"`
	RedirectURL string            `json:"redirect_url"`
	Permissions map[string]string `json:"default_permissions"`
	Events      []string          `json:"default_events"`

	owner   string
	expires time.Time
}

// takeManifest registers an App and sends the browser back with a code.
func (g *GitHub) takeManifest(c *call) reply {
	form, err := url.ParseQuery(string(c.body))
	if err != nil || !strings.HasPrefix(c.r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		return failed(http.StatusBadRequest, "Bad Request")
	}
	m := manifest{owner: "octo", expires: g.now().Add(manifestLife)}
	if c.vars["org"] != "" {
		m.owner = c.vars["org"]
	}
	if err := json.Unmarshal([]byte(form.Get("manifest")), &m); err != nil {
		return failed(http.StatusUnprocessableEntity, "Error: the manifest is not valid JSON")
	}
	back, err := url.Parse(m.RedirectURL)
	switch {
	case m.Name == "" || utf8.RuneCountInString(m.Name) > 34:
		return failed(http.StatusUnprocessableEntity, "Error: name is too long (maximum is 34 characters)")
	case m.URL == "":
		return failed(http.StatusUnprocessableEntity, `Error: "url" wasn't supplied`)
	case m.Hook.URL == "" || !strings.HasPrefix(m.Hook.URL, "https://"):
		return failed(http.StatusUnprocessableEntity, "Error: Hook url is not supported because it isn't reachable over the public Internet")
	case err != nil || back.Host == "":
		return failed(http.StatusUnprocessableEntity, `Error: "redirect_url" is not a URL`)
	case slices.Contains(m.Events, "check_run") && m.Permissions["checks"] == "":
		return failed(http.StatusUnprocessableEntity, "Error: Default events unsupported: check_run")
	}
	code := strings.ToLower(rand.Text())
	g.manifests[code] = m
	query := back.Query()
	query.Set("code", code)
	if state := c.r.URL.Query().Get("state"); state != "" {
		query.Set("state", state)
	}
	back.RawQuery = query.Encode()
	return reply{status: http.StatusFound}.set("Location", back.String())
}

// convertManifest hands out an App's secrets, once.
func (g *GitHub) convertManifest(c *call) reply {
	code := c.vars["code"]
	m, found := g.manifests[code]
	delete(g.manifests, code)
	if !found || g.now().After(m.expires) {
		return notFound()
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return failed(http.StatusInternalServerError, "Server Error")
	}
	slug := strings.ToLower(strings.ReplaceAll(m.Name, " ", "-"))
	secret := make([]byte, 20)
	_, _ = rand.Read(secret) // never fails
	g.opts.AppID, g.opts.Slug, g.opts.PublicKey = g.nextID(), slug, &key.PublicKey
	g.opts.WebhookSecret = hex.EncodeToString(secret)
	answer := g.appJSON(g.opts.AppID, g.opts.Slug)
	answer["name"], answer["html_url"] = m.Name, g.web("/apps/"+slug)
	answer["owner"].(object)["login"] = m.owner
	answer["permissions"], answer["events"] = m.Permissions, m.Events
	answer["client_id"], answer["client_secret"] = "Iv23liABCDEF", "not-looked-at"
	answer["webhook_secret"] = g.opts.WebhookSecret
	answer["pem"] = string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	return created(answer)
}
