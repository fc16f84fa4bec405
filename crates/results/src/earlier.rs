//! An earlier run of the same study, whose scatter says what another run can show.

use crate::run_dir::read_json;
use assay_model::{Plan, file, schema};
use std::path::{Path, PathBuf};

/// Folders that are looked into.
const FOLDERS_MAX: usize = 2_000;

/// The newest run directory in a folder whose trials are like those of a plan: of the same study and form, laid out and loaded alike.
pub fn earlier_run(folder: &Path, plan: &Plan) -> Option<PathBuf> {
    let folders = std::fs::read_dir(folder).ok()?.flatten().take(FOLDERS_MAX).map(|entry| entry.path());
    let made = |path: &PathBuf| path.join(file::PLAN).metadata().and_then(|of| of.modified()).ok();
    let mut with_plans: Vec<PathBuf> = folders.filter(|path| made(path).is_some()).collect();
    with_plans.sort_by_key(|path| std::cmp::Reverse(made(path)));
    with_plans.into_iter().find(|path| {
        read_json::<Plan>(&path.join(file::PLAN), schema::PLAN).is_ok_and(|earlier| is_alike(&earlier, plan))
    })
}

fn is_alike(earlier: &Plan, plan: &Plan) -> bool {
    let key = |plan: &Plan| {
        (
            plan.study.clone(),
            plan.quick,
            plan.design,
            plan.load.clone(),
            plan.procedure.clone(),
            plan.window_s.to_bits(),
        )
    };
    key(earlier) == key(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_testkit::planned::{plan, variant};

    #[test]
    fn the_newest_run_of_the_same_study_and_form_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let wanted = plan(vec![variant("a", None)]);
        let store = |name: &str, plan: &Plan, age_s: u64| {
            let path = folder.path().join(name).join(file::PLAN);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(&path, serde_json::to_string(plan).expect("JSON")).expect("written");
            let time =
                std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000 - age_s);
            std::fs::File::options()
                .write(true)
                .open(&path)
                .expect("open")
                .set_modified(time)
                .expect("a time");
        };
        store("old", &wanted, 900);
        store("newer", &Plan { blocks: 9, ..wanted.clone() }, 600);
        store("quick", &Plan { quick: true, ..wanted.clone() }, 300);
        store("other", &Plan { study: "t".into(), ..wanted.clone() }, 200);
        std::fs::create_dir(folder.path().join("empty")).expect("a folder");
        assert_eq!(earlier_run(folder.path(), &wanted), Some(folder.path().join("newer")));
        assert_eq!(earlier_run(folder.path(), &Plan { window_s: 5.0, ..wanted.clone() }), None);
        assert_eq!(earlier_run(&folder.path().join("absent"), &wanted), None);
    }
}
