//! Mistakes that people make at the command line: each ends with its exit code, and the answer names the input, the cause, and the
//! command or spelling that puts it right. Slips that can be meant in one way only are understood.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

/// Good.
const GOOD: i32 = 0;
/// Wrong use or bad input.
const USE: i32 = 2;
/// The environment lacks something.
const LACKS: i32 = 3;

/// What is typed, the exit code, and words that the answer has. `{process}` is a process that is not a JVM, `{dead}` one that has ended.
type Mistake = (&'static str, i32, &'static [&'static str]);

const MEMORY: &[Mistake] = &[
    ("memory NoSuchProgram", USE, &["no running JVM has `NoSuchProgram` in its name", "assay memory"]),
    ("memory {dead}", USE, &["no process with PID {dead}", "assay memory"]),
    ("memory 0", USE, &["'0'", "whole number from 1", "assay memory"]),
    ("memory -5", USE, &["'-5'", "whole number from 1", "assay memory"]),
    ("memory 99999999999", USE, &["'99999999999'", "whole number from 1"]),
    ("memory gc.log", USE, &["gc.log is not a process", "text file", "assay gc gc.log"]),
    (
        "memory shop.hprof",
        USE,
        &["shop.hprof is not a process", "heap dump", "assay heap predict shop.hprof"],
    ),
    ("memory folder", USE, &["folder is not a process", "it is a folder", "assay gc folder"]),
    ("memory look.json", USE, &["look.json is not a process", "assay memory diff look.json"]),
    ("memory {process} --watch 500ms --for 10ms", GOOD, &["RSS", "ended after"]),
    ("memory {process} --watch 5", USE, &["`5` has no unit", "\"5s\""]),
    ("memory {process} --freeze 5", USE, &["`5` has no unit", "\"5s\""]),
    ("memory -p {process}", GOOD, &["RSS"]),
    ("memory --pid {dead}", USE, &["no process with PID {dead}", "assay memory"]),
    ("memory --for 5m", USE, &["--for", "PID", "--watch"]),
    ("memory {process} --entries few", USE, &["'few'", "number nor `all`"]),
    ("memory {process} --record missing/a.ndjson", USE, &["no folder missing", "mkdir -p missing"]),
    ("memory {process} --html folder", USE, &["folder is a folder", "a file in it"]),
    ("memory {process} --record-max-bytes 40gb --record r", USE, &["`40gb` is not a size", "\"40g\""]),
    ("memory advise {process}", USE, &["process {process} is not a JVM", "assay memory {process}"]),
    ("memory {process} 5s", USE, &["unexpected argument '5s'", "assay memory {process} --watch --for 5s"]),
    ("memory {process} {process}", USE, &["unexpected argument '{process}' after '[PID|NAME|FILE]'"]),
    ("memory look.json look.json", USE, &["unexpected argument", "assay memory diff look.json look.json"]),
    ("memory {process} advise", USE, &["'advise'", "assay memory advise {process}"]),
    ("memory dif a b", USE, &["assay memory diff a b"]),
    ("memory diff look.json", USE, &["<AFTER>", "assay memory diff <BEFORE> <AFTER>"]),
    ("memory diff empty empty", USE, &["empty is not an assay memory snapshot", "assay memory PID --json"]),
    ("memory {process} --watch --for 5sec", USE, &["`5sec` is not a duration", "\"5s\""]),
    ("memory {process} --watch --for 1,5m", USE, &["`1,5m` is not a duration", "\"1.5m\""]),
    ("memory {process} diff", USE, &["assay memory diff {process}"]),
    ("memory {process} --interval 5s", USE, &["unexpected argument '--interval'", "did you mean: --every"]),
    ("memory {process} -o page.html", USE, &["unexpected argument '-o'", "did you mean: --html"]),
    ("memory {process} --html", USE, &["a value is required for '--html <FILE>'"]),
    ("memory {process} --format yaml", USE, &["'yaml'", "table, json, csv, md"]),
    ("memory PID", USE, &["no running JVM has `PID` in its name", "assay memory"]),
    ("memory diff missing.json missing.json", USE, &["missing.json", "No such file"]),
];

const TIME: &[Mistake] = &[
    ("time", USE, &["<PID|NAME>", "assay memory"]),
    ("time NoSuchProgram", USE, &["no running JVM has `NoSuchProgram` in its name", "assay memory"]),
    ("time {dead}", USE, &["no process with PID {dead}", "assay memory"]),
    ("time {process} 30s", USE, &["unexpected argument '30s'", "assay time {process} --for 30s"]),
    ("time {process} --for 30", USE, &["`30` has no unit", "\"30s\""]),
    ("time {process} --requests -4", USE, &["'-4'", "more than 0"]),
    ("time {process} --jfr missing.jfr", USE, &["missing.jfr", "No such file", "JFR.start"]),
    ("time one.jfr", USE, &["one.jfr is not a process", "flight recorder", "assay time PID --jfr one.jfr"]),
    ("time diff empty empty", USE, &["empty", "assay time PID --json"]),
];

const GC: &[Mistake] = &[
    ("gc", USE, &["<LOG|PID|NAME>", "PID"]),
    (
        "gc NoSuchProgram",
        USE,
        &["No such file", "no running JVM has `NoSuchProgram` in its name", "assay memory"],
    ),
    ("gc --pid {process}", USE, &["{process} is neither a file nor a JVM", "assay memory"]),
    ("gc folder/NoSuchProgram", USE, &["No such file", "assay gc PID"]),
    ("gc {dead}", USE, &["no process with PID {dead}", "assay memory"]),
    ("gc {process}", USE, &["{process} is neither a file nor a JVM", "assay memory"]),
    ("gc missing.log", USE, &["missing.log", "No such file", "-Xlog:gc"]),
    ("gc empty", USE, &["empty is not a GC log", "it is empty", "-Xlog:gc"]),
    ("gc folder", USE, &["folder holds no GC log"]),
    ("gc shop.hprof", USE, &["shop.hprof is not a GC log", "heap dump", "assay heap predict shop.hprof"]),
    ("gc program", USE, &["program is not a GC log", "it is a program"]),
    ("gc notes.txt", USE, &["notes.txt is not a GC log", "-Xlog:gc"]),
    ("gc gc.log --requests -5", USE, &["'-5'", "more than 0"]),
    ("gc gc.log --fail-if pause_p99>200", USE, &["`pause_p99`", "`pause_p99_ms`"]),
    ("gc gc.log --fail-if pause_p99_ms>200ms", USE, &["`200ms` is not a number", "200"]),
    ("gc gc.log --fail-if pause_p99_ms>+10%", USE, &["about a change", "assay gc diff BEFORE AFTER"]),
    ("gc diff gc.log gc.log --fail-if pause_p99_ms!=+0%", USE, &["a change has an interval", "by > or <"]),
    ("gc gc.log --openmetrics 9400", USE, &["--follow"]),
    ("gc gc.log empty", USE, &["empty is not a GC log"]),
    ("gc gc.log gc.log", GOOD, &["gc.log"]),
    ("gc gc.log missing.log", USE, &["missing.log", "No such file"]),
    ("gc diff gc.log gc.log gc.log", USE, &["unexpected argument 'gc.log'", "assay gc diff"]),
    ("gc LOG", USE, &["cannot read LOG", "-Xlog:gc"]),
    ("gc gc.log --html missing/page.html", USE, &["no folder missing", "mkdir -p missing"]),
    ("gc dif a.log b.log", USE, &["dif", "assay gc diff"]),
    ("gc diff gc.log", USE, &["<AFTER>", "assay gc diff before.log after.log"]),
];

const HEAP: &[Mistake] = &[
    ("heap gc.log", USE, &["gc.log", "assay gc gc.log"]),
    ("heap shop.hprof", USE, &["shop.hprof", "assay heap predict shop.hprof"]),
    ("heap 4242", USE, &["4242", "assay heap predict --pid 4242"]),
    ("heap predikt shop.hprof", USE, &["'predikt'", "'predict'"]),
    (
        "heap predict",
        USE,
        &["<DUMP|--pid <PID|NAME>>", "jcmd PID GC.heap_dump", "assay heap predict --pid PID"],
    ),
    ("heap predict 4242", USE, &["4242", "assay heap predict --pid 4242"]),
    ("heap predict gc.log", USE, &["gc.log is not an HPROF heap dump", "assay gc gc.log"]),
    ("heap predict empty", USE, &["empty is not an HPROF heap dump", "it is empty", "GC.heap_dump"]),
    ("heap predict folder", USE, &["folder is a folder", "assay heap predict folder/"]),
    ("heap predict --pid {dead}", USE, &["no process with PID {dead}", "assay memory"]),
    ("heap predict --pid NoSuchProgram", USE, &["no running JVM has `NoSuchProgram`", "assay memory"]),
    ("heap predict --pid 0", USE, &["'0'", "whole number from 1", "assay memory"]),
    ("heap modes --pid NoSuchProgram", USE, &["no running JVM has `NoSuchProgram`", "assay memory"]),
    ("heap modes --max-heap 40gb", USE, &["`40gb` is not a size", "\"40g\""]),
    ("heap modes --max-heap 31.5g", USE, &["`31.5g` is not a size", "\"32256m\""]),
    ("heap", USE, &["predict", "modes"]),
    ("heap modes --max-heap 2GB", USE, &["`2GB` is not a size", "\"2g\""]),
    ("heap modes --max-heap 1,5g", USE, &["'1'", "at least 1 MiB", "1536m"]),
    ("heap modes --want 0", USE, &["'0'", "more than 0 bytes"]),
    ("heap layout Order", USE, &["--dump", "--classpath"]),
];

const LOAD: &[Mistake] = &[
    ("load http://127.0.0.1:1/", USE, &["--rate", "--users"]),
    (
        "load http://127.0.0.1:1/ --rate 5 --scenario shop",
        USE,
        &["cannot read scenario shop", "no ready-made scenario is called shop", "supermarket-small"],
    ),
    ("load --rate 5", USE, &["<URL>", "assay load http://"]),
    ("load localhost:8080/shop --rate 5", USE, &["no scheme; write it like http://localhost:8080/shop"]),
    ("load ftp://shop/ --rate 5", USE, &["ftp://shop/", "http://"]),
    ("load http://127.0.0.1:1/ --rate 5", LACKS, &["http://127.0.0.1:1", "refused", "is the server started"]),
    ("load http://127.0.0.1:1/ --rate -5", USE, &["'-5'", "more than 0"]),
    ("load http://127.0.0.1:1/ --rate 100/s", USE, &["'100/s'", "without a unit"]),
    ("load http://127.0.0.1:1/ --rate 1,000", USE, &["'1,000'", "like 1500"]),
    ("load http://127.0.0.1:1/ --rate 1k", USE, &["'1k'", "like 1500"]),
    ("load http://127.0.0.1:1/ --rps 5", USE, &["unexpected argument '--rps'", "did you mean: --rate"]),
    ("load http://127.0.0.1:1/ --users 0", USE, &["'0'", "whole number from 1"]),
    (
        "load http://127.0.0.1:1/ --rate 5 --rate-schedule x",
        USE,
        &["--rate", "cannot be used with", "--rate-schedule"],
    ),
    ("load http://127.0.0.1:1/ --rate 5 --duration 30", USE, &["`30` has no unit", "\"30s\""]),
    ("load http://127.0.0.1:1/ --rate 5 --scenario missing.toml", USE, &["missing.toml", "No such file"]),
    ("load http://127.0.0.1:1/ --rate 5 --scenario study.toml", USE, &["study.toml:", "unknown key"]),
    ("inject", USE, &["--token-file", "/dev/urandom"]),
    ("inject --token-file missing", USE, &["token file missing", "No such file", "/dev/urandom"]),
    ("inject --token-file public", USE, &["token file public", "others may use it", "chmod 600"]),
];

const CAPACITY: &[Mistake] = &[
    ("capacity", USE, &["<URL>", "assay capacity http://"]),
    ("capacity localhost:8080", USE, &["no scheme; write it like http://localhost:8080"]),
    ("capacity http://127.0.0.1:1/ --limits 10min", USE, &["`10min` is not a response time", "10ms"]),
    ("capacity http://127.0.0.1:1/ --limits 10ms,0.05s", LACKS, &["http://127.0.0.1:1", "refused"]),
    ("capacity http://127.0.0.1:1/ --limit 50", USE, &["'--limit'", "'--limits'"]),
    ("capacity http://127.0.0.1:1/ --percentile p99", USE, &["'p99'", "write 99"]),
    ("capacity http://127.0.0.1:1/ --at-least 500", USE, &["'500'", "500@25"]),
    ("capacity http://127.0.0.1:1/ --pid {dead}", USE, &["no process with PID {dead}", "assay memory"]),
    ("capacity http://127.0.0.1:1/ --pid NoSuchProgram", USE, &["no running JVM has `NoSuchProgram`"]),
    ("capacity http://127.0.0.1:1/ --gc-log missing.log", USE, &["missing.log", "No such file", "--gc-log"]),
];

const RUN: &[Mistake] = &[
    ("run", USE, &["<STUDY>", "assay run"]),
    ("run missing.toml", USE, &["missing.toml", "known: ", "compressed-references"]),
    ("run compresed-references", USE, &["compresed-references", "`compressed-references`"]),
    ("run folder", USE, &["folder is a folder", "assay run folder/"]),
    ("run empty", USE, &["empty is not a study", "empty file"]),
    ("run gc.log", USE, &["gc.log is not a study", "TOML"]),
    ("run script", USE, &["script is not a study", "it is a program"]),
    ("run notes.toml", USE, &["notes.toml:1: this is not TOML", "more mistakes"]),
    ("run shop.hprof", USE, &["shop.hprof is not a study", "assay heap predict shop.hprof"]),
    ("run syntax.toml", USE, &["syntax.toml:1", "quoted"]),
    ("run typo.toml", USE, &["typo.toml:3", "`wrkload`", "`workload`"]),
    ("run latin.toml --plan", USE, &["latin.toml:2", "UTF-8"]),
    (
        "run wrong.toml --plan",
        USE,
        &[
            "wrong.toml:3: variants `256m`, `1g` cannot run here: there is no JDK 99 here",
            "wrong.toml:7: there is no folder ./gone",
            "wrong.toml:4: ./status.toml:3",
            "status 99 is not from 200 to 599",
        ],
    ),
    ("run portless.toml --plan", USE, &["portless.toml:4: ready_url has {port}", "the command"]),
    ("run study.toml --fail-if cpu>3", USE, &["no metric `cpu`", "the nearest of", "cpu_ms_per_request"]),
    ("run study.toml --fail-if cpu_per_request>3", USE, &["did you mean `cpu_ms_per_request`?"]),
    (
        "run plain.toml --plan --fail-if cpu_ms_per_request>+3%",
        USE,
        &["`cpu_ms_per_request>+3%` is about a change", "no variant of x has a baseline"],
    ),
    ("run plain.toml --plan --fail-if cpu_ms_per_request>3", GOOD, &["fails if", "cpu_ms_per_request>3"]),
    ("run study.toml --resume", USE, &["--out", "assay run --out <OUT> --resume"]),
    ("compare runs/none runs/none", USE, &["there is no folder runs/none", "assay run STUDY"]),
    ("compare gc.log folder", USE, &["gc.log", "assay run STUDY"]),
    ("compare folder", USE, &["<AFTER>", "assay compare runs/monday runs/tuesday"]),
    ("studies compresed-references", USE, &["`compressed-references`"]),
    ("studies chat --json", USE, &["--json"]),
    ("compare folder folder", USE, &["folder is not a run directory", "assay run"]),
    ("completions tcsh", USE, &["'tcsh'", "bash, elvish, fish"]),
    ("run studies/compressed-references.toml --plan", USE, &["did you mean `compressed-references`?"]),
    ("report", USE, &["<RUN>", "assay report runs/tuesday"]),
    ("report empty", USE, &["empty is not a result with a report", "it is an empty file"]),
    ("report missing", USE, &["no folder missing", "assay run"]),
    ("report folder", USE, &["folder is not a run directory", "assay run"]),
    ("report study.toml", USE, &["study.toml is not a result with a report", "assay run study.toml"]),
    ("report gc.log", USE, &["gc.log is not a result with a report", "assay gc gc.log"]),
    ("report shop.hprof", USE, &["it is a heap dump", "assay heap predict shop.hprof"]),
    ("report folder --format pdf", USE, &["'pdf'", "html, md, csv, json, table"]),
];

const HOST: &[Mistake] = &[
    ("host missing.json", USE, &["missing.json", "No such file", "assay host --snapshot FILE"]),
    ("host look.json", USE, &["look.json is not a snapshot", "assay host --snapshot FILE"]),
    ("host --fail-on critical", USE, &["'critical'", "note, warning, error"]),
    ("host look.json look.json", USE, &["unexpected argument", "assay host diff look.json look.json"]),
    ("host diff look.json", USE, &["<AFTER>", "assay host diff <BEFORE> <AFTER>"]),
    ("flags {process}", USE, &["process {process} is not a JVM", "assay memory"]),
    ("flags UseZGC", USE, &["\"UseZGC\" is neither an option nor a process", "-XX:+UseZGC", "assay memory"]),
    ("flags -Xmx4g --for 7", USE, &["'7'", "a number from 8 on"]),
    ("flags -Xmx4g --for 21,abc", USE, &["'abc'", "a number from 8 on"]),
];

const WHY: &[Mistake] = &[
    ("why", USE, &["<PID|NAME|LOG|RECORD>", "assay why gc.log", "assay memory"]),
    (
        "why NoSuchProgram",
        USE,
        &["no running JVM has `NoSuchProgram`", "no file of that name", "assay memory"],
    ),
    ("why folder/none.log", USE, &["there is no file folder/none.log"]),
    ("why shop.hprof", USE, &["it is a heap dump", "assay heap predict shop.hprof"]),
    ("why study.toml", USE, &["it is a TOML file", "assay run study.toml"]),
    ("why empty", USE, &["empty is not a GC log", "it is empty"]),
];

const NO_COMMAND: &[Mistake] = &[
    ("4242", USE, &["'4242'", "assay memory 4242"]),
    ("gc.log", USE, &["gc.log", "assay gc gc.log"]),
    ("shop.hprof", USE, &["shop.hprof", "assay heap predict shop.hprof"]),
    ("study.toml", USE, &["study.toml", "assay run study.toml"]),
    ("memroy 4242", USE, &["'memroy'", "'memory'"]),
    ("capasity http://127.0.0.1:1/", USE, &["'capasity'", "'capacity'"]),
    ("help me", USE, &["'me'", "assay help"]),
    ("version", USE, &["'version'", "assay --version"]),
    ("list", USE, &["'list'", "assay memory", "assay studies"]),
    ("diff a.json b.json", USE, &["'diff'", "assay compare"]),
    ("study study.toml", USE, &["'study'", "'studies'"]),
    ("memories 4242", USE, &["'memories'", "'memory'"]),
    ("--json memory 4242", USE, &["'--json'", "memory --json"]),
    ("--verison", USE, &["'--verison'", "'--version'"]),
];

const BUILDS: &[Mistake] = &[
    ("fit", USE, &["--limit", "assay fit --command 'java -jar shop.jar {port}'", "--workload NAME"]),
    ("fit --command ./s{port} --rate 9 --limit p99=50", USE, &["`p99=50` is not a limit", "p99=50ms"]),
    ("fit --command ./s{port} --rate 9 --limit p98=50ms", USE, &["`p98=50ms`", "p50, p95, p99"]),
    ("fit --command ./s{port} --rate fast --limit p99=50ms", USE, &["'fast'", "1500 or 0.5"]),
    ("fit --workload shop --rate 9 --limit p99=50ms", USE, &["unknown workload `shop`", "supermarket"]),
    ("fit missing.toml --limit p99=50ms", USE, &["missing.toml", "No such file"]),
    ("ab", USE, &["--before", "--after", "assay ab --before 'java -jar old.jar {port}'"]),
    ("ab --before ./a --after ./b", USE, &["--before has no {port}", "--server.port={port}"]),
    ("ab --before ./a{port} --after ./b{port} --budget 10", USE, &["`10` has no unit", "\"10s\""]),
    ("ab --before ./a{port} --after ./b{port} --budget 0s", USE, &["`0s` is too short"]),
    ("ab --before ./script{port} --after ./b{port} --scenario no.toml", USE, &["no.toml", "No such file"]),
    ("judge", USE, &["<FLAGS>", "assay judge '-XX:+UseZGC' --command", "in place of --command: a study"]),
    ("judge UseG1GC --command ./s{port}", USE, &["\"UseG1GC\" is not a JVM flag", "-XX:+UseZGC"]),
    ("judge -XX:+UseG1GC missing.toml", USE, &["missing.toml", "No such file"]),
    ("bisect", USE, &["<GOOD>", "<BAD>", "assay bisect v2.3 main shop.toml"]),
    ("bisect one two missing.toml", USE, &["missing.toml", "No such file"]),
    ("merge", USE, &["--out", "assay merge part1 part2 --out runs/shop"]),
    ("merge gone folder --out joined", USE, &["gone", "assay run"]),
    ("run study.toml --blocks 0", USE, &["`0` is not a number of a block", "1-4"]),
    ("run study.toml --blocks 9-7", USE, &["`9-7` ends before it begins", "7-9"]),
    ("run study.toml --on ssh", USE, &["\"ssh\" is not a place", "ssh:HOST,HOST"]),
    ("run study.toml --on ssh:", USE, &["not the name of a host", "ssh:HOST,HOST"]),
    ("run study.toml --on mesos:a", USE, &["\"mesos:a\" is not a place", "slurm"]),
    ("run study.toml --budget 5", USE, &["`5` has no unit", "\"5s\""]),
];

/// Files to make mistakes with.
fn lay_out(folder: &Path) {
    let write = |name: &str, content: &[u8]| {
        fs::write(folder.join(name), content).expect("written");
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o644)).expect("allowed");
    };
    fs::create_dir(folder.join("folder")).expect("a folder");
    write("empty", b"");
    write(
        "gc.log",
        b"[0.100s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 9M->3M(64M) 1.000ms\n",
    );
    write("notes.txt", b"what to do\n");
    write("shop.hprof", b"JAVA PROFILE 1.0.2\0\0\0\0\x08");
    write("one.jfr", b"FLR\0\0\x02\0\0");
    write("script", b"#!/bin/sh\nexit 1\n");
    write("notes.toml", "what to do\n".repeat(50).as_bytes());
    write("program", b"\x7fELF\x02\x01\x01\0");
    write("look.json", b"{\n  \"schema\": \"assay.memory/1\"\n}\n");
    write("public", b"a token that everybody may read\n");
    write("study.toml", b"schema = \"assay.study/1\"\nname = \"x\"\nworkload = \"supermarket\"\n");
    write("typo.toml", b"schema = \"assay.study/1\"\nname = \"x\"\nwrkload = \"supermarket\"\n");
    write("syntax.toml", b"name = \n");
    write("latin.toml", b"schema = \"assay.study/1\"\nname = \"caf\xe9\"\n");
    write(
        "status.toml",
        b"schema = \"assay.scenario/1\"\nname = \"s\"\n[[operation]]\nname = \"a\"\npath = \"/\"\nstatus = 99\n",
    );
    let study = |name: &str, more: &str| {
        write(name, format!("schema = \"assay.study/1\"\nname = \"x\"\n{more}").as_bytes());
    };
    study(
        "wrong.toml",
        "jvm = \"99\"\nscenario = \"status.toml\"\n[server]\ncommand = \"java {jvm_options} Server {port}\"\n\
         directory = \"gone\"\nready_url = \"http://127.0.0.1:{port}/\"\n[[factor]]\nname = \"heap\"\n\
         level = [{ name = \"256m\", heap = \"256m\" }, { name = \"1g\", heap = \"1g\" }]\n",
    );
    study("plain.toml", "[server]\ncommand = \"sleep {port}\"\nready_url = \"http://127.0.0.1:{port}/\"\n");
    study("portless.toml", "[server]\ncommand = \"./my-server\"\nready_url = \"http://127.0.0.1:{port}/\"\n");
}

/// A process that ends with the test.
struct Sleeper(Child);

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn check(mistakes: &[Mistake]) {
    let folder = tempfile::tempdir().expect("a folder");
    lay_out(folder.path());
    let process = Sleeper(Command::new("sleep").arg("600").spawn().expect("a process"));
    let mut ended = Command::new("true").spawn().expect("a process");
    ended.wait().expect("it ends");
    let put_in = |text: &str| {
        text.replace("{process}", &process.0.id().to_string()).replace("{dead}", &ended.id().to_string())
    };
    let mut wrong = Vec::new();
    for (typed, code, words) in mistakes {
        let typed = put_in(typed);
        let mut command = Command::new(ASSAY);
        command.args(typed.split(' ')).current_dir(folder.path()).stdin(Stdio::null()).env("COLUMNS", "200");
        let output = command.output().expect("assay starts");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let missing: Vec<String> =
            words.iter().map(|word| put_in(word)).filter(|word| !said.contains(word.as_str())).collect();
        if output.status.code() != Some(*code) || !missing.is_empty() || said.contains("panicked") {
            wrong.push(format!(
                "assay {typed}: {} instead of {code}, without {missing:?}:\n{said}",
                output.status
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), mistakes.len(), wrong.join("\n"));
}

#[test]
fn mistakes_with_memory_are_answered() {
    check(MEMORY);
}

#[test]
fn mistakes_with_time_are_answered() {
    check(TIME);
}

#[test]
fn mistakes_with_gc_logs_are_answered() {
    check(GC);
}

#[test]
fn mistakes_with_heaps_are_answered() {
    check(HEAP);
}

#[test]
fn mistakes_with_loads_are_answered() {
    check(LOAD);
}

#[test]
fn mistakes_with_capacity_are_answered() {
    check(CAPACITY);
}

#[test]
fn mistakes_with_studies_and_reports_are_answered() {
    check(RUN);
}

#[test]
fn mistakes_with_builds_and_hosts_are_answered() {
    check(BUILDS);
}

#[test]
fn mistakes_with_the_machine_and_flags_are_answered() {
    check(HOST);
}

#[test]
fn mistakes_with_why_are_answered() {
    check(WHY);
}

#[test]
fn what_is_not_a_command_is_answered() {
    check(NO_COMMAND);
}
