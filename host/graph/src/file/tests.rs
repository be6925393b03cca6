use super::*;
use proptest::prelude::*;
use std::fs;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

#[test]
fn a_finished_file_replaces_the_old_one_and_leaves_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    fs::write(&path, "old").unwrap();
    write_whole(&path, |out| out.write_all(b"new")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(folder.path()), ["out.csv"]);
}

#[test]
fn a_failure_keeps_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    fs::write(&path, "old").unwrap();
    let error = write_whole(&path, |out| {
        out.write_all(b"half")?;
        Err(io::Error::other("the source dried up"))
    });
    let text = error.unwrap_err().to_string();
    assert!(
        text.ends_with("out.csv: cannot write: the source dried up"),
        "{text}"
    );
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(folder.path()), ["out.csv"]);
}

#[test]
fn a_probe_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    probe(&folder.path().join("a.json")).unwrap();
    assert!(names(folder.path()).is_empty());
    assert!(probe(&folder.path().join("no/such/a.json")).is_err());
    assert!(probe(folder.path()).is_err());
    assert!(probe(Path::new("")).is_err());
}

#[test]
fn two_outputs_of_one_name_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    let mut first = Output::create(&path).unwrap();
    let mut second = Output::create(&path).unwrap();
    first.write_all(b"first").unwrap();
    second.write_all(b"second").unwrap();
    second.finish().unwrap();
    first.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first");
    assert_eq!(names(folder.path()), ["x.csv"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn permissions_stay_and_new_files_get_those_of_any_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        let usual = folder.path().join("usual");
        fs::write(&usual, "").unwrap();
        for wanted in [0o600, 0o640, 0o666, 0o755] {
            fs::write(&old, "old").unwrap();
            fs::set_permissions(&old, fs::Permissions::from_mode(wanted)).unwrap();
            write_whole(&old, |out| out.write_all(b"new")).unwrap();
            assert_eq!(mode(&old), wanted);
        }
        write_whole(&new, |out| out.write_all(b"new")).unwrap();
        assert_eq!(mode(&new), mode(&usual));
    }

    #[test]
    fn links_are_written_through_and_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("deep")).unwrap();
        symlink("deep/file", at("one")).unwrap();
        symlink(at("one"), at("two")).unwrap();
        for text in ["made through a link to nothing", "replaced"] {
            write_whole(&at("two"), |out| out.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(at("deep/file")).unwrap(), text);
            assert!(fs::symlink_metadata(at("one")).unwrap().is_symlink());
            assert!(fs::symlink_metadata(at("two")).unwrap().is_symlink());
        }
        symlink("round", at("round")).unwrap();
        assert!(probe(&at("round")).is_err());
        assert_eq!(names(folder.path()), ["deep", "one", "round", "two"]);
    }

    #[test]
    fn other_hard_links_keep_the_old_content() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        fs::write(&one, "old").unwrap();
        fs::hard_link(&one, &two).unwrap();
        write_whole(&one, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&one).unwrap(), b"new");
        assert_eq!(fs::read(&two).unwrap(), b"old");
    }

    #[test]
    fn devices_take_what_is_written() {
        assert!(is_written_through(Path::new("/dev/null")));
        assert!(is_written_through(Path::new("/dev/stdout")));
        assert!(is_written_through(Path::new("/dev/fd/2")));
        write_whole(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert_eq!(FileId::of(Path::new("/dev/null")).unwrap(), None);
        if Path::new("/dev/full").exists() {
            let full = write_whole(Path::new("/dev/full"), |out| out.write_all(b"x"));
            assert_eq!(full.unwrap_err().source.kind(), io::ErrorKind::StorageFull);
        }
    }

    /// Ways to name the file `name` of a folder that has `link` (to `name`), `hard` and
    /// `folder` (a link to the folder itself).
    fn spelled(folder: &Path, way: u8) -> PathBuf {
        let rest = match way {
            0 => "file",
            1 => "./file",
            2 => "link",
            3 => "folder/file",
            4 => "folder/inner/.././link",
            _ => "inner/../file",
        };
        folder.join(rest)
    }

    proptest! {
        #[test]
        fn one_file_has_one_id_however_it_is_spelled(ways: [u8; 2], exists: bool) {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            symlink("file", at("link")).unwrap();
            symlink(".", at("folder")).unwrap();
            fs::create_dir(at("inner")).unwrap();
            if exists {
                fs::write(at("file"), "x").unwrap();
                fs::hard_link(at("file"), at("hard")).unwrap();
            }
            let id = |path: PathBuf| FileId::of(&path).unwrap().unwrap();
            let ids = ways.map(|way| id(spelled(folder.path(), way % 6)));
            prop_assert_eq!(&ids[0], &ids[1]);
            prop_assert_eq!(ids[0].exists(), exists);
            prop_assert_eq!(exists, id(at("hard")) == ids[0]);
            prop_assert_ne!(&ids[0], &id(at("other")));
        }
    }
}
