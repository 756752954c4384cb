#!/bin/sh
# Driver for kubectl get --watch. KUBECTL is the program. It also needs jq.
kubectl=${KUBECTL:-kubectl}
"$kubectl" version --client -o json | jq -c '{type: "CLIENT", version: .clientVersion.gitVersion}'
# /dev/null keeps kubectl from reading the user's kubeconfig, and from caching the API resources of this server. kubectl
# prints each page of a long list as one object.
"$kubectl" --kubeconfig /dev/null --cache-dir /dev/null -s "$1" -n "$3" ${SSL_CERT_FILE:+--certificate-authority "$SSL_CERT_FILE"} \
	get "$2" --watch --output-watch-events -o json |
	jq -c --unbuffered '.type as $type | (.object.items // [.object])[].metadata
		| {$type, key: "\(.namespace)/\(.name)", resourceVersion, uid}'
