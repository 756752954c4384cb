// Package lw is wip.
package lw
