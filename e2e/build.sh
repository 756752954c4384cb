#!/usr/bin/env bash
# Builds the programs of the end-to-end tests: "kube", which contains etcd and
# kube-apiserver, and kubectl. Prints their folder as the last line on stdout.
# All other output goes to stderr.
#
#   build.sh          build the missing programs
#   build.sh --where  print the folder and build nothing
#
# The version of Kubernetes is that in go.mod, or $KUBE, for example 1.32.3.
#
# The folder is in $LISTWATCH_CACHE, or else in listwatch/ in $XDG_CACHE_HOME or
# ~/.cache, so it is kept when a checkout is deleted. Its name contains a hash
# of the inputs of the build, so an outdated binary is never used.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# The servers run on this machine, even if the caller builds for another platform.
unset GOOS GOARCH
# Without cgo, the build needs no C compiler. The binaries need no C library, so
# they also run from a cache that was filled on another machine.
export CGO_ENABLED=0

# Prints a message to stderr.
say() { printf 'e2e/build.sh: %s\n' "$*" >&2; }

# Hashes stdin with the tool that the system has.
sha256() {
	if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi
}

# The version of Kubernetes, such as v1.36.3. Linker flags set it in the servers.
pinned=$(awk '$1 == "k8s.io/kubernetes" { print $2; exit }' go.mod)
version=${KUBE:-$pinned}
version=v${version#v}
IFS=. read -r major minor _ <<<"${version#v}"
ldflags='-s -w'
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
	ldflags+=" -X $package.gitVersion=$version"
	ldflags+=" -X $package.gitMajor=$major -X $package.gitMinor=$minor"
done
build=(go build -trimpath -buildvcs=false "-ldflags=$ldflags")

# Writes a module to $1 that builds a version other than that in go.mod. Its
# go.mod is that of Kubernetes, so the servers have the dependencies of that
# release. The modules that Kubernetes replaces with folders are published
# as v0 with the same minor and patch version.
write_module() {
	go mod download "k8s.io/kubernetes@$version" 1>&2
	mkdir -p "$1/cmd"
	cp -R cmd/kube "$1/cmd"
	sed -e 's|^module .*|module kube|' -e "s|=> \./staging/src/\(.*\)|=> \1 v0.${version#v1.}|" \
		"$(go env GOMODCACHE)/cache/download/k8s.io/kubernetes/@v/$version.mod" >"$1/go.mod"
	printf '\nrequire k8s.io/kubernetes %s\n' "$version" >>"$1/go.mod"
}

# The hash covers only the lines of go.mod about Kubernetes and etcd, so a new
# dependency of the tests does not require another build. Another version uses the
# module that write_module creates instead of this go.mod.
key=$({
	printf '%s\n' "${build[*]}"
	if [[ $version == "$pinned" ]]; then
		grep -E 'k8s\.io/|go\.etcd\.io/' go.mod | sed 's| // indirect||' | sort
	else
		declare -f write_module
	fi
	cat cmd/kube/*.go
	go version
} | sha256 | cut -c1-16)
folder=${LISTWATCH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/listwatch}/kube-$key

case ${1-} in
--where)
	printf '%s\n' "$folder"
	exit
	;;
'') ;;
*)
	say "unknown argument '$1'; usage: build.sh [--where]"
	exit 2
	;;
esac

if [[ -x $folder/kube && -x $folder/kubectl ]]; then
	say "kube-apiserver and kubectl $version are already built"
	printf '%s\n' "$folder"
	exit
fi

say "building kube-apiserver $version, etcd and kubectl"
say "the first build takes about 8 minutes on two cores, downloads 0.6 GB"
say "and needs 2 GB in Go's build cache; later builds take half a minute"
mkdir -p "$folder"
temporary=$(mktemp -d "$folder/build.XXXXXX")
pid=
# A background job in a script ignores Ctrl-C, so the script kills it at exit.
trap 'if [[ -n $pid ]]; then kill "$pid" 2>/dev/null || true; fi; rm -rf "$temporary"' EXIT
trap 'exit 130' INT TERM

source=.
if [[ $version != "$pinned" ]]; then
	source=$temporary/module
	write_module "$source"
	build+=(-mod=mod) # adds the checksums to go.sum
fi
SECONDS=0
(cd "$source" && exec "${build[@]}" -o "$temporary/" ./cmd/kube k8s.io/kubernetes/cmd/kubectl) 1>&2 &
pid=$!
next=60
while kill -0 "$pid" 2>/dev/null; do
	sleep 1
	if ((SECONDS >= next)); then
		say "still building after $((SECONDS / 60)) min"
		((next += 60))
	fi
done
wait "$pid"
pid=
# A rename is atomic, so a test finds either a complete binary or no binary.
# Concurrent builds produce identical binaries.
mv -f "$temporary/kubectl" "$folder/kubectl"
mv -f "$temporary/kube" "$folder/kube"
say "done in $SECONDS s"
printf '%s\n' "$folder"
