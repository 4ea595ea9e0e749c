// Package redeliver makes webhook requests of saved deliveries: it reads the
// files in which people keep them, and signs the body as the platform would.
package redeliver
