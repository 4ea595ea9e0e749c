// Package setup registers a GitHub App from a manifest.
//
// GitHub takes a manifest only from a form that a signed-in person submits, and
// hands the App's secrets out only for a code that it sends that person's browser
// back with. So [Page] is a small local site with the form and the way back, and
// [Exchange] turns the code into [Credentials].
// https://docs.github.com/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
package setup
