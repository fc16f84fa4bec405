//! What no variant of a study can have on this machine.

use assay_study::{Study, StudyError};

/// Two variants want a JDK that is not here, the folder and the scenario are wrong, too: all of it is said at once, and what both lack
/// once, at the key that asks for it.
#[test]
fn what_no_variant_can_have_here_is_said_once_beside_all_other_mistakes() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = "schema = \"assay.scenario/1\"\nname = \"s\"\n[[operation]]\nname = \"a\"\npath = \"/\"\nstatus = 99\n";
    std::fs::write(folder.path().join("s.toml"), scenario).unwrap();
    let path = folder.path().join("x.toml");
    let heaps = "[[factor]]\nname = \"heap\"\nlevel = [{ name = \"256m\", heap = \"256m\" }, { name = \"1g\", heap = \"1g\" }]\n";
    let jdks = "[[factor]]\nname = \"jdk\"\nlevel = [{ name = \"a\", jvm = \"99\" }, { name = \"b\", jvm = \"98\" }]\n";
    let told = |jvm: &str, factor: &str| {
        let text = format!(
            "schema = \"assay.study/1\"\nname = \"x\"\n{jvm}scenario = \"s.toml\"\n[server]\n\
             command = \"java {{jvm_options}} {{port}}\"\ndirectory = \"gone\"\n\
             ready_url = \"http://127.0.0.1:{{port}}/\"\n{factor}"
        );
        std::fs::write(&path, text).unwrap();
        let checked = Study::read(&path).map_err(StudyError::Diagnostics);
        let error = checked.and_then(|checked| checked.prepare(false)).expect_err("mistakes");
        error.to_string().replace(&format!("{}/", folder.path().display()), "")
    };
    let all = told("jvm = \"99\"\n", heaps);
    assert!(
        all.contains("x.toml:3: variants `256m`, `1g` cannot run here: there is no JDK 99 here"),
        "{all}"
    );
    assert_eq!(all.matches("cannot run here").count(), 1, "{all}");
    assert!(all.contains("there is no folder gone"), "{all}");
    assert!(all.contains("status 99 is not from 200 to 599"), "{all}");
    let all = told("", jdks);
    assert!(all.contains("x.toml:10: variant `a` cannot run here: there is no JDK 99 here"), "{all}");
    assert!(all.contains("x.toml:10: variant `b` cannot run here: there is no JDK 98 here"), "{all}");
}
