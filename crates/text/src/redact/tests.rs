//! Secrets in every spelling that is known, and what looks like one and is none.

use super::*;
use proptest::prelude::*;

/// Command lines by the parts that are joined with blanks; `%` stands for the secret.
const SECRET: [&str; 34] = [
    "app --password % --port 1",
    "app --password=%",
    "app -password %",
    "app --db-token=% -v",
    "java -Ddb.password=% -jar a.jar",
    "java -Djavax.net.ssl.keyStorePassword=%",
    "java -Dtoken=%",
    "java -javaagent:agent.jar=api-key=%,host=h",
    "java -Durl=jdbc:postgresql://h/db?user=u&password=%&ssl=true",
    "java -Durl=jdbc:sqlserver://h;user=u;password=%;encrypt=true",
    "java -Durl=jdbc:oracle:thin:scott/%@//h:1521/x",
    "app https://user:%@host/path",
    "app https://%@host/path",
    "app redis://:%@host:1/0",
    "app mongodb+srv://u:%@host/db",
    "app http://h/p?a=b&token=%#x",
    "app http://h/p?access_token=%",
    "app http://h/p?key=%",
    "env PGPASSWORD=% psql",
    "env AWS_SECRET_ACCESS_KEY=% app",
    "env MYSQL_PWD=% mysql",
    "curl -u user:% http://h",
    "curl --proxy-user user:% http://h",
    "mysql -uroot -p% db",
    "sshpass -p % ssh h",
    "sshpass -p% ssh h",
    "redis-cli -a % ping",
    "java -Dapi-key=%",
    "java -Dwrapper.key=%",
    "app --secret-file=%",
    "java -agent:token=%",
    "app --config {\"db\":{\"password\":\"%\"}}",
    "app -Dpassword=a,%;x&y",
    "app --password -%#9",
];

#[test]
fn secrets_of_command_lines_are_not_shown() {
    let secret = "s3cr3t-Value.1";
    for line in SECRET {
        let words: Vec<String> = line.split(' ').map(|word| word.replace('%', secret)).collect();
        let shown = super::words(&words).join(" ");
        assert!(!shown.contains(secret) && shown.contains(REDACTED), "{line}: {shown}");
        let mut redactor = Redactor::default();
        redactor.learn_words(&words);
        assert!(
            redactor.values().iter().any(|value| value.contains(secret)),
            "{line}: {:?}",
            redactor.values()
        );
    }
}

#[test]
fn what_is_no_secret_is_shown() {
    for line in [
        "java -XX:+UseStringDeduplication -XX:+UseCompressedClassPointers -Xmx1g -jar a.jar",
        "app --token-ring 3 --port 8080 -p 80",
        "app --max-tokens 100 --sort-key name",
        "app http://127.0.0.1:8080/path?user=1&page=2",
        "docker run -u 1000:1000 image",
        "java -Xlog:gc*:file=gc.log:time,uptime -Djava.awt.headless=true",
        "java -Djava.security.auth.login.config=/etc/x -Duser.dir=/tmp",
        "java -agentlib:jdwp=transport=dt_socket,server=y,address=127.0.0.1:5005",
        "ssh -p 22 host",
        "app --password --verbose",
        "app jdbc:postgresql://127.0.0.1:5432/brokerage?user=assay",
        "git@github.com:a/b.git mail@example.org",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(super::words(&words).join(" "), line);
        assert_eq!(text(line), line);
    }
}

#[test]
fn secrets_on_the_command_line_are_not_stored() {
    let words = ["java", "-Ddb.password=x", "--token", "abc", "--port", "1", "--secret-file=/k"];
    let want = [
        "java",
        "-Ddb.password=<redacted>",
        "--token",
        "<redacted>",
        "--port",
        "1",
        "--secret-file=<redacted>",
    ];
    assert_eq!(super::words(&words), want);
}

#[test]
fn only_the_secret_is_left_out() {
    let shown = [
        "-Durl=jdbc:postgresql://h/db?user=u&password=abc123&ssl=true",
        "https://me:mine@host/p?token=abc&x=1",
        "-javaagent:a.jar=token=abc,host=h",
    ]
    .map(|w| word(w).into_owned());
    assert_eq!(
        shown,
        [
            "-Durl=jdbc:postgresql://h/db?user=u&password=<redacted>&ssl=true",
            "https://me:<redacted>@host/p?token=<redacted>&x=1",
            "-javaagent:a.jar=token=<redacted>,host=h",
        ]
    );
}

#[test]
fn texts_that_quote_command_lines_and_files_have_no_secrets() {
    for (of, want) in [
        ("cannot start app --password abc1 --port 1", "cannot start app --password <redacted> --port 1"),
        (
            "command = [\"app\", \"--password\", \"a b\", \"x\"]",
            "command = [\"app\", \"--password\", \"<redacted>\", \"x\"]",
        ),
        (
            "environment = { DB_PASSWORD = \"a\\\"b\", X = \"1\" }",
            "environment = { DB_PASSWORD = \"<redacted>\", X = \"1\" }",
        ),
        ("env.API_TOKEN = 'a b'\nport = 1", "env.API_TOKEN = '<redacted>'\nport = 1"),
        ("command = \"app -Dtoken=\\\"a b\\\" x\"", "command = \"app -Dtoken=\\\"<redacted>\\\" x\""),
        (
            "tokens_per_s = 5\ntoken = 5\nuse_password = true",
            "tokens_per_s = 5\ntoken = 5\nuse_password = true",
        ),
        ("Authorization: Bearer abc.1-2\nHost: h", "Authorization: Bearer <redacted>\nHost: h"),
        ("-H \"Authorization: Basic dXNlcg==\" -v", "-H \"Authorization: Basic <redacted>\" -v"),
        ("sent with Bearer a1b2c3, refused", "sent with Bearer <redacted>, refused"),
        ("a bearer of news", "a bearer of news"),
        ("{\"password\": \"a,b\", \"user\": \"u\"}", "{\"password\": \"<redacted>\", \"user\": \"u\"}"),
        ("the password is wrong; see --token-file", "the password is wrong; see --token-file"),
    ] {
        assert_eq!(text(of), want);
    }
}

#[test]
fn a_secret_is_known_again_by_its_value() {
    let mut redactor = Redactor::default();
    redactor.learn_value("DB_PASSWORD", "correct-horse");
    redactor.learn_value("DB_PASSWORD", "admin");
    redactor.learn_value("TOKEN", "{seed}");
    assert_eq!(redactor.values(), ["correct-horse"]);
    assert_eq!(redactor.text("login admin/correct-horse failed"), "login admin/<redacted> failed");
}

proptest! {
    #[test]
    fn any_text_is_redacted_without_a_panic_and_once_is_enough(of in "[a-zP=:@/?&;,'\" \\\\\\-éS]{0,60}") {
        let of = format!("{of} --password {of} token={of}");
        let once = text(&of).into_owned();
        let _ = (word(&of), words(&[&of, &of]));
        prop_assert!(once.len() <= of.len() + 10 * REDACTED.len() + of.len() * REDACTED.len());
    }
}
