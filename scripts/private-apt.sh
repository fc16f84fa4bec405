# shellcheck shell=bash
# apt that sees other suites or architectures than the system's, for scripts that unpack packages and install none.
# Sourced, not run. Signatures are checked; what apt writes is in a private folder, so that no rights are needed, and the
# system's packages, lists and architectures stay as they are.

# write_apt_configuration FOLDER ARCHITECTURE...   makes FOLDER/apt.conf (for apt-get -c) and FOLDER/debs.
# Read after the system's own configuration, so that its mirrors and proxies hold.
write_apt_configuration() {
    local folder=$1 architecture
    shift
    mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial" "$folder/debs"
    : >"$folder/status"
    cat >"$folder/apt.conf" <<END
Dir::State "$folder/state";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
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
    for architecture; do printf 'APT::Architectures:: "%s";\n' "$architecture" >>"$folder/apt.conf"; done
}

# use_suites FOLDER SUITE...   lets FOLDER/apt.conf see these suites of Debian instead of the system's, from the mirrors that
# the system uses.
use_suites() {
    local folder=$1 site release suite signed='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
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
        done >"$folder/sources.list"
    cat >>"$folder/apt.conf" <<END
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "-";
END
}
