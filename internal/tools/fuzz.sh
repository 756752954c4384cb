#!/bin/sh
# Runs the Go fuzz targets one after the other. A failure does not stop the other targets.
#
#   internal/tools/fuzz.sh TIME [PATTERN]
#
# PATTERN is an extended regular expression for "package/Target", for example lw/FuzzValue.
cd "$(dirname "$0")/../.." || exit 2
targets=$(find . \( -name node_modules -o -name bin \) -prune -o -name '*_test.go' -exec grep -oE '^func Fuzz[A-Za-z0-9_]+' /dev/null {} + |
	sed -E 's|^\./(.*)/[^/]+:func (.*)|\1/\2|' | grep -E "${2:-.}" | sort)
[ -n "$targets" ] || { echo "fuzz: no target matches $2" >&2; exit 1; }

log=$(mktemp) && trap 'rm -f "$log"' EXIT
failed=
for target in $targets; do
	echo "$target"
	(cd "${target%/*}" && go test -run '^$' -fuzz "^${target##*/}\$" -fuzztime "$1" -fuzzminimizetime 1s .) >"$log" 2>&1 ||
		# go test can report the end of the fuzz time as a failure. A real failure has another message.
		tail -n 6 "$log" | grep -qx '    context deadline exceeded' || { failed="$failed $target"; cat "$log"; continue; }
	grep elapsed "$log" | tail -n 1
done
[ -z "$failed" ] || { echo "fuzz: failed:$failed" >&2; exit 1; }
