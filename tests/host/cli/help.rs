use super::{finish, seawall};

const COMMANDS: [&[&str]; 10] = [
    &["run"],
    &["plan"],
    &["convert"],
    &["info"],
    &["grammar"],
    &["bench"],
    &["serve"],
    &["query"],
    &["evidence"],
    &["evidence", "verify"],
];

#[test]
fn every_help_goes_to_standard_output_and_ends_with_examples() {
    for command in COMMANDS.iter().chain([&[][..]].iter()) {
        let help = finish(seawall(command).arg("--help"));
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
    for command in ["run", "plan"] {
        let help = finish(&mut seawall(&[command, "--help"]));
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

#[test]
fn no_arguments_at_all_is_bad_usage_with_help() {
    let bare = finish(&mut seawall(&[]));
    assert_eq!((bare.code, bare.stdout.as_str()), (2, ""));
    assert!(bare.stderr.contains("Usage: seawall <COMMAND>"));
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
