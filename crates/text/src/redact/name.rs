//! Which names of options, variables, properties and parameters stand before a secret.

/// Words that make every name a secret's, also within a longer word: `PGPASSWORD`, `keyStorePassword`, `clientsecret`.
const ANYWHERE: [&str; 14] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "credential",
    "apikey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "licensekey",
    "storepass",
    "keypass",
];
/// Words that make a name a secret's where they stand by themselves: `api-token`, `authToken`.
const AS_WORD: [&str; 6] = ["token", "jwt", "bearer", "authorization", "pwd", "otp"];
/// Words that do so at the name's end.
const AT_END: [&str; 7] = ["pass", "pw", "auth", "cookie", "pin", "licence", "license"];
/// Words at the end of a name that is about a secret and holds none: `password.min.length`, `token-ring`, `token_ttl`.
const ABOUT: [&str; 22] = [
    "ring",
    "count",
    "size",
    "length",
    "limit",
    "timeout",
    "ttl",
    "seconds",
    "expiry",
    "expiration",
    "bucket",
    "policy",
    "type",
    "enabled",
    "url",
    "uri",
    "endpoint",
    "algorithm",
    "rate",
    "max",
    "min",
    "hint",
];
/// Words before `key` that say that it is none of a lock: `sort-key`, `partition.key`.
const OF_DATA: [&str; 14] = [
    "sort",
    "partition",
    "primary",
    "foreign",
    "cache",
    "map",
    "row",
    "group",
    "routing",
    "public",
    "object",
    "message",
    "record",
    "lookup",
];

/// Whether what is given under this name is secret.
pub fn is_secret(name: &str) -> bool {
    if !may_be_secret(name) {
        return false;
    }
    let words = words(name);
    let Some(last) = words.last().map(String::as_str) else { return false };
    let all = words.concat();
    let before_last = words.len().checked_sub(2).map(|at| words[at].as_str());
    if words.len() > 1 && ABOUT.contains(&last) {
        return false;
    }
    let is_pwd_alone = all == "pwd" || all == "oldpwd";
    ANYWHERE.iter().any(|word| all.contains(word)) && !all.contains("secretary")
        || words.iter().any(|word| AS_WORD.contains(&word.as_str())) && !is_pwd_alone
        || AT_END.contains(&last)
        || last == "tokens" && !matches!(before_last, None | Some("max" | "min" | "num" | "of" | "per"))
        || last == "key" && before_last.is_some_and(|before| !OF_DATA.contains(&before))
}

/// Whether it has the beginning of one of the words above, wherever it is parted: a name, or a text with names. Nearly all of a
/// log's header have none, which takes a tenth of the time that looking for the words takes.
pub(super) fn may_be_secret(name: &str) -> bool {
    let mut last = [0; 3];
    name.bytes().any(|byte| {
        if byte.is_ascii_alphanumeric() {
            last = [last[1], last[2], byte.to_ascii_lowercase()];
        }
        !byte.is_ascii()
            || matches!(
                &last,
                [_, b'p', b'w']
                    | b"pas"
                    | b"pin"
                    | b"sec"
                    | b"cre"
                    | b"coo"
                    | b"key"
                    | b"tok"
                    | b"jwt"
                    | b"bea"
                    | b"aut"
                    | b"otp"
                    | b"lic"
            )
    })
}

/// The words of a name, split at everything but letters and digits, and at the humps of camel case.
fn words(name: &str) -> Vec<String> {
    let (mut words, mut word, mut before) = (Vec::new(), String::new(), ' ');
    for c in name.chars() {
        let begins = !c.is_alphanumeric() || c.is_uppercase() && before.is_lowercase();
        if begins && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_secret_is_seen_at_the_first_look() {
        for word in ANYWHERE.iter().chain(&AS_WORD).chain(&AT_END).chain(&["tokens", "key"]) {
            let (upper, parted) = (word.to_uppercase(), format!("db.x{}-{}", &word[..1], &word[1..]));
            assert!(may_be_secret(word) && may_be_secret(&upper) && may_be_secret(&parted), "{word}");
        }
        assert!(!may_be_secret("-XX:MaxHeapSize") && !may_be_secret("java.class.path"));
    }

    #[test]
    fn names_of_secrets_are_known() {
        for name in [
            "password",
            "db.password",
            "PGPASSWORD",
            "javax.net.ssl.keyStorePassword",
            "AWS_SECRET_ACCESS_KEY",
            "AWS_SESSION_TOKEN",
            "MYSQL_PWD",
            "DB_PASS",
            "--token",
            "api-key",
            "apiKey",
            "X-Api-Key",
            "Authorization",
            "client_secret",
            "clientSecret",
            "GITHUB_TOKEN",
            "wrapper.key",
            "ENCRYPTION_KEY",
            "private_key",
            "secret-file",
            "spring.datasource.password",
            "REDIS_AUTH",
            "passphrase",
            "jwt",
            "access_token",
            "authToken",
            "AUTH_TOKENS",
            "credentials",
            "storepass",
            "keypass",
        ] {
            assert!(is_secret(name), "{name}");
        }
    }

    #[test]
    fn names_that_hold_no_secret_are_left() {
        for name in [
            "",
            "UseStringDeduplication",
            "UseCompressedClassPointers",
            "token-ring",
            "password.min.length",
            "PWD",
            "OLDPWD",
            "key",
            "sort-key",
            "partition.key",
            "max-tokens",
            "tokens",
            "token_ttl",
            "passThrough",
            "compass",
            "port",
            "user",
            "keyStore",
            "trustStoreType",
            "PASSES",
            "author",
            "monkey",
            "secretary",
            "KEYBOARD",
            "password.policy",
            "auth.type",
            "TokenBucket.size",
            "java.security.auth.login.config",
            "heap",
            "spin",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
