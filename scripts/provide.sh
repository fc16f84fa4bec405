# shellcheck shell=bash
# For scripts that provide a folder of .assay, made once. Sourced, not run; with set -Eeuo pipefail.

checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

say() { printf '%s: %s\n' "${folder##*/}" "$*" >&2; }

# begin NAME RECIPE   sets $folder, which is .assay/NAME, and $work, a new folder in it that is removed at the end. Ends with 0 where the
# folder was completed by this recipe: count it up when what is made changes. One run at a time goes on.
begin() {
    folder=$checkout/.assay/$1 recipe=$2
    if is_complete; then exit 0; fi
    mkdir -p "$folder"
    exec 8>"$folder/lock"
    flock 8
    if is_complete; then exit 0; fi
    # Left by a run that was killed.
    rm -rf "$folder"/new.*
    work=$(mktemp -d "$folder/new.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    trap 'unavailable "making it failed at: $BASH_COMMAND"' ERR
    trap 'exit 130' INT TERM HUP
}

is_complete() { [ "$(cat "$folder/complete" 2>/dev/null)" = "$recipe" ]; }

# unavailable WHY   ends with 3; WHY, one line, stays in $folder/unavailable, for tests that are skipped.
unavailable() {
    printf '%s\n' "$*" >"$folder/unavailable"
    say "not available: $*"
    exit 3
}

# finish PATH...   moves what was made into the folder, in place of what was there, and marks it complete.
finish() {
    local path
    for path; do
        rm -rf "${folder:?}/${path##*/}"
        mv "$path" "$folder/"
    done
    rm -f "$folder/unavailable"
    printf '%s\n' "$recipe" >"$folder/complete"
}
