# shellcheck shell=bash
# Programs that are published as wheels: fetched into a folder of their own, and checked by their hashes.
# Sourced, not run.

# from_wheels PROGRAM RELEASES HASHES LOG   fetches PROGRAM into the folder above its bin/. RELEASES are `NAME==VERSION`, one a line,
# each followed in HASHES by a paragraph of its `--hash=`. LOG says why it could not be had.
from_wheels() {
    local program=$1 releases=$2 hashes=$3 log=$4 folder release
    folder=$(dirname "$(dirname "$program")")
    [ -x "$program" ] && return 0
    command -v python3 >/dev/null || { echo 'python3 is not installed' >"$log"; return 1; }
    : >"$log.txt"
    while IFS= read -r release; do
        printf '%s %s\n' "$release" "$(tr '\n' ' ' <<<"${hashes%%$'\n\n'*}")" >>"$log.txt"
        hashes=${hashes#*$'\n\n'}
    done <<<"$releases"
    python3 -m venv "$folder" >"$log" 2>&1 &&
        "$folder/bin/pip" install --quiet --require-hashes --only-binary :all: -r "$log.txt" >>"$log" 2>&1
    [ -x "$program" ]
}
