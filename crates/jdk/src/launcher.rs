//! The command line of the `java` launcher.

/// Options whose value is the next word, of all releases: what follows them is neither an option nor the main class. `-jar` and `-m` name what
/// is started.
pub const OPTIONS_WITH_VALUE: [&str; 20] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--patch-module",
    "--enable-native-access",
    "--illegal-native-access",
    "--source",
    "--describe-module",
    "-d",
    "-jar",
    "-m",
    "--module",
];
