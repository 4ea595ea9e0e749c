// Package removal takes away folders in which strangers' programs have worked.
package removal
