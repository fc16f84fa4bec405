//! NGINX servers that run: the directives that rules ask for.
//!
//! The configuration is another program's: it is opened below the root of its process as data, bounded, and only the directives below are
//! kept.

use crate::running::words_of;
use assay_linux::ProcRoot;
use assay_model::{HostProxy, Problem};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// Directives that are kept.
const KEPT: [&str; 7] = [
    "access_log",
    "keepalive",
    "keepalive_requests",
    "proxy_pass",
    "upstream",
    "worker_connections",
    "worker_rlimit_nofile",
];
const CONFIGURATION: &str = "/etc/nginx/nginx.conf";
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Files that are read, included ones too.
const FILES_MAX: usize = 200;

/// The master processes and their directives.
pub(super) fn read(proc: &ProcRoot, problems: &mut Vec<Problem>) -> Vec<HostProxy> {
    let processes = proc.read_processes().unwrap_or_default();
    let titles = processes.into_iter().filter(|process| process.command == "nginx").filter_map(|process| {
        let words = words_of(&proc.path().join(process.pid.to_string()).join("cmdline")).ok()?;
        Some((process.pid, words.join(" ")))
    });
    let masters = titles.filter(|(_, title)| title.starts_with("nginx: master process"));
    masters
        .map(|(pid, title)| {
            let words: Vec<&str> = title.split_whitespace().collect();
            let given = words.iter().position(|word| *word == "-c").and_then(|at| words.get(at + 1));
            let path = Path::new(given.copied().unwrap_or(CONFIGURATION));
            let mut found = ProxyConfig { proc, pid, directives: BTreeMap::new(), files_left: FILES_MAX };
            let read = found.add(path);
            let failed = |error: io::Error| {
                problems.push(Problem::new(path.display().to_string(), format!("process {pid}: {error}")));
            };
            HostProxy { pid, directives: read.map_err(failed).ok().map(|()| found.directives) }
        })
        .collect()
}

struct ProxyConfig<'a> {
    proc: &'a ProcRoot,
    pid: u32,
    directives: BTreeMap<String, Vec<String>>,
    files_left: usize,
}

impl ProxyConfig<'_> {
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let Some(left) = self.files_left.checked_sub(1) else {
            return Err(io::Error::other(format!("it includes more than {FILES_MAX} files")));
        };
        self.files_left = left;
        let text = self.read(path)?;
        for directive in directives(&text) {
            let (name, arguments) = directive.split_first().expect("it has a name");
            if name == "include"
                && let Some(pattern) = arguments.first()
            {
                let folder = path.parent().unwrap_or(Path::new("/"));
                for included in self.included(&folder.join(pattern))? {
                    self.add(&included)?;
                }
            } else if KEPT.contains(&name.as_str()) {
                self.directives.entry(name.clone()).or_default().push(arguments.join(" "));
            }
        }
        Ok(())
    }

    /// The file itself, or those of its folder that its name matches.
    fn included(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        let (Some(folder), Some(name)) =
            (pattern.parent(), pattern.file_name().and_then(|name| name.to_str()))
        else {
            return Ok(Vec::new());
        };
        if !name.contains(['*', '?', '[']) {
            return Ok(vec![pattern.to_owned()]);
        }
        let wanted = glob::Pattern::new(name).map_err(io::Error::other)?;
        let held = self.proc.hold_at(self.pid, folder)?;
        let mut names = Vec::new();
        for entry in std::fs::read_dir(format!("/proc/self/fd/{}", held.as_raw_fd()))? {
            names.extend(entry?.file_name().into_string().ok().filter(|name| wanted.matches(name)));
        }
        names.sort();
        Ok(names.iter().map(|name| folder.join(name)).collect())
    }

    fn read(&self, path: &Path) -> io::Result<String> {
        let held = self.proc.hold_at(self.pid, path)?;
        let through = format!("/proc/self/fd/{}", held.as_raw_fd());
        // A named pipe would never end.
        if !std::fs::metadata(&through)?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let mut text = String::new();
        File::open(&through)?.take(FILE_BYTES_MAX).read_to_string(&mut text)?;
        Ok(text)
    }
}

/// The words of each directive, outermost first: they end with `;` or `{`.
fn directives(text: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '#' => while letters.next_if(|next| *next != '\n').is_some() {},
            ';' | '{' => {
                if !words.is_empty() {
                    found.push(std::mem::take(&mut words));
                }
            }
            '}' => words.clear(),
            quote @ ('"' | '\'') => {
                let word = std::iter::from_fn(|| letters.next().filter(|next| *next != quote));
                words.push(word.collect());
            }
            blank if blank.is_whitespace() => {}
            first => {
                let ends = |next: &char| next.is_whitespace() || matches!(next, ';' | '{' | '}');
                let rest = std::iter::from_fn(|| letters.next_if(|next| !ends(next)));
                words.push(std::iter::once(first).chain(rest).collect());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_end_with_a_semicolon_or_a_block() {
        let text = "worker_rlimit_nofile 81920; # many; {\nhttp { upstream shop { server a:1; keepalive 1000; }\n \
                    server { location / { proxy_pass \"http://shop\"; } access_log off; } } rest";
        let expected = [
            "worker_rlimit_nofile 81920",
            "http",
            "upstream shop",
            "server a:1",
            "keepalive 1000",
            "server",
            "location /",
            "proxy_pass http://shop",
            "access_log off",
        ];
        assert_eq!(directives(text).iter().map(|words| words.join(" ")).collect::<Vec<_>>(), expected);
        assert_eq!(directives("\"unfinished"), Vec::<Vec<String>>::new());
    }
}
