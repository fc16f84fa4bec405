# shellcheck shell=bash
# What compiles and links for any target, C parts as well: releases and hashes for `from_wheels` (scripts/wheel.sh). Sourced, not run.

# shellcheck disable=SC2034 # for whoever sources this
zig_releases='ziglang==0.15.2
cargo-zigbuild==0.24.0'
# shellcheck disable=SC2034
zig_hashes='--hash=sha256:806316453d1ede7174ed3fefb8e5348154629089c3bb5fe812dfd0e172fac130
--hash=sha256:edc0aa60ec964a4cf462d40f68d7de242ddf37fd9a80f2afaee6397059463230

--hash=sha256:484412e39e4c6039474535ce97ee75a22bab22d58233056f8ec8a8f9034bb957
--hash=sha256:6942e4320f7b05d8fb29e0a8ce5670bcbb3d254275100b85b5b7c86552f9a744'
