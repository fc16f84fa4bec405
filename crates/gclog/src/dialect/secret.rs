//! Flags of a JVM are written into reports: what may be a secret is left out.

/// Words in the name of an option whose value is nobody's business.
const WORDS: [&str; 11] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "credential",
    "licen",
    "apikey",
    "accesskey",
    "privatekey",
];

/// The flag, without its value if that may be a secret: that of any system property, or of an option with such a word in its name.
pub(super) fn without_secret(flag: &str) -> String {
    let Some((name, _)) = flag.split_once('=') else { return flag.to_owned() };
    if flag.starts_with("-D") {
        return format!("{name}=...");
    }
    let lower: String =
        name.chars().filter(|c| c.is_alphanumeric() || *c == '.').collect::<String>().to_lowercase();
    let is_key = lower.rsplit('.').next().is_some_and(|last| last.ends_with("key"));
    if is_key || WORDS.iter().any(|word| lower.contains(word)) {
        format!("{name}=...")
    } else {
        flag.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_may_be_secrets_are_left_out() {
        assert_eq!(without_secret("-Dwrapper.key=abc"), "-Dwrapper.key=...");
        assert_eq!(
            without_secret("-Djavax.net.ssl.keyStorePassword=x=y"),
            "-Djavax.net.ssl.keyStorePassword=..."
        );
        assert_eq!(without_secret("-Dapi-key=abc"), "-Dapi-key=...");
        assert_eq!(without_secret("-Dservice.url=https://me:mine@host"), "-Dservice.url=...");
        assert_eq!(without_secret("-javaagent:api-key=abc"), "-javaagent:api-key=...");
        assert_eq!(without_secret("-agent:token=abc"), "-agent:token=...");
        assert_eq!(without_secret("-Xmx1g"), "-Xmx1g");
        assert_eq!(without_secret("-XX:MaxHeapSize=1024"), "-XX:MaxHeapSize=1024");
        assert_eq!(without_secret("-Dwrapper.key"), "-Dwrapper.key");
    }
}
