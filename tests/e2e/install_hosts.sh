#!/bin/sh
# Installs the hosts that the end-to-end tests run, pinned, from npm, into a cache outside the
# repository: $LOOPX_HOSTS_DIR, else ~/.cache/loopx-hosts. About 800 MB.
# Usage: install_hosts.sh [codex] [claude]    (without a name: codex)
# Claude Code is proprietary: name it only where somebody has accepted its terms.
set -eu
cache=${LOOPX_HOSTS_DIR:-$HOME/.cache/loopx-hosts}
put() {
    mkdir -p "$cache/$1"
    [ -f "$cache/$1/package.json" ] || echo '{"private":true}' >"$cache/$1/package.json"
    (cd "$cache/$1" && npm install --no-audit --no-fund --loglevel=error --force "$2")
}
for host in "${@:-codex}"; do
    case $host in
    codex) put codex @openai/codex@0.171.0 ;;
    claude) put claude @anthropic-ai/claude-code@2.1.332 ;;
    *) echo "no host named $host" >&2; exit 2 ;;
    esac
done
