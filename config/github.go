package config

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// buildGitHub returns nil without a problem when the channel is off.
func buildGitHub(v *values, text func(string) string) (*GitHub, []error) {
	id, on := v.get(EnvGitHubAppID)
	if !on {
		return nil, nil
	}
	var problems []error
	fail := func(setting, format string, args ...any) {
		problems = append(problems, &Error{Setting: setting, Problem: fmt.Sprintf(format, args...)})
	}
	g := &GitHub{}
	var err error
	if id == "" {
		fail(EnvGitHubAppID, "is set but empty; unset it to leave the GitHub channel off")
	} else if g.AppID, err = strconv.ParseInt(id, 10, 64); err != nil || g.AppID <= 0 {
		fail(EnvGitHubAppID, "%q is not the App's numeric id (it is on the App's settings page, under About)", id)
	}

	key, keySet := v.get(EnvGitHubKey)
	path, pathSet := v.get(EnvGitHubKeyPath)
	pathSet = pathSet && path != ""
	if keySet && pathSet && v.source[EnvGitHubKey] != v.source[EnvGitHubKeyPath] {
		// The two are one setting in two forms: the environment wins.
		keySet = v.source[EnvGitHubKey] == fromEnvironment
		pathSet = !keySet
	}
	switch {
	case keySet && key == "":
		fail(EnvGitHubKey, "is set but empty")
	case keySet && pathSet:
		fail(EnvGitHubKeyPath, "is set beside %s; keep one of them, so that it is clear which key signs", EnvGitHubKey)
	case keySet:
		if g.PrivateKey, err = parsePrivateKey(key); err != nil {
			fail(EnvGitHubKey, "%v; a file is named in %s", err, EnvGitHubKeyPath)
		}
	case pathSet:
		if g.PrivateKey, err = readPrivateKey(path); err != nil {
			fail(EnvGitHubKeyPath, "%v", err)
		}
	default:
		fail(EnvGitHubKey, "is needed because %s is set: the App's private key, or its file in %s", EnvGitHubAppID, EnvGitHubKeyPath)
	}

	secrets, set := v.get(EnvGitHubSecret)
	for s := range strings.SplitSeq(secrets, ",") {
		if s = strings.TrimSpace(s); s != "" {
			g.WebhookSecrets = append(g.WebhookSecrets, s)
		}
	}
	switch {
	case !set:
		fail(EnvGitHubSecret, "is needed because %s is set: the secret of the App's webhook", EnvGitHubAppID)
	case len(g.WebhookSecrets) == 0:
		fail(EnvGitHubSecret, "is set but empty; without a secret anyone could send webhooks")
	}

	if g.APIURL, err = parseHTTPURL(text(EnvGitHubAPIURL)); err != nil {
		fail(EnvGitHubAPIURL, "%v", err)
	} else if g.APIURL.Scheme == "http" && !loopback(g.APIURL.Hostname()) {
		fail(EnvGitHubAPIURL, "would send the App's tokens unencrypted; use https")
	} else if !strings.HasSuffix(g.APIURL.Path, "/") {
		g.APIURL.Path += "/"
	}
	return g, problems
}

// maxKeyFile bounds the key file in bytes; an RSA key of 16,384 bits takes 13 KB.
const maxKeyFile = 64 << 10

func readPrivateKey(path string) (*rsa.PrivateKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxKeyFile {
		return nil, fmt.Errorf("%s has %d bytes, which is no private key", path, info.Size())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parsePrivateKey(string(data))
}

// parsePrivateKey reads an RSA private key as people paste it: PEM, PEM with a
// literal \n for each line break, or base64 of either; PKCS#1 or PKCS#8. Its
// errors never quote the key.
func parsePrivateKey(text string) (*rsa.PrivateKey, error) {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "-----BEGIN") {
		decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
		if err != nil || !strings.Contains(string(decoded), "-----BEGIN") {
			return nil, errors.New("is neither PEM (it would begin with -----BEGIN) nor base64 of PEM")
		}
		text = string(decoded)
	}
	text = strings.ReplaceAll(text, `\n`, "\n")
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, errors.New("is a damaged PEM block; paste the whole file that GitHub let you download")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("holds a %q PEM block that is no RSA private key", block.Type)
	}
	rsaKey, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("holds a %T; GitHub Apps sign with RSA", key)
	}
	return rsaKey, nil
}

func parseHTTPURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("is not an http or https URL")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("must be a plain URL, without credentials, query or fragment")
	}
	return u, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a number of at least 1", s)
	}
	return n, nil
}
