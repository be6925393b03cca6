//! Names of files that are not UTF-8, from the library and from the command line.
use super::PLAIN;
use assert_cmd::Command;
use seawall::{batch, graph};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const NAME: &[u8] = b"road \xff\xfe.el";

/// A folder whose name is not UTF-8 either, with one graph in it.
fn folder_with_graph(parent: &Path) -> (PathBuf, PathBuf) {
    let folder = parent.join(OsStr::from_bytes(b"caf\xe9"));
    std::fs::create_dir(&folder).unwrap();
    let path = folder.join(OsStr::from_bytes(NAME));
    std::fs::write(&path, "0 1\n1 2\n").unwrap();
    (folder, path)
}

fn argument(mark: &[u8], path: &Path) -> OsString {
    OsString::from_vec([mark, path.as_os_str().as_bytes()].concat())
}

#[test]
fn any_bytes_name_a_file_a_folder_and_a_list() {
    let place = tempfile::tempdir().unwrap();
    let (folder, path) = folder_with_graph(place.path());
    assert_eq!(graph::load(&path, &PLAIN, None).unwrap().graph.edges(), 2);
    let list = folder.join(OsStr::from_bytes(b"\xe9.list"));
    std::fs::write(&list, [b"# names\n", NAME, b"\n"].concat()).unwrap();
    for argument in [argument(b"@", &list), argument(b"", &folder)] {
        assert!(batch::is_batch(std::slice::from_ref(&argument)));
        let specs = batch::expand(&[argument]).unwrap();
        let [spec] = &specs[..] else {
            panic!("{specs:?}")
        };
        assert_eq!(Path::new(&spec.name), path);
        let loaded = batch::load(specs, &PLAIN).unwrap();
        assert_eq!(loaded[0].graph.edges(), 2);
        assert!(loaded[0].name.contains("road \u{fffd}"));
    }
}

#[test]
fn messages_show_the_printable_part_of_a_name() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join(OsStr::from_bytes(NAME));
    std::fs::write(&path, "0 1\n0 x\n").unwrap();
    let message = graph::load(&path, &PLAIN, None).unwrap_err().to_string();
    let end = "road \u{fffd}\u{fffd}.el:2: expected a node id, found \"x\"";
    assert!(message.contains(end), "{message}");
}

#[test]
fn the_command_line_takes_them_too() {
    let place = tempfile::tempdir().unwrap();
    let (folder, path) = folder_with_graph(place.path());
    let seawall = || Command::new(env!("CARGO_BIN_EXE_seawall-under-test"));
    let out = folder.join(OsStr::from_bytes(b"\xe9.swg"));
    seawall()
        .arg("convert")
        .args([&path, &out])
        .assert()
        .success();
    for graph in [path, out.clone(), folder] {
        let mut run = seawall();
        run.arg("run")
            .arg(graph)
            .args(["--analysis", "cc", "--json"]);
        run.assert().success();
    }
}
