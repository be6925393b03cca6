//! `--jit` and `--emit` of the command line.

use assert_cmd::Command;
use serde_json::Value;

fn seawall(arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_seawall-under-test"));
    let output = command.args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text)
}

/// A program of the examples.
fn example(name: &str) -> String {
    format!("{}/../examples/programs/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn reports_say_how_code_ran() {
    let program = example("components.json");
    let of_program = ["run", "gen:grid:12", "--program", &program];
    let of_analysis = [
        "run",
        "gen:grid:12",
        "--analysis",
        "mis",
        "--backend",
        "cpu",
    ];
    for command in [&of_program[..], &of_analysis] {
        for (jit, all) in [("always", true), ("never", false)] {
            let asked = [command, &["--threads", "2", "--jit", jit]].concat();
            let (code, text) = seawall(&[&asked[..], &["--explain"]].concat());
            assert_eq!(code, 0, "{text}");
            let row = text.lines().find(|line| line.starts_with("  code"));
            let row = row.unwrap_or_else(|| panic!("{text}"));
            assert!(
                row.contains(if all { "compiled in" } else { "interpreted" }),
                "{row}"
            );
            let (_, text) = seawall(&[&asked[..], &["--json"]].concat());
            let report: Value = serde_json::from_str(&text).unwrap();
            let waves = report["code"]["waves"].as_u64().unwrap();
            let compiled = if all { waves } else { 0 };
            assert_eq!(report["code"]["compiled"], compiled, "{text}");
            assert_eq!(
                report["code"]["compile_ns"].as_u64() > Some(0),
                all,
                "{text}"
            );
            assert!(waves > 0);
        }
    }
}

#[test]
fn every_wave_of_code_is_shown() {
    let program = example("components.json");
    let emit = ["run", "gen:grid:12", "--program", &program, "--emit", "asm"];
    let (code, text) = seawall(&emit);
    assert_eq!(code, 0, "{text}");
    let waves = text.lines().filter(|line| line.starts_with("; wave "));
    assert!(waves.count() > 0 && text.contains("block0"), "{text}");
}

#[test]
fn other_policies_and_forms_are_refused() {
    let (code, _) = seawall(&["run", "gen:grid:4", "--analysis", "mis", "--jit", "perhaps"]);
    assert_eq!(code, 2);
    let (code, _) = seawall(&["run", "gen:grid:4", "--analysis", "mis", "--emit", "asm"]);
    assert_eq!(code, 2);
}

/// A kernel that refuses to make written memory executable, as hardened hosts do.
#[cfg(target_os = "linux")]
#[test]
fn without_executable_memory_the_interpreter_runs() {
    use std::os::unix::process::CommandExt;

    let refuse = || {
        let flag = libc::c_ulong::from(libc::PR_MDWE_REFUSE_EXEC_GAIN);
        let none: libc::c_ulong = 0;
        // SAFETY: it changes a flag of this process.
        let refused = unsafe { libc::prctl(libc::PR_SET_MDWE, flag, none, none, none) };
        match refused {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_seawall-under-test"));
    command.args([
        "run",
        "gen:grid:12",
        "--analysis",
        "mis",
        "--backend",
        "cpu",
    ]);
    command.args(["--jit", "always", "--check", "--json"]);
    // SAFETY: the call is safe between fork and exec.
    unsafe { command.pre_exec(refuse) };
    let output = match command.output() {
        // Kernels before 6.3.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return,
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{output:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["checked"], &report["code"]["compiled"]),
        (&true.into(), &0.into())
    );
    let reason = report["code"]["reason"].as_str().unwrap();
    assert!(reason.contains("no executable memory"), "{reason}");
}
