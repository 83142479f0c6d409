#!/bin/sh
# offline.sh SCRIPT LOG COMMAND...
# Runs COMMAND beside a mock model server that answers from SCRIPT and logs whole requests to
# LOG. It has to be inside a network namespace of its own, of which it brings the loopback up.
# COMMAND sees MOCK_URL.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
script=$1 log=$2
shift 2
ip link set lo up
said=$(mktemp)
python3 "$here/mock_model_server.py" --script "$script" --port 8797 --log "$log" --full >"$said" &
server=$!
trap 'kill $server 2>/dev/null; rm -f "$said"' EXIT
n=0
until grep -q LISTENING "$said"; do
    n=$((n + 1))
    [ $n -lt 200 ] || { echo "the mock does not listen" >&2; exit 99; }
    sleep 0.05
done
MOCK_URL=http://127.0.0.1:8797 "$@"
