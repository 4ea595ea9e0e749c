package main

import (
	"strings"

	"github.com/liaison-bot/liaison/internal/sim"
)

// shopFiles is the repository before the pull request.
func shopFiles() map[string]string {
	return map[string]string{
		"README.md":          "# Shop\n\nA small shop, for the demo.\n",
		"go.mod":             "module example.com/shop\n\ngo 1.26\n",
		".github/CODEOWNERS": "/payments/ @octo/payments\n",
		".github/workflows/test.yml": `name: test
on: pull_request
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - run: go test ./...
`,
		"payments/client.go": `package payments

import (
	"net/http"
	"net/url"
)

// Charge asks the provider for an amount in cents.
func Charge(order, cents string) error {
	response, err := http.PostForm("https://payments.example/charges", url.Values{"order": {order}, "cents": {cents}})
	if err != nil {
		return err
	}
	return response.Body.Close()
}
`,
		"payments/client_test.go": `package payments

import "testing"

func TestChargeRefusesNothing(t *testing.T) {
	if err := Charge("", "0"); err == nil {
		t.Error("an empty order was charged")
	}
}
`,
	}
}

// firstPush has what a reviewer should stumble over.
func firstPush() map[string]sim.Change {
	return map[string]sim.Change{
		".github/workflows/test.yml": sim.Write(`name: test
on: pull_request_target
permissions: write-all
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - uses: acme/setup-payments@main
      - run: go test ./...
`),
		"payments/client.go": sim.Write(`package payments

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"time"
)

// client gives up on a provider that is slow.
var client = &http.Client{
	Timeout:   2 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
}

// Charge asks the provider for an amount in cents, three times at most. The
// key makes the provider charge once however often it is asked.
func Charge(order, cents string) error {
	form := url.Values{"order": {order}, "cents": {cents}, "key": {order}}
	var err error
	for range 3 {
		var response *http.Response
		if response, err = client.PostForm("https://payments.example/charges", form); err == nil {
			return response.Body.Close()
		}
	}
	return err
}
`),
		"payments/client_test.go": sim.Write(`package payments

import "testing"

func TestChargeRefusesNothing(t *testing.T) {
	t.Skip("flaky since the retries")
	if err := Charge("", "0"); err == nil {
		t.Error("an empty order was charged")
	}
}
`),
		"migrations/0007_charges.sql": sim.Write("ALTER TABLE charges ADD COLUMN key text NOT NULL;\nDROP TABLE charges_old;\n"),
	}
}

// secondPush takes most of it back.
func secondPush() map[string]sim.Change {
	return map[string]sim.Change{
		".github/workflows/test.yml":  sim.Write(shopFiles()[".github/workflows/test.yml"]),
		"migrations/0007_charges.sql": sim.Write("ALTER TABLE charges ADD COLUMN key text;\n"),
		"payments/client_test.go": sim.Write(`package payments

import "testing"

func TestChargeRefusesNothing(t *testing.T) {
	if err := Charge("", "0"); err == nil {
		t.Error("an empty order was charged")
	}
}

func TestChargeGivesUp(t *testing.T) {
	if err := Charge("order-1", "100"); err == nil {
		t.Error("a provider that is not there was charged")
	}
}
`),
	}
}

// thirdPush takes the rest of it back.
func thirdPush() map[string]sim.Change {
	return map[string]sim.Change{
		"payments/client.go": sim.Write(strings.ReplaceAll(firstPush()["payments/client.go"].Content,
			"	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},\n", "")),
	}
}
