//! Output files: nothing is lost, whatever exists at the path.

use super::{Finished, Fixture, finish, seawall};
use std::path::Path;
use std::time::Duration;

/// Names in the fixture's folder.
fn names(fixture: &Fixture) -> Vec<String> {
    let entries = std::fs::read_dir(fixture.folder.path()).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_unstable();
    names
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A search of a small grid in the fixture's folder.
fn search(fixture: &Fixture, graph: &str, options: &[&str]) -> Finished {
    let run = ["run", graph, "--analysis", "bfs", "--source", "0"];
    let mut command = seawall(&run);
    let command = command.args(["--backend", "cpu"]).args(options);
    finish(command.current_dir(fixture.folder.path()))
}

#[cfg(unix)]
const ROWS: &str = "node,value\n0,0\n1,1\n2,1\n3,2\n";

#[test]
fn two_outputs_are_never_one_file() {
    for exists in [false, true] {
        let folder = Fixture::new("x", b"");
        let path = folder.beside("same.json");
        if exists {
            std::fs::write(&path, "old").unwrap();
        }
        for other in ["same.json", "./same.json", path.as_str()] {
            let both = ["--out", "same.json", "--trace", other];
            search(&folder, "gen:grid:2", &both).refused(&["--out", "--trace", "same.json"]);
        }
        assert_eq!(std::fs::read(&path).ok(), exists.then(|| b"old".to_vec()));
    }
}

#[test]
fn no_output_is_an_input() {
    let graph = Fixture::new("graph.csv", b"0 1\n1 2\n");
    let text = b"0 1\n";
    for name in ["list.csv", "sources.csv", "more.el"] {
        std::fs::write(graph.beside(name), text).unwrap();
    }
    std::fs::write(graph.beside("list.csv"), "more.el\nsources.csv\n").unwrap();
    std::fs::write(graph.beside("sources.csv"), "1\n").unwrap();
    for (given, options) in [
        (
            "gen:grid:2",
            &["--out", "sources.csv", "--sources-file", "sources.csv"][..],
        ),
        ("@list.csv", &["--out", "./list.csv"]),
        ("@list.csv", &["--out", "sources.csv"]),
        ("more.el", &["--trace", "more.el"]),
    ] {
        search(&graph, given, options).refused(&["is read from"]);
    }
    for to in ["more.el", "./more.el"] {
        let mut convert = seawall(&["convert", "more.el", to]);
        finish(convert.current_dir(graph.folder.path())).refused(&["more.el", "is read from"]);
    }
    assert_eq!(read(&graph.beside("more.el")).as_bytes(), text);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command, Stdio};

    /// A command of the shell in the fixture's folder, with the program as `$S`.
    fn shell(fixture: &Fixture, script: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .env("S", env!("CARGO_BIN_EXE_seawall-under-test"))
            .current_dir(fixture.folder.path());
        command
    }

    fn run_shell(fixture: &Fixture, script: &str) -> Finished {
        let output = shell(fixture, script).output().unwrap();
        Finished {
            code: output.status.code().expect("no signal"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    const SEARCH: &str = "$S run gen:grid:2 --analysis bfs --source 0 --backend cpu";

    fn make_pipe(fixture: &Fixture, name: &str) -> String {
        let path = fixture.beside(name);
        assert!(
            Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        path
    }

    #[test]
    fn links_do_not_hide_that_two_files_are_one() {
        let folder = Fixture::new("graph.el", b"0 1\n");
        symlink("graph.el", folder.beside("link.el")).unwrap();
        std::fs::hard_link(folder.path(), folder.beside("hard.el")).unwrap();
        for (from, to) in [
            ("graph.el", "link.el"),
            ("link.el", "graph.el"),
            ("hard.el", "graph.el"),
        ] {
            let script = format!("$S convert {from} {to}");
            run_shell(&folder, &script).refused(&["is read from"]);
        }
        std::fs::hard_link(folder.path(), folder.beside("hard.csv")).unwrap();
        let batch = "$S run . --analysis cc --out hard.csv";
        run_shell(&folder, batch).refused(&["is read from"]);
        run_shell(&folder, "$S convert - graph.el < graph.el").refused(&["is read from"]);
        symlink("new.json", folder.beside("link.json")).unwrap();
        let script = format!("{SEARCH} --out new.json --trace link.json");
        run_shell(&folder, &script).refused(&["one file"]);
        let script = format!("{SEARCH} --out report.csv > report.csv");
        run_shell(&folder, &script).refused(&["standard output", "one file"]);
        assert_eq!(read(folder.path()), "0 1\n");
    }

    #[test]
    fn a_named_pipe_gets_the_rows() {
        let folder = Fixture::new("x", b"");
        for name in ["rows.csv", "rows"] {
            let path = make_pipe(&folder, name);
            let reader = std::thread::spawn(move || read(&path));
            let mut run = seawall(&["run", "gen:grid:2", "--analysis", "bfs", "--source", "0"]);
            let run = run.args(["--backend", "cpu", "--out", name, "--quiet"]);
            let run = run.current_dir(folder.folder.path());
            let run = finish(run.timeout(Duration::from_secs(60)));
            assert_eq!((run.code, run.stderr.as_str()), (0, ""));
            assert_eq!(reader.join().unwrap(), ROWS);
        }
        assert_eq!(names(&folder), ["rows", "rows.csv", "x"]);
    }

    #[test]
    fn a_pipe_whose_reader_leaves_ends_the_command_quietly() {
        let folder = Fixture::new("x", b"");
        make_pipe(&folder, "out.el");
        let script = "head -c 10 out.el > /dev/null & exec $S convert gen:grid:200 out.el";
        let run = run_shell(&folder, script);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    }

    #[test]
    fn descriptors_get_the_rows_and_no_report() {
        let folder = Fixture::new("x", b"");
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            if !Path::new(name).exists() {
                continue;
            }
            let run = run_shell(&folder, &format!("{SEARCH} --out {name}"));
            assert_eq!((run.code, run.stdout.as_str()), (0, ROWS), "{}", run.stderr);
            let script = format!("{SEARCH} --out {name} > kept && cat kept");
            assert_eq!(run_shell(&folder, &script).stdout, ROWS);
            let script = format!("{SEARCH} --out {name} --json");
            run_shell(&folder, &script).refused(&["the report on standard output"]);
        }
        let script = format!("{SEARCH} --quiet --out /dev/fd/3 3> kept && cat kept");
        assert_eq!(run_shell(&folder, &script).stdout, ROWS);
        for name in ["/dev/stdout", "-"] {
            let script = format!("$S convert gen:chain:3 {name} --to el --no-weights | tail -n 2");
            assert_eq!(run_shell(&folder, &script).stdout, "0\t1\n1\t2\n");
        }
        let script = format!("{SEARCH} --out /dev/null --trace /dev/null --plot /dev/null");
        assert_eq!(run_shell(&folder, &script).code, 0);
    }

    #[test]
    fn permissions_and_links_are_kept_and_new_files_follow_the_mask() {
        let folder = Fixture::new("old.el", b"old");
        let mode = |name: &str| {
            let about = std::fs::metadata(folder.beside(name)).unwrap();
            about.permissions().mode() & 0o777
        };
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o604)).unwrap();
        symlink("old.el", folder.beside("link.el")).unwrap();
        let script = "umask 027; $S convert gen:chain:3 link.el && $S convert link.el new.el";
        let run = run_shell(&folder, script);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_eq!((mode("old.el"), mode("new.el")), (0o604, 0o640));
        assert_eq!(names(&folder), ["link.el", "new.el", "old.el"]);
        assert!(
            std::fs::symlink_metadata(folder.beside("link.el"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(read(folder.path()), read(&folder.beside("new.el")));
    }

    #[test]
    fn a_write_that_fails_keeps_the_old_file_and_leaves_no_draft() {
        let folder = Fixture::new("out.el", b"old");
        let run = run_shell(&folder, "ulimit -f 8; $S convert gen:grid:200 out.el");
        assert_eq!(run.code, 1);
        run.complains(&["out.el", "File too large"]);
        assert_eq!(read(folder.path()), "old");
        assert_eq!(names(&folder), ["out.el"]);
        for threads in [1, 4] {
            let script = format!(
                "ulimit -f 40000; export RAYON_NUM_THREADS={threads}; $S convert gen:grid:1500 out.swg"
            );
            let run = run_shell(&folder, &script);
            assert_eq!(run.code, 1);
            run.complains(&["out.swg", "File too large"]);
            assert_eq!(names(&folder), ["out.el"]);
        }
        for (script, part) in [
            ("$S convert gen:grid:9 /dev/full --to el", "No space left"),
            ("$S convert gen:grid:9 /dev/full --to swg", "No space left"),
            ("$S convert gen:grid:9 /sys/out.el", "/sys/out.el"),
        ] {
            let run = run_shell(&folder, script);
            assert_eq!(run.code, 1, "{}", run.stderr);
            run.complains(&[part]);
        }
    }

    /// A long conversion, stopped in the middle of its output.
    fn half_written(folder: &Fixture, signal: &str) -> std::process::ExitStatus {
        let script = "exec $S convert gen:uniform:17:8 out.el.xz";
        let mut child = shell(folder, script).stdout(Stdio::null()).spawn().unwrap();
        while !names(folder).iter().any(|name| name.ends_with(".part")) {
            assert!(child.try_wait().unwrap().is_none(), "it ended too early");
            std::thread::sleep(Duration::from_millis(5));
        }
        send(&child, signal);
        child.wait().unwrap()
    }

    fn send(child: &Child, signal: &str) {
        let (option, id) = (format!("-{signal}"), child.id().to_string());
        let sent = Command::new("kill").args([option, id]).status().unwrap();
        assert!(sent.success());
    }

    /// Whether a signal is ignored by this process and its children, as shells do for background
    /// processes.
    fn is_ignored(number: i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (number - 1) & 1 == 1)
    }

    #[test]
    fn a_signal_removes_the_draft_and_is_passed_on() {
        for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
            if is_ignored(number) {
                println!("skipped {signal}: this process was started with it ignored");
                continue;
            }
            let folder = Fixture::new("out.el.xz", b"old");
            assert_eq!(half_written(&folder, signal).signal(), Some(number));
            assert_eq!(read(folder.path()), "old");
            assert_eq!(names(&folder), ["out.el.xz"], "after {signal}");
        }
    }

    #[test]
    fn a_stale_draft_blocks_no_other_process() {
        let folder = Fixture::new("out.el.xz", b"old");
        assert_eq!(half_written(&folder, "KILL").signal(), Some(9));
        assert_eq!(names(&folder).len(), 2);
        let run = run_shell(&folder, "$S convert gen:grid:9 out.el.xz");
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert_ne!(std::fs::read(folder.path()).unwrap(), b"old");
    }

    #[test]
    fn a_signal_that_the_caller_ignores_stays_ignored() {
        let folder = Fixture::new("out.el.xz", b"old");
        let script = "trap '' HUP; exec $S convert gen:uniform:12:8 out.el.xz";
        let mut child = shell(&folder, script)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(20));
        send(&child, "HUP");
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}
