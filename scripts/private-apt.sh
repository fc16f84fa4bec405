# shellcheck shell=bash
# apt that sees other suites or architectures than the system's, for scripts that unpack packages and install none.
# Sourced, not run. Signatures are checked; what apt writes is in a private folder, so that no rights are needed, and the
# system's packages, lists and architectures stay as they are.

# Here a folder is a PLACE: a trap of the caller reads its own $folder.

# write_apt_configuration PLACE ARCHITECTURE...   makes PLACE/apt.conf (for apt-get -c) and PLACE/debs.
# Read after the system's own configuration, so that its mirrors and proxies hold.
write_apt_configuration() {
    local place=$1 architecture
    shift
    mkdir -p "$place/state/lists/partial" "$place/cache/archives/partial" "$place/debs"
    : >"$place/status"
    cat >"$place/apt.conf" <<END
Dir::State "$place/state";
Dir::State::status "$place/status";
Dir::Cache "$place/cache";
Debug::NoLocking "true";
APT::Sandbox::User "";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear APT::Architectures;
END
    for architecture; do printf 'APT::Architectures:: "%s";\n' "$architecture" >>"$place/apt.conf"; done
}

# use_suites PLACE SUITE...   lets PLACE/apt.conf see these suites of Debian instead of the system's, from the mirrors that
# the system uses.
use_suites() {
    local place=$1 site release suite signed='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    shift
    # shellcheck disable=SC2016 # apt-get fills these in
    apt-get indextargets --format '$(SITE) $(RELEASE)' \
        'Created-By: Packages' 'Component: main' 'Origin: Debian' | sort -u |
        while read -r site release; do
            for suite; do
                case $suite:$release in
                *-security:*-security) echo "deb $signed $site $suite main" ;;
                *-security:* | *:*-*) ;; # updates and backports
                *) echo "deb $signed $site $suite main" ;;
                esac
            done
        done >"$place/sources.list"
    cat >>"$place/apt.conf" <<END
Dir::Etc::sourcelist "$place/sources.list";
Dir::Etc::sourceparts "-";
END
}
