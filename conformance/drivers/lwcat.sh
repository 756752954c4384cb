#!/bin/sh
# Driver for lwcat, whose JSON lines need no conversion. LWCAT is the program.
exec "${LWCAT:-lwcat}" -s "$1" -o jsonl "/api/v1/namespaces/$3/$2"
