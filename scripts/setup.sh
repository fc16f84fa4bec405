# shellcheck shell=sh disable=SC2154 # $here comes from the sourcing script
# What `assay` and `check` share: finding what is missing, installing it, and building only what is out of date.
# Sourced, not run. The sourcing script sets $here to the root of the checkout.
#
# A need is a word (rust, jdk, ...) with two functions: has_NEED says whether it is met, and packages_for_NEED
# prints the packages that meet it, one a line, as "PACKAGE<tab>why".

oldest_rust=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$here/Cargo.toml")
oldest_java=17
stamps=$here/.assay/stamps
program=$here/target/release/assay
# Where the system's files are looked for; the tests put an empty folder here.
system=${ASSAY_TEST_SYSTEM-}

# All talk goes to stderr: stdout belongs to the program's data.
say() { printf 'assay: %s\n' "$*" >&2; }

# Ends with exit code 3: the environment lacks something.
lacking() {
    say "$*"
    exit 3
}

# is_at_least VERSION OLDEST
is_at_least() { [ -n "$1" ] && [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# is_fresh STAMP PATH...   whether nothing under the paths, tests aside, was changed after STAMP was made. A folder with a target/ does
# not count: the build changed it.
is_fresh() {
    fresh_stamp=$1
    shift
    [ -e "$fresh_stamp" ] && [ -z "$(find "$@" \( -name target -o -name test -o -name node_modules \) -prune \
        -o -newer "$fresh_stamp" ! -exec test -d '{}/target' ';' -print -quit 2>/dev/null)" ]
}

# Two starts in one folder take turns. unlock comes before the program runs, which may run twice at once.
lock() {
    mkdir -p "$here/.assay" "$stamps"
    exec 9>"$here/.assay/lock"
    flock -n 9 || {
        say "another set-up is at work in $here; waiting for it"
        flock 9
    }
}
unlock() { exec 9>&-; }

# --- needs ---------------------------------------------------------------------------------------------------

has_certificates() { [ -e "$system/etc/ssl/certs/ca-certificates.crt" ]; }
packages_for_certificates() { printf 'ca-certificates\tlets cargo and Maven check where their downloads come from\n'; }

has_compiler() { command -v cc >/dev/null; }
packages_for_compiler() {
    printf 'gcc\tlinks the Rust program\n'
    printf 'libc6-dev\tthe C library that the Rust program is linked with\n'
}

# A cargo that is new enough: the one on PATH, the user's own, or the stable toolchain of an installed rustup,
# which is fetched when rustup has none yet. The user's default toolchain is left as it is.
has_rust() {
    if is_new_cargo; then return 0; fi
    if [ -x "${HOME:-}/.cargo/bin/cargo" ]; then
        PATH=$HOME/.cargo/bin:$PATH
        if is_new_cargo; then return 0; fi
    fi
    command -v rustup >/dev/null || return 1
    if ! rustup toolchain list 2>/dev/null | grep -q '^stable'; then
        say "rustup fetches the stable Rust toolchain into ${RUSTUP_HOME:-$HOME/.rustup}"
        rustup toolchain install stable --profile minimal --no-self-update >&2 9>&- || return 1
    fi
    export RUSTUP_TOOLCHAIN=stable
    is_new_cargo
}
is_new_cargo() {
    is_at_least "$(cargo --version 2>/dev/null | cut -d ' ' -f 2)" "$oldest_rust" &&
        is_at_least "$(rustc --version 2>/dev/null | cut -d ' ' -f 2)" "$oldest_rust"
}
# The distribution's own compiler where it is new enough (Debian 12 has a new one under the names -web),
# otherwise its rustup, which fetches the compiler from the Rust project.
packages_for_rust() {
    if command -v rustup >/dev/null; then
        say "rustup is here, but its stable toolchain is older than Rust $oldest_rust; see: rustup update stable"
        return 1
    fi
    rust_why="Rust $oldest_rust or later, which Assay is written in"
    for suffix in '' -web; do
        # The version of rustc: Debian 12's cargo counts differently.
        if is_at_least "$(candidate "rustc$suffix")" "$oldest_rust"; then
            printf 'rustc%s\t%s\ncargo%s\tbuilds it\n' "$suffix" "$rust_why" "$suffix"
            return 0
        fi
    done
    if [ -n "$(candidate rustup)" ]; then
        printf 'rustup\tfetches %s\n' "$rust_why"
    else
        say "no package here offers Rust $oldest_rust or later; install it from https://rustup.rs, then start again"
        return 1
    fi
}

has_jdk() {
    for jdk in "${JAVA_HOME:-}" "$(readlink -f "$(command -v javac)" 2>/dev/null | sed 's,/bin/javac$,,')" "$system"/usr/lib/jvm/*; do
        # `javac -version` prints "javac 17.0.15"; JDK 8 prints it to stderr.
        if [ -z "$jdk" ] || [ ! -x "$jdk/bin/javac" ]; then continue; fi
        if is_at_least "$("$jdk/bin/javac" -version 2>/dev/null | cut -d ' ' -f 2)" "$oldest_java"; then
            JAVA_HOME=$jdk
            export JAVA_HOME
            return 0
        fi
    done
    return 1
}
packages_for_jdk() {
    for version in 25 21 17; do
        if [ -n "$(candidate "openjdk-$version-jdk-headless")" ]; then
            printf 'openjdk-%s-jdk-headless\tbuilds and runs the Java servers under test\n' "$version"
            return 0
        fi
    done
    say "no package here offers a JDK of version $oldest_java or later"
    return 1
}

has_maven() { command -v mvn >/dev/null; }
packages_for_maven() { printf 'maven\tfetches the libraries of the Java servers and builds them\n'; }

# --- installing ----------------------------------------------------------------------------------------------

# The version that apt would install; nothing where it knows none.
candidate() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p' | grep -Fvx '(none)' | sed 's/^[0-9]*://' || true; }

# Sets $as_root to what goes before a command that needs root ("" for root itself).
may_install() {
    as_root=
    if [ "$(id -u)" = 0 ]; then return 0; fi
    command -v sudo >/dev/null || return 1
    as_root='sudo -n'
    if sudo -n true 2>/dev/null; then return 0; fi
    as_root=sudo
    # sudo asks on the terminal, which may be another than stdin; without one it cannot.
    [ -t 2 ] && (: </dev/tty) 2>/dev/null || return 1
    say "packages are missing; sudo may ask for your password. They are named before they are installed."
    sudo -v
}

# install_missing NEED...   returns when all are met; otherwise ends with exit code 3 and the commands that meet them
install_missing() {
    missing=
    for need; do
        "has_$need" || missing="$missing $need"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null || lacking "missing:$missing. Assay installs on Debian and Ubuntu; here please install them" \
        "yourself (Rust $oldest_rust or later, a C compiler, a JDK of version $oldest_java or later, Maven), then start again"
    installs=no
    if may_install; then installs=yes && refresh_package_lists; fi
    # Every distribution has gcc: without it the lists were never read.
    [ -n "$(candidate gcc)" ] || lacking "missing:$missing; and there are no package lists to choose from." \
        "Run 'sudo apt-get update', then start again"
    choose_packages
    if [ "$installs" = yes ]; then install_packages; else ask_for_packages; fi
    for need in $missing; do
        "has_$need" || lacking "still missing after the installation: $need (the messages above say more)"
    done
}

# Once in a run. Old lists may name packages that are gone, new machines have none.
refresh_package_lists() {
    [ -z "${lists_are_fresh-}" ] || return 0
    say "reading the package lists anew (apt-get update)"
    # Some of several sources may fail without harm: what is really missing shows at the installation.
    $as_root apt-get -qq update >&2 9>&- || say "some package lists could not be read; going on with those that could"
    lists_are_fresh=yes
}

# Sets $packages and $reasons for $missing.
choose_packages() {
    reasons=
    for need in $missing; do
        chosen=$("packages_for_$need") || lacking "nothing was installed"
        reasons=$reasons$chosen'
'
    done
    packages=$(printf '%s' "$reasons" | cut -f 1 | tr '\n' ' ')
    packages=${packages% }
}

# --no-remove: if a wanted package conflicts with one that is there, that is for the user to decide.
install_packages() {
    say 'installing these packages with apt-get, which may take some minutes:'
    printf '%s' "$reasons" | column_of_packages >&2
    # shellcheck disable=SC2086 # words on purpose: a command, and names of packages
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends --no-remove \
        -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 $packages >"$here/.assay/apt.log" 2>&1 9>&- && return 0
    tail -n 20 "$here/.assay/apt.log" >&2
    say 'apt-get did not install them (its last words are above). To see what it would take:'
    printf '  sudo apt-get install --no-install-recommends %s\n' "$packages" >&2
    exit 3
}

ask_for_packages() {
    say 'these packages are missing, and only root may install them:'
    printf '%s' "$reasons" | column_of_packages >&2
    say 'install them, then start again:'
    printf '  sudo apt-get update\n  sudo apt-get install --no-install-recommends %s\n' "$packages" >&2
    exit 3
}

column_of_packages() { while IFS='	' read -r name why; do printf '  %-26s %s\n' "$name" "$why"; done; }

# --- building ------------------------------------------------------------------------------------------------

# What the program is made of. web/ is compiled into it.
program_is_fresh() {
    set -- "$here/crates" "$here/Cargo.toml" "$here/Cargo.lock"
    if [ -d "$here/web" ]; then set -- "$@" "$here/web"; fi
    [ -x "$program" ] && is_fresh "$stamps/program" "$@"
}

# Someone else's checkout, perhaps read-only: the program runs as it was built.
prepare_program() {
    if program_is_fresh; then return 0; fi
    if [ ! -w "$here" ]; then
        [ -x "$program" ] || lacking "there is no program yet, and $here is not yours to write; its owner runs ./assay setup"
        say "note: sources are newer than the program, and $here is not yours to write; running it as it was built"
        return 0
    fi
    lock
    if program_is_fresh; then return 0; fi
    install_missing certificates compiler rust
    if [ ! -x "$program" ]; then say "building the program (the first time takes some minutes)"; fi
    # Dated before the build: a source that is edited meanwhile counts as newer.
    : >"$stamps/program.new"
    cargo build --release --locked -p assay --manifest-path "$here/Cargo.toml" --target-dir "$here/target" >&2 9>&- ||
        lacking "the build failed; its messages are above"
    mv "$stamps/program.new" "$stamps/program"
}

# Whether each JVM of the pair is there, or the reason why it cannot be
pair_is_settled() {
    for name in 17-i386 17-amd64; do
        # Its programs name the folder that they were made in.
        grep -qsF " $(readlink -f "$here/.assay/jvm/$name")" "$here/.assay/jvm/$name/complete" ||
            [ -e "$here/.assay/jvm/$name.unavailable" ] || return 1
    done
}

# The data sets of the brokerage, which its databases are filled with.
brokerage_sets='small standard'
brokerage_is_fresh() {
    for brokerage_set in $brokerage_sets; do
        [ -e "$here/.assay/brokerage/stamp-$brokerage_set" ] || return 1
    done
    server_is_fresh brokerage
}

# The others: the airline's services, the chat server, the kiosk, probes, the same kind of programs under JMH, and the supermarket server
others='airline chat kiosk probes probes-jmh supermarket'

server_is_fresh() {
    [ -e "$here/.assay/$1/stamp" ] &&
        is_fresh "$stamps/$1" "$here/workloads/pom.xml" "$here/workloads/compile" "$here/workloads/cpu-time" "$here/workloads/$1"
}

# Which servers must be built
stale_servers() {
    brokerage_is_fresh || echo brokerage
    for other in $others; do
        server_is_fresh "$other" || echo "$other"
    done
}

# The library that trims malloc in any program; studies preload it.
trim=$here/.assay/lib/libassay_trim.so
trim_is_built() { [ -n "$(find "$trim" -newer "$here/crates/memory/preload/trim.c" 2>/dev/null)" ]; }

# What the ready-made studies need beside the program: the JVM pair, the servers, the probes and the library that trims malloc.
prepare_studies() {
    if pair_is_settled && trim_is_built && [ -z "$(stale_servers)" ]; then return 0; fi
    [ -w "$here" ] || lacking "the studies are not set up, and $here is not yours to write; its owner runs ./assay setup"
    lock
    # Why it could not be had is written down, and studies say so.
    if ! pair_is_settled; then "$here/workloads/jvm/fetch" pair 9>&- || true; fi
    if ! trim_is_built; then
        install_missing compiler
        "$here/scripts/build-trim" "$trim" 9>&- || lacking 'the library that trims malloc does not compile; the messages are above'
    fi
    servers=$(stale_servers)
    [ -n "$servers" ] || return 0
    install_missing certificates compiler jdk maven
    # Dated before the build: a source that is edited meanwhile counts as newer.
    for server in $servers; do : >"$stamps/$server.new"; done
    say "compiling the studies' servers and probes"
    # shellcheck disable=SC2086 # words on purpose: names of servers
    "$here/workloads/compile" $servers >&2 9>&- || lacking "the servers do not compile; the messages are above"
    for server in $servers; do
        sets=''
        if [ "$server" = brokerage ]; then
            say "building the brokerage server (the first time fetches about 350 MB)"
            sets=$brokerage_sets
        fi
        # shellcheck disable=SC2086 # words on purpose: names of data sets
        COMPILED=yes "$here/workloads/$server/build" $sets >&2 9>&- ||
            lacking "the build of $server failed; its messages are above"
        mv "$stamps/$server.new" "$stamps/$server"
    done
}
