#!/usr/bin/env bash
# Runs Makefile targets in lanes and prints the duration of each target. Fails if a target fails.
#
#   internal/tools/stages/stages.sh 'test lint' 'e2e test-js'
#
# Each argument is a lane. The targets of a lane run one after another. The lanes run concurrently. The output of a
# target is printed when the target ends. The output of the first failed target is repeated at the end.
set -euo pipefail

logs=$(mktemp -d)
lanes=()
# Kills the running lanes and ignores lanes that have exited.
stop() {
	for lane in "${lanes[@]}"; do kill -- "-$lane" 2>/dev/null || true; done
	rm -rf "$logs"
}
trap stop EXIT
trap 'exit 130' INT TERM

# Runs targets one after another. After each target it writes "target seconds result" to stdout.
lane() {
	local target began result
	for target in "$@"; do
		began=$SECONDS result=ok
		make --no-print-directory "$target" </dev/null >"$logs/$target" 2>&1 || result=FAILED
		echo "$target $((SECONDS - began)) $result"
	done
}

mkfifo "$logs/ended"
set -m # makes each lane a process group, so stop also kills its child processes
for targets in "$@"; do
	# shellcheck disable=SC2086 # The shell must split a lane into targets.
	lane $targets >"$logs/ended" &
	lanes+=($!)
done

# The loop ends when the last lane has closed the pipe.
table=() first=
while read -r target seconds result; do
	printf '\n=== %s: %s after %d s\n' "$target" "$result" "$seconds"
	cat "$logs/$target"
	table+=("$(printf '%-16s %5d s  %s' "$target" "$seconds" "$result")")
	[[ $result == ok || $first ]] || first=$target
done <"$logs/ended"

printf '\n=== Targets in the order of completion:\n'
printf '%s\n' "${table[@]}" "$(printf '%-16s %5d s' total "$SECONDS")"
if [[ $first ]]; then
	printf '\n=== %s failed first. Its output:\n' "$first"
	cat "$logs/$first"
	exit 1
fi
