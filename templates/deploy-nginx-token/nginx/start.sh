#!/bin/sh
# Starts nginx with a list of the tokens that may pass, made from MCP_AUTH_TOKENS.
# The list stands in memory only: /tmp is a tmpfs.
set -eu
umask 077

refuse() {
    echo "Cannot start: MCP_AUTH_TOKENS: $1" >&2
    exit 1
}

# A line for each pair: a pattern in which every byte of the token is written in
# hexadecimal, so that no character means anything to nginx, and the name.
printf '%s\n' "${MCP_AUTH_TOKENS:-}" | tr ',' '\n' | while read -r pair; do
    test -n "$pair" || continue
    printf '%s\n' "$pair" | grep -Eq '^[[:alnum:]_.-]+:[^[:space:]]{16,}$' ||
        refuse "expected name:token pairs, each token of at least 16 characters"
    bytes=$(printf '%s' "${pair#*:}" | od -An -v -tx1 | tr -d ' \n' | sed 's/../\\x&/g')
    printf '"~^(?i:Bearer) +%s$" "%s";\n' "$bytes" "${pair%%:*}"
done >/tmp/tokens.conf
test -s /tmp/tokens.conf || refuse "expected at least one name:token pair"

# nginx itself needs them no longer.
unset MCP_AUTH_TOKENS
exec nginx "$@"
