#!/bin/sh
# Installs the hosts that the end-to-end tests run, pinned, from npm, into a cache outside the
# repository: $LOOPX_HOSTS_DIR, else ~/.cache/loopx-hosts. About 800 MB for codex and claude,
# 1 GB for the others.
# Usage: install_hosts.sh [codex] [claude] [pi] [opencode] [node node20 node24 bun]
#        (without a name: codex)
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
    node) put node node@22.23.3 ;;
    node20) put node20 node@20.20.2 ;;
    node24) put node24 node@24.21.0 ;;
    bun) put bun @oven/bun-linux-x64@1.4.5 ;;
    pi)
        # Under an older Node npm takes an older Pi.
        put node node@22.23.3
        PATH="$cache/node/node_modules/node/bin:$PATH" put pi @earendil-works/pi-coding-agent@1.6.0
        ;;
    opencode) put oc opencode-linux-x64@1.18.33 ;;
    *) echo "no host named $host" >&2; exit 2 ;;
    esac
done
