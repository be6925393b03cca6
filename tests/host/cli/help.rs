use super::{Fixture, finish, seawall};
use std::collections::BTreeSet;

const COMMANDS: [&[&str]; 14] = [
    &["run"],
    &["plan"],
    &["convert"],
    &["info"],
    &["grammar"],
    &["analyze"],
    &["completions"],
    &["man"],
    &["report"],
    &["bench"],
    &["serve"],
    &["query"],
    &["evidence"],
    &["evidence", "verify"],
];

#[test]
fn every_help_goes_to_standard_output_and_ends_with_examples() {
    let forms = ["-h", "--help", "--help-all"];
    let commands = || COMMANDS.iter().copied().chain([&[][..]]);
    for (command, form) in commands().flat_map(|command| forms.map(|form| (command, form))) {
        let help = finish(seawall(command).arg(form));
        assert_eq!((help.code, help.stderr.as_str()), (0, ""));
        let examples = help
            .stdout
            .find("Examples:")
            .unwrap_or_else(|| panic!("{command:?}"));
        let usage = help
            .stdout
            .find("Usage: seawall")
            .unwrap_or_else(|| panic!("{command:?}"));
        assert!(usage < examples);
        let name = std::iter::once("seawall")
            .chain(command.iter().copied())
            .collect::<Vec<_>>()
            .join(" ");
        assert!(help.stdout[examples..].contains(&name), "{}", help.stdout);
    }
}

#[test]
fn every_example_of_run_and_plan_parses() {
    // A missing file ends with "cannot"; an argument that does not parse would end with usage.
    let both = |command| [[command, "--help"], [command, "--help-all"]];
    for asked in ["run", "plan"].into_iter().flat_map(both) {
        let help = finish(&mut seawall(&asked));
        let examples = help
            .stdout
            .lines()
            .filter_map(|line| line.trim().strip_prefix("seawall "));
        for example in examples {
            let alone = example.split(['|', '<', '>']).next().unwrap();
            let arguments: Vec<_> = alone
                .split_whitespace()
                .filter(|word| *word != "-")
                .collect();
            let arguments: Vec<_> = arguments
                .iter()
                .map(|word| word.replace("gen:", "missing-"))
                .collect();
            let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
            let folder = tempfile::tempdir().unwrap();
            let run = finish(seawall(&arguments).current_dir(&folder));
            assert!(
                run.stderr.contains("cannot") || run.stderr.contains("<FILE>"),
                "{example}: {}",
                run.stderr
            );
        }
    }
}

/// Lines of a screen; a terminal has 80 columns or more.
const SCREEN: usize = 44;

#[test]
fn help_fits_a_screen_and_all_of_it_has_every_option() {
    for command in COMMANDS.iter().copied().chain([&[][..]]) {
        let of = |form: &str| finish(seawall(command).arg(form)).stdout;
        let short = of("--help");
        assert_eq!(short, of("-h"));
        let lines = short.lines().count();
        assert!(lines <= SCREEN, "{command:?} has {lines} lines:\n{short}");
        let all = of("--help-all");
        let options = |help: &str| -> BTreeSet<String> {
            let words = help.lines().filter(|line| line.starts_with("      --"));
            let names = words.filter_map(|line| line.split_whitespace().next());
            names.map(str::to_owned).collect()
        };
        assert!(options(&short).is_subset(&options(&all)), "{all}");
    }
    let all = finish(&mut seawall(&["run", "--help-all"])).stdout;
    let short = finish(&mut seawall(&["run", "--help"])).stdout;
    for rare in [
        "--stream-window",
        "--damping",
        "--no-plan-cache",
        "gen:batch:COUNT:SHAPE",
    ] {
        assert!(all.contains(rare) && !short.contains(rare), "{rare}");
    }
    for heading in [
        "Analysis:",
        "Reading the graph:",
        "Machine:",
        "Results:",
        "Help:",
    ] {
        assert!(
            short.lines().any(|line| line == heading),
            "{heading}\n{short}"
        );
    }
}

#[test]
fn completions_name_commands_options_and_values() {
    for shell in ["bash", "zsh", "fish"] {
        let script = finish(&mut seawall(&["completions", shell]));
        assert_eq!((script.code, script.stderr.as_str()), (0, ""));
        for name in ["convert", "help-all", "pagerank", "stream-window", "uring"] {
            assert!(script.stdout.contains(name), "{shell} lacks {name}");
        }
    }
    finish(&mut seawall(&["completions", "bsh"])).refused(&["'bash'"]);
}

/// Completions of a shell after these words.
#[cfg(unix)]
#[test]
fn bash_completes_commands_and_values() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("seawall.bash");
    let text = finish(&mut seawall(&["completions", "bash"])).stdout;
    std::fs::write(&script, text).unwrap();
    let complete = |words: &str| {
        let ask = format!(
            "source {} && COMP_WORDS=({words}) COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 )) && \
             _seawall seawall \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\" && \
             echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        finish(assert_cmd::Command::new("bash").args(["--norc", "-c", &ask])).stdout
    };
    assert_eq!(complete("seawall con"), "convert\n");
    assert_eq!(complete("seawall run --analysis pager"), "pagerank\n");
    assert_eq!(complete("seawall run --stream-w"), "--stream-window\n");
}

#[test]
fn manual_pages_exist_for_the_program_and_each_command() {
    let page = finish(&mut seawall(&["man"]));
    assert_eq!(page.code, 0);
    assert!(page.stdout.contains(".TH seawall 1"), "{}", page.stdout);
    let folder = tempfile::tempdir().unwrap();
    let done = finish(seawall(&["man", "--out"]).arg(folder.path()));
    assert_eq!(
        (done.code, done.stdout.as_str(), done.stderr.as_str()),
        (0, "", "")
    );
    for command in COMMANDS {
        let page = folder
            .path()
            .join(format!("seawall-{}.1", command.join("-")));
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.contains("Examples:"), "{}", page.display());
    }
    let run = std::fs::read_to_string(folder.path().join("seawall-run.1")).unwrap();
    for rare in ["stream\\-window", "gen:rmat:SCALE", "pagerank"] {
        assert!(run.contains(rare), "{rare}");
    }
    let nowhere = folder.path().join("missing");
    let failed = finish(seawall(&["man", "--out"]).arg(&nowhere));
    assert_eq!(failed.code, 2, "{}", failed.stderr);
}

#[test]
fn wrong_names_are_answered_by_the_near_one() {
    let bfs = ["--analysis", "bfs", "--source", "0"];
    let named = Fixture::new("friends.csv", b"source,target\nalice,bob\nbob,carol\n");
    for (arguments, meant) in [
        (&["run", "gen:gird:9"][..], "\"grid\""),
        (
            &["run", "gen:grid:9", "--out", "-", "--columns", "vlaue"],
            "\"value\"",
        ),
        (&["run", "gen:grid:9", "--out", "rows.cvs"], "\".csv\""),
        (&["run", "gen:grid:9", "--thread", "2"], "'--threads'"),
        (&["run", "gen:grid:9", "--format", "grphml"], "'graphml'"),
        (
            &[
                "run",
                named.path(),
                "--source-column",
                "sorce",
                "--target-column",
                "2",
            ],
            "\"source\"",
        ),
        (&["run", named.path(), "--source", "alcie"], "\"alice\""),
    ] {
        finish(seawall(arguments).args(bfs)).refused(&[meant]);
    }
    for (arguments, meant) in [
        (&["rum"][..], "'run'"),
        (
            &["run", "gen:grid:9", "--analysis", "pagerang"],
            "'pagerank'",
        ),
        (&["convert", "gen:grid:9", "grid.mtxx"], "\".mtx\""),
    ] {
        finish(&mut seawall(arguments)).refused(&[meant]);
    }
    let program = Fixture::new("program.json", br#"{"version": 1, "registrs": []}"#);
    let flow = b"seawall-flow 1\nfunction main exported\nfunction abort imported\n";
    let flow = Fixture::new("main.flow", flow);
    let grammars = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/grammars");
    let [dyck, edges] = ["dyck.cnf", "dyck.g"].map(|name| format!("{grammars}/{name}"));
    let grammar = ["grammar", &dyck, &edges];
    for (arguments, meant) in [
        (
            vec!["run", "gen:grid:9", "--program", program.path()],
            "\"registers\"",
        ),
        (
            vec!["analyze", flow.path(), "--reach", "abrot"],
            "\"abort\"",
        ),
        (
            [&grammar[..], &["--symbol", "balancd"]].concat(),
            "\"balanced\"",
        ),
    ] {
        finish(&mut seawall(&arguments)).refused(&["did you mean", meant]);
    }
    let components = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../examples/programs/components.json"
    );
    let serve = ["serve", "gen:grid:4", "--program", components];
    let asked = r#"{"op": "run", "program": "componets"}"#;
    let answer = finish(seawall(&serve).write_stdin(asked)).stdout;
    assert!(
        answer.contains("did you mean \\\"components\\\"?"),
        "{answer}"
    );
    // A name that is near to none gets no advice.
    let far = finish(seawall(&["run", "gen:ring:9"]).args(bfs));
    assert!(!far.stderr.contains("did you mean"), "{}", far.stderr);
}

#[test]
fn no_arguments_at_all_is_bad_usage_with_help() {
    let bare = finish(&mut seawall(&[]));
    assert_eq!((bare.code, bare.stdout.as_str()), (2, ""));
    assert!(bare.stderr.contains("Usage: seawall [OPTIONS] <COMMAND>"));
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = finish(&mut seawall(&["--version"]));
    assert_eq!(
        version.stdout,
        concat!("seawall ", env!("CARGO_PKG_VERSION"), "\n")
    );
}

#[test]
fn pipes_get_no_colour_and_no_progress() {
    let run = finish(&mut seawall(&["run", "no-such-file", "--analysis", "cc"]));
    assert!(!run.stderr.contains('\u{1b}'), "{:?}", run.stderr);
}

/// `script` runs a command on a terminal of its own.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_sees_the_step_and_never_an_empty_bar() {
    let folder = tempfile::tempdir().unwrap();
    let command = format!(
        "{} run gen:rmat:14:8 --analysis triangles --backend cpu --threads 1 --repeat 20",
        env!("CARGO_BIN_EXE_seawall-under-test")
    );
    let mut script = assert_cmd::Command::new("script");
    script.args(["-qec", &command, "/dev/null"]);
    let shown = finish(script.env("TERM", "xterm").current_dir(&folder));
    assert_eq!(shown.code, 0, "{}", shown.stdout);
    assert!(
        shown.stdout.contains("loading gen:rmat:14:8"),
        "{:?}",
        shown.stdout
    );
    for empty in ["\u{2591}", "0/0", "[----", "[....", "0 B of"] {
        assert!(!shown.stdout.contains(empty), "{:?}", shown.stdout);
    }
}

#[test]
fn colours_obey_no_color_even_when_forced() {
    let arguments = ["plan", "no-such-file"];
    let forced = finish(seawall(&arguments).env("CLICOLOR_FORCE", "1"));
    assert!(forced.stderr.contains('\u{1b}'), "{:?}", forced.stderr);
    let plain = finish(seawall(&arguments).env("NO_COLOR", "1"));
    assert!(!plain.stderr.contains('\u{1b}'), "{:?}", plain.stderr);
}

#[test]
fn info_names_the_cpu_and_reports_a_missing_gpu_in_one_line() {
    let text = finish(&mut seawall(&["info"]));
    assert_eq!(text.code, 0, "{}", text.stderr);
    assert_eq!(
        text.stdout
            .lines()
            .filter(|line| line.starts_with("CPU  "))
            .count(),
        1
    );
    assert!(text.stdout.lines().any(|line| line.starts_with("GPU  ")));
    let info = finish(&mut seawall(&["info", "--json"])).json();
    assert!(info["cpu"]["threads"].as_u64().unwrap() > 0);
    let devices = info["devices"].as_array().unwrap().len();
    assert_eq!(devices == 0, info["no_device"].is_string());
    for file in info["kernels"].as_array().unwrap() {
        let kernels = file["kernels"].as_array().unwrap();
        assert!(kernels.iter().any(|name| name == "seawall_mega"), "{file}");
    }
}
