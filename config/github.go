package config

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// buildGitHub returns nil without a problem when the channel is off.
func buildGitHub(v *values, p *problems) *GitHub {
	id, on := v.get(EnvGitHubAppID)
	if !on {
		return nil
	}
	g := &GitHub{}
	var err error
	if id == "" {
		p.add(EnvGitHubAppID, "is set but empty; unset it to leave the GitHub channel off")
	} else if g.AppID, err = strconv.ParseInt(id, 10, 64); err != nil || g.AppID <= 0 {
		p.add(EnvGitHubAppID, "%q is not the App's numeric id (it is on the App's settings page, under About)", id)
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
		p.add(EnvGitHubKey, "is set but empty")
	case keySet && pathSet:
		p.add(EnvGitHubKeyPath, "is set beside %s; keep one of them, so that it is clear which key signs", EnvGitHubKey)
	case keySet:
		if g.PrivateKey, err = parsePrivateKey(key); err != nil {
			p.add(EnvGitHubKey, "%v; a file is named in %s", err, EnvGitHubKeyPath)
		}
	case pathSet:
		if g.PrivateKey, err = readPrivateKey(path); err != nil {
			p.add(EnvGitHubKeyPath, "%v", err)
		}
	default:
		p.add(EnvGitHubKey, "is needed because %s is set: the App's private key, or its file in %s", EnvGitHubAppID, EnvGitHubKeyPath)
	}

	secrets, set := v.list(EnvGitHubSecret)
	g.WebhookSecrets = secrets
	switch {
	case !set:
		p.add(EnvGitHubSecret, "is needed because %s is set: the secret of the App's webhook", EnvGitHubAppID)
	case len(secrets) == 0:
		p.add(EnvGitHubSecret, "is set but empty; without a secret anyone could send webhooks")
	}

	if g.APIURL = apiRoot(v, p, EnvGitHubAPIURL); g.APIURL != nil && !strings.HasSuffix(g.APIURL.Path, "/") {
		g.APIURL.Path += "/"
	}
	if v.textOf(EnvGitHubGraphQLURL) != "" {
		g.GraphQLURL = apiRoot(v, p, EnvGitHubGraphQLURL)
	}
	g.Upkeep = buildUpkeep(v, p)
	g.Admission = buildAdmission(v, p)
	return g
}

// apiRoot reads the URL of an API to which the App's tokens are sent.
func apiRoot(v *values, p *problems, setting string) *url.URL {
	u, err := parseHTTPURL(v.textOf(setting))
	switch {
	case err != nil:
		p.add(setting, "%v", err)
		return nil
	case u.Scheme == "http" && !loopback(u.Hostname()):
		p.add(setting, "would send the App's tokens unencrypted; use https")
	}
	return u
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
