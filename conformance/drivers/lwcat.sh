#!/bin/sh
# Driver for lwcat, whose JSON lines need no conversion. LWCAT is the program.
server=$1 transport=http
case $1 in ws:*) server=http${1#ws} transport=ws ;; esac
exec "${LWCAT:-lwcat}" --transport "$transport" -s "$server" -o jsonl "/api/v1/namespaces/$3/$2"
