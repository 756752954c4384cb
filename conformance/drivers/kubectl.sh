#!/bin/sh
# Driver for kubectl get --watch. KUBECTL is the program. It also needs jq.
kubectl=${KUBECTL:-kubectl}
"$kubectl" version --client -o json | jq -c '{type: "CLIENT", version: .clientVersion.gitVersion}'
# The suite measures the memory of only one process, which must be kubectl. So jq reads from a named pipe. kubectl prints
# each page of a long list as one object.
pipe=$(mktemp -u) && mkfifo "$pipe"
{
	rm "$pipe"
	exec jq -c --unbuffered '.type as $type | (.object.items // [.object])[].metadata
		| {$type, key: "\(.namespace)/\(.name)", resourceVersion, uid}'
} <"$pipe" &
# /dev/null keeps kubectl from reading the user's kubeconfig, and from caching the API resources of this server.
exec "$kubectl" --kubeconfig /dev/null --cache-dir /dev/null -s "$1" -n "$3" ${SSL_CERT_FILE:+--certificate-authority "$SSL_CERT_FILE"} \
	get "$2" --watch --output-watch-events -o json >"$pipe"
