//! Lines of an access log: forms of text, JSON, and W3C's extended form, which names its fields.

mod entry;
mod json;
mod text;
mod time;
mod w3c;

pub(super) use entry::Entry;
use w3c::Fields;

/// Reads the lines of a log, one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct LogLines {
    fields: Option<Fields>,
}

impl LogLines {
    /// The request of the next line; absent where it is not understood.
    pub fn entry(&mut self, line: &str) -> Option<Entry> {
        let line = line.trim_end_matches(['\r', '\n']);
        if let Some(fields) = Fields::read(line) {
            self.fields = Some(fields);
            return None;
        }
        match &self.fields {
            Some(fields) => fields.entry(line),
            None if line.trim_start().starts_with('{') => json::entry(line),
            None => text::entry(line.trim()),
        }
    }

    /// Whether a line is about the lines that follow.
    pub fn is_comment(line: &str) -> bool {
        ["#Fields:", "#Version:", "#Software:", "#Date:", "#Start-Date:", "#End-Date:", "#Remark:"]
            .iter()
            .any(|directive| line.starts_with(directive))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(line: &str) -> Option<Entry> {
        LogLines::default().entry(line)
    }

    /// 2000-10-10 13:55:36 -0700
    const AT_NS: i128 = 971_211_336_000_000_000;

    #[test]
    fn the_forms_of_the_usual_servers_say_the_same() {
        for line in [
            r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?b=1 HTTP/1.0" 200 2326"#,
            r#"::1 - - [10/Oct/2000:20:55:36 +0000] "GET /a?b=1 HTTP/1.1" 200 5 "http://h/" "Mozilla/5.0 (X11; [x])" 0.123 0.122"#,
            r#"shop.example:443 10.0.0.1 - - [10/Oct/2000:20:55:36 +0000] "GET http://shop.example/a?b=1 HTTP/1.1" 200 -"#,
            r#"{"time_iso8601":"2000-10-10T13:55:36-07:00","request":"GET /a?b=1 HTTP/1.1","status":"200","request_time":0.1}"#,
            r#"{"ts":971211336,"request":{"method":"GET","uri":"/a?b=1","host":"h"},"status":200}"#,
            r#"{"@timestamp":"2000-10-10T20:55:36Z","method":"get","path":"/a?b=1","status_code":200}"#,
            r#"{"RequestMethod":"GET","RequestPath":"/a?b=1","StartUTC":"2000-10-10T20:55:36Z","time":"2000-10-10T20:55:38Z","DownstreamStatus":200}"#,
            r#"{"start_time":"2000-10-10T20:55:36Z","method":"GET","path":"/a?b=1","response_code":200}"#,
            r#"{"httpRequest":{"requestMethod":"GET","requestUrl":"https://h/a?b=1","status":200},"timestamp":"2000-10-10T20:55:36Z"}"#,
            r#"[2000-10-10T20:55:36Z] "GET /a?b=1 HTTP/1.1" 200 - 0 512 12 11 "-""#,
            r#"https 2000-10-10T20:55:36Z app/shop/50dc 192.168.131.39:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://h:443/a?b=1 HTTP/1.1" "curl/7""#,
            r#"2000-10-10T20:55:36Z shop 192.168.131.39:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://h:443/a?b=1 HTTP/1.1" "curl/7""#,
            r#"Oct 10 20:55:36 lb haproxy[14389]: 10.0.1.2:33317 [10/Oct/2000:20:55:36] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {h} {} "GET /a?b=1 HTTP/1.1""#,
            r#"2000-10-10 20:55:36,000 INFO  [io.qua.htt.access-log] (executor-thread-0) 127.0.0.1 - - [10/Oct/2000:20:55:36 +0000] "GET /a?b=1 HTTP/1.1" 200 5"#,
            r#"2000-10-10 20:55:36,000 INFO  [io.qua.htt.access-log] (executor-thread-0) 127.0.0.1 - - 10/Oct/2000:20:55:36 +0000 "GET /a?b=1 HTTP/1.1" 200 5"#,
        ] {
            let want = Entry {
                time_ns: AT_NS,
                is_whole_second: true,
                method: "GET".into(),
                target: "/a?b=1".into(),
                status: Some(200),
            };
            assert_eq!(entry(line), Some(want), "{line}");
        }
        let parts = entry(r#"{"msec":971211336.25,"request":"GET / HTTP/1.1"}"#).expect("good");
        assert_eq!((parts.time_ns - AT_NS, parts.is_whole_second, parts.status), (250_000_000, false, None));
        let ms = entry(r#"{"time":971211336250,"request":"GET / HTTP/1.1"}"#).expect("good");
        assert_eq!(ms.time_ns - AT_NS, 250_000_000);
    }

    #[test]
    fn what_is_no_request_is_none() {
        for line in [
            "",
            "hello",
            r#"h - - [10/Oct/2000:13:55:36 -0700] "-" 400 0"#,
            r#"h - - [10/Oct/2000:13:55:36 -0700] "\x16\x03\x01" 400 0"#,
            r#"h - - [10/Foo/2000:13:55:36 -0700] "GET / HTTP/1.0" 200 1"#,
            r#"h - - [10/Oct/2000:13:55:36 -0700] "CONNECT h:443 HTTP/1.0" 200 1"#,
            r#"{"time":"now","request":"GET / HTTP/1.1"}"#,
            r#"{"time":1e300,"request":"GET / HTTP/1.1"}"#,
        ] {
            assert_eq!(entry(line), None, "{line}");
        }
    }

    #[test]
    fn w3c_names_its_fields_before_the_lines() {
        for log in [
            "#Version: 1.0\n#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query sc-status time-taken\n2000-10-10 20:55:36 10.0.0.1 GET /a b=1 200 12\n",
            "#Fields:\tdate\ttime\tcs-method\tcs-uri\tsc-status\n2000-10-10\t20:55:36\tGET\t/a?b=1\t200\n",
            "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query\n2000-10-10\t20:55:36\tFRA\t5\t10.0.0.1\tGET\th\t/a\t200\t-\tcurl x\tb=1\n",
        ] {
            let mut lines = LogLines::default();
            let found: Vec<Entry> = log.lines().filter_map(|line| lines.entry(line)).collect();
            assert_eq!(found.len(), 1, "{log}");
            assert_eq!(
                (found[0].time_ns, &*found[0].target, found[0].status),
                (AT_NS, "/a?b=1", Some(200)),
                "{log}"
            );
        }
    }

    #[test]
    fn haproxy_has_milliseconds() {
        let line = r#"10.0.1.2:33317 [10/Oct/2000:20:55:36.655] http-in static/srv1 10/0/30/69/109 404 2750 - - ---- 1/1/1/1/0 0/0 "GET /a HTTP/1.1""#;
        let read = entry(line).expect("a request");
        assert_eq!(
            (read.time_ns - AT_NS, read.is_whole_second, read.status),
            (655_000_000, false, Some(404))
        );
    }

    proptest! {
        #[test]
        fn any_line_is_a_request_or_none(line in ".{0,120}", time in "[0-9/:A-Za-z. +-]{0,30}") {
            let _ = entry(&line);
            let _ = entry(&format!("h - - [{time}] \"GET / HTTP/1.0\" 200 1"));
        }
    }
}
