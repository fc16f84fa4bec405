//! What is found of the files that a command needs, and how much of it: hostile links, huge folders, manifests.

use super::*;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use tempfile::TempDir;

/// A folder with a server in it. The runtime is the variant's own.
struct Server {
    folder: TempDir,
    env: BTreeMap<String, String>,
}

const RUNTIME: &str = "/jvm";

impl Server {
    fn with(files: &[&str]) -> Server {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        Server { folder, env: BTreeMap::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn jar(&self, name: &str, class_path: &str) {
        let mut zip = zip::ZipWriter::new(std::fs::File::create(self.path(name)).unwrap());
        zip.start_file("META-INF/MANIFEST.MF", zip::write::SimpleFileOptions::default()).unwrap();
        write!(zip, "Manifest-Version: 1.0\r\nClass-Path: {class_path}\r\n\r\n").unwrap();
        zip.finish().unwrap();
    }

    fn needed(&self, command: &str) -> Result<NeededFiles, String> {
        let argv: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let (cwd, runtime) = (self.folder.path(), Some(Path::new(RUNTIME)));
        needed_files(GuestCommand { argv: &argv, env: &self.env, cwd, runtime })
    }

    /// What is copied, by its path below the server's folder.
    fn files(&self, command: &str) -> Vec<String> {
        let found = self.needed(command).unwrap().files;
        let below = |path: &PathBuf| match path.strip_prefix(self.folder.path()) {
            Ok(below) => below.display().to_string(),
            Err(_) => path.display().to_string(),
        };
        found.keys().map(below).collect()
    }
}

#[test]
fn a_jar_is_found_beside_the_study_with_what_its_manifest_names() {
    let server = Server::with(&["lib/a.jar", "lib/deep/b.jar", "other.jar"]);
    server.jar("app.jar", "lib/c.jar lib/nowhere.jar https://example.org/d.jar");
    // Jars that name each other end.
    server.jar("lib/c.jar", "deep/b.jar ../app.jar");
    assert_eq!(server.files("/jvm/bin/java -jar app.jar"), ["app.jar", "lib/c.jar", "lib/deep/b.jar"]);
    let why = server.needed("/jvm/bin/java -jar missing.jar").unwrap_err();
    assert!(why.starts_with("there is no file missing.jar"), "{why}");
}

#[test]
fn class_paths_have_folders_jars_and_stars() {
    let server =
        Server::with(&["classes/Main.class", "lib/a.jar", "lib/b.JAR", "lib/notes.txt", "Main.class"]);
    assert_eq!(
        server.files("/jvm/bin/java -cp classes:lib/*:nowhere shop.Main"),
        ["classes", "lib/a.jar", "lib/b.JAR"]
    );
    // Without a class path classes are searched in the folder in which the server starts.
    assert_eq!(server.files("/jvm/bin/java Main"), [""]);
    let server = Server { env: BTreeMap::from([("CLASSPATH".to_owned(), "lib/a.jar".to_owned())]), ..server };
    assert_eq!(server.files("/jvm/bin/java Main"), ["lib/a.jar"]);
    let server = Server { env: BTreeMap::new(), ..server };
    assert_eq!(server.files("/jvm/bin/java -p lib -m a/Main"), ["lib"]);
}

#[test]
fn files_of_arguments_agents_and_configuration_are_found_and_bare_words_are_no_folders() {
    let server = Server::with(&[
        "opts",
        "app.jar",
        "agent.jar",
        "conf/app.yaml",
        "keys/server.p12",
        "run/x",
        "data/rows.csv",
    ]);
    std::fs::write(server.path("opts"), "-javaagent:agent.jar=conf/app.yaml -Xmx2g -Dkeys=keys/server.p12\n")
        .unwrap();
    let command = "/jvm/bin/java @opts -jar app.jar run --data=data/ --config conf/app.yaml";
    assert_eq!(
        server.files(command),
        ["agent.jar", "app.jar", "conf/app.yaml", "data", "keys/server.p12", "opts"]
    );
    assert_eq!(server.needed(command).unwrap().heap_max_bytes, Some(2 << 30));
    assert!(server.needed("/jvm/bin/java -javaagent:no.jar -jar app.jar").is_err());
    assert!(server.needed("/jvm/bin/java @no -jar app.jar").is_err());
}

#[test]
fn a_key_in_a_folder_of_the_class_path_is_taken_only_if_it_is_named() {
    let server = Server::with(&["conf/app.yaml", "conf/server.p12", "conf/.env", "Main.class"]);
    let image = |command: &str| {
        let mut image = crate::GuestImage::new();
        for (guest, host) in server.needed(command).unwrap().files {
            image.add(&host, &guest).unwrap();
        }
        let mut bytes = Vec::new();
        image.write(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let without = image("/jvm/bin/java -cp conf Main");
    assert!(
        without.contains("conf/app.yaml") && !without.contains("server.p12") && !without.contains(".env")
    );
    let with = image("/jvm/bin/java -cp conf -Djavax.net.ssl.keyStore=conf/server.p12 Main");
    assert!(with.contains("conf/server.p12") && !with.contains(".env"));
}

#[test]
fn dots_and_links_lead_in_the_guest_where_the_words_say() {
    let server = Server::with(&["real/app.jar", "start/x"]);
    symlink(server.path("real"), server.path("link")).unwrap();
    assert_eq!(server.files("/jvm/bin/java -jar start/../link/./app.jar"), ["link/app.jar"]);
    // Out of the root there is nothing to take.
    assert!(server.needed("/jvm/bin/java -jar ../../../../../../../../../etc").is_err());
    symlink("self", server.path("self")).unwrap();
    assert!(server.needed("/jvm/bin/java -jar self").is_err());
}

#[test]
fn system_folders_and_folders_with_too_much_are_not_taken_as_arguments() {
    let server = Server::with(&["app.jar"]);
    std::fs::create_dir(server.path("home")).unwrap();
    std::fs::File::create(server.path("home/disk.img")).unwrap().set_len(1 << 40).unwrap();
    let command = "/jvm/bin/java -Dhome=./home -Dx=/usr:/proc/self:/ -jar app.jar ../../../.. /dev/null";
    let found = server.needed(command).unwrap();
    assert_eq!(found.files.keys().collect::<Vec<_>>(), [&server.path("app.jar")]);
    let [why] = found.left_out.as_slice() else { panic!("{:?}", found.left_out) };
    assert!(why.contains("home holds more than 20000 files or 256 MiB"), "{why}");
}

#[test]
fn a_runtime_that_the_command_names_is_found_behind_links_and_a_script_is_refused() {
    let server = Server::with(&["jdk/bin/java", "jdk/lib/modules", "app.jar", "native"]);
    symlink(server.path("jdk/bin/java"), server.path("java-now")).unwrap();
    let found = server.needed("./java-now -jar app.jar").unwrap();
    let home = server.path("jdk").canonicalize().unwrap();
    assert_eq!((found.program, found.runtime.as_ref()), (Some(home.join("bin/java")), Some(&home)));
    assert_eq!(found.files.into_keys().collect::<Vec<_>>(), [server.path("app.jar")]);
    // What is no Java is a file as all others.
    assert!(server.files("./native --x")[0].ends_with("native"));
    std::fs::write(server.path("run.sh"), "#!/bin/sh\njava -jar app.jar\n").unwrap();
    std::fs::set_permissions(server.path("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let why = server.needed("./run.sh").unwrap_err();
    assert!(why.contains("is a script"), "{why}");
    assert!(server.needed("no-such-program-anywhere").is_err());
    assert!(server.needed("").is_err());
}
