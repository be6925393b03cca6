//! Listings of the book: commands of ```` ```console ```` blocks are run, and print what the page says.
//!
//! `SEAWALL_BLESS=1` writes what they print into the pages. A line `...` stands for any number of
//! lines. Times and machines are masked. Words after `console` name what the block needs
//! ([`Need`]); blocks whose needs are not met are left out with a note.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Begins a line of the shell that separates the outputs of commands.
const MARK: &str = "@@seawall-listing";

/// The line that stands for any number of lines.
const ELISION: &str = "...";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A command with the output below it.
#[derive(Debug, Default, PartialEq)]
struct Listed {
    command: String,
    output: Vec<String>,
}

/// A block of a page: its first line in the page, from 0, and its commands.
struct Block {
    first: usize,
    end: usize,
    needs: Vec<Need>,
    commands: Vec<Listed>,
}

/// Something that a block needs, by the word after `console`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Need {
    /// `roads`: the file `NY.gr.xz`, in the folder that `SEAWALL_ROADS` names or beside the workspace.
    Roads,
    /// `npm`: packages of the npm registry.
    Npm,
    /// `examples`: programs of `host/modules/examples`, which `cargo test --workspace` builds, and
    /// `rustc`.
    Examples,
}

impl Need {
    fn of(word: &str) -> Self {
        match word {
            "roads" => Self::Roads,
            "npm" => Self::Npm,
            "examples" => Self::Examples,
            other => panic!("no block may need {other:?}"),
        }
    }

    /// Puts what is needed into `folder`, or says what is missing.
    fn meet(self, folder: &Path) -> Result<(), &'static str> {
        match self {
            Self::Roads => {
                let file = roads().ok_or("a road network, and SEAWALL_ROADS names none")?;
                std::os::unix::fs::symlink(file, folder.join("NY.gr.xz")).unwrap();
                Ok(())
            }
            Self::Npm => {
                let mut view = std::process::Command::new("npm");
                view.args(["view", "@sqlite.org/sqlite-wasm@3.41.2", "name"]);
                let seen = view.output().is_ok_and(|output| output.status.success());
                seen.then_some(()).ok_or("the npm registry")
            }
            Self::Examples => {
                let built = examples().ok_or("built examples")?;
                let cargo = CARGO.replace("EXAMPLES", &built.display().to_string());
                std::fs::write(folder.join("cargo"), cargo).unwrap();
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
                std::fs::set_permissions(folder.join("cargo"), mode).unwrap();
                Ok(())
            }
        }
    }
}

/// Starts an example that the tests have built, as `cargo run … --example NAME -- ARGUMENTS` would.
const CARGO: &str = r#"#!/bin/sh
while [ "$1" != --example ]; do shift; done
name=$2
shift 3
exec "EXAMPLES/$name" "$@"
"#;

/// The folder of built examples, if all that pages start are there.
fn examples() -> Option<PathBuf> {
    let this = std::env::current_exe().ok()?;
    let folder = this.parent()?.with_file_name("examples");
    let names = [
        "llvm_flow",
        "borrow_facts",
        "ask_module",
        "read_module",
        "live_registers",
    ];
    let all = names.iter().all(|name| folder.join(name).exists());
    all.then_some(folder)
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in page.lines().enumerate() {
        match &mut open {
            None if line.starts_with("```console") => {
                open = Some(Block {
                    first: at + 1,
                    end: at + 1,
                    needs: line.split(' ').skip(1).map(Need::of).collect(),
                    commands: Vec::new(),
                });
            }
            None => {}
            Some(block) if line == "```" => {
                block.end = at;
                blocks.extend(open.take());
            }
            Some(block) => take(&mut block.commands, line),
        }
    }
    blocks
}

/// Adds a line of a block: a command, its continuation, or output.
fn take(commands: &mut Vec<Listed>, line: &str) {
    if let Some(command) = line.strip_prefix("$ ") {
        commands.push(Listed {
            command: command.to_owned(),
            output: Vec::new(),
        });
        return;
    }
    let last = commands.last_mut().expect("a listing begins with `$ `");
    match line.strip_prefix("> ") {
        Some(more) if last.output.is_empty() => {
            last.command.push('\n');
            last.command.push_str(more);
        }
        _ => last.output.push(line.to_owned()),
    }
}

/// Runs all commands of a page in one shell, so that files and `$?` carry over. Returns the output
/// of each.
fn run(commands: &[&str], folder: &Path) -> Vec<Vec<String>> {
    std::os::unix::fs::symlink(
        env!("CARGO_BIN_EXE_seawall-under-test"),
        folder.join("seawall"),
    )
    .unwrap();
    let mut script = String::from("exec 2>&1\n");
    for command in commands {
        writeln!(script, "echo '{MARK}'; (exit $code)\n{command}\ncode=$?").unwrap();
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let mut bash = assert_cmd::Command::new("bash");
    bash.args(["--norc", "-c", &script])
        .env("PATH", format!("{}:{path}", folder.display()))
        .env("code", "0")
        .env("HOME", folder)
        .env_remove("NO_COLOR")
        .current_dir(folder);
    let printed = String::from_utf8(bash.output().unwrap().stdout).unwrap();
    let mut outputs = Vec::new();
    for line in printed.lines() {
        if line == MARK {
            outputs.push(Vec::new());
        } else if let Some(output) = outputs.last_mut() {
            output.push(line.to_owned());
        }
    }
    outputs
}

/// A line without times, machines and widths of columns.
fn masked(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.starts_with(&["ran", "on"]) {
        return "ran on".to_owned();
    }
    let is_unit = |word: &str| {
        let word = word.trim_end_matches([';', ',', ')']);
        ["ns", "us", "ms", "s"].contains(&word)
    };
    let shown = words.iter().enumerate().map(|(at, word)| {
        let before_unit = words.get(at + 1).is_some_and(|next| is_unit(next));
        match word.starts_with(|first: char| first.is_ascii_digit()) && before_unit {
            true => "TIME",
            false if at > 0 && is_unit(word) => "UNIT",
            false => word,
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Whether the page's lines are those printed; `...` stands for any number of them.
fn agree(listed: &[String], printed: &[String]) -> bool {
    match listed {
        [] => printed.is_empty(),
        [elision, rest @ ..] if elision == ELISION => {
            (0..=printed.len()).any(|skipped| agree(rest, &printed[skipped..]))
        }
        [line, rest @ ..] => match printed {
            [first, more @ ..] => masked(line) == masked(first) && agree(rest, more),
            [] => false,
        },
    }
}

/// The road network, if there is one.
fn roads() -> Option<PathBuf> {
    let named = std::env::var_os("SEAWALL_ROADS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| root().join("../shared/data"));
    Some(folder.join("NY.gr.xz")).filter(|file| file.exists())
}

/// Runs a page's listings; returns the page as it should be, and what differs.
fn check(name: &str, page: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(root().join("examples"), folder.path().join("examples")).unwrap();
    let mut blocks = blocks(page);
    assert!(!blocks.is_empty(), "{name} has no listing");
    for need in [Need::Roads, Need::Npm, Need::Examples] {
        let needs = |block: &Block| block.needs.contains(&need);
        if blocks.iter().any(needs)
            && let Err(missing) = need.meet(folder.path())
        {
            println!("{name}: listings are left out that need {missing}");
            blocks.retain(|block| !needs(block));
        }
    }
    let listed = || blocks.iter().flat_map(|block| &block.commands);
    let commands: Vec<&str> = listed().map(|listed| listed.command.as_str()).collect();
    let printed = run(&commands, folder.path());
    assert_eq!(printed.len(), commands.len(), "{name}: {printed:?}");
    let mut differences = String::new();
    for (listed, printed) in listed().zip(&printed) {
        if !agree(&listed.output, printed) {
            let (command, expected) = (&listed.command, listed.output.join("\n"));
            let printed = printed.join("\n");
            writeln!(
                differences,
                "{name}: $ {command}\nthe page has:\n{expected}\nprinted:\n{printed}\n"
            )
            .unwrap();
        }
    }
    (blessed(page, &blocks, &printed), differences)
}

/// The page with what was printed in the place of what differs.
fn blessed(page: &str, blocks: &[Block], printed: &[Vec<String>]) -> String {
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    let mut outputs = printed.iter();
    let mut replaced = Vec::new();
    for block in blocks {
        let mut text = Vec::new();
        for listed in &block.commands {
            let printed = outputs.next().unwrap();
            text.push(format!("$ {}", listed.command.replace('\n', "\n> ")));
            let stays = agree(&listed.output, printed);
            text.extend_from_slice(if stays { &listed.output } else { printed });
        }
        replaced.push((block.first..block.end, text));
    }
    for (range, text) in replaced.into_iter().rev() {
        lines.splice(range, text);
    }
    lines.join("\n") + "\n"
}

/// Compares a page's listings with what is printed, or writes that into the page.
fn listings_print_what_is_said(name: &str) {
    let path = root().join("docs").join(name);
    let page = std::fs::read_to_string(&path).unwrap();
    let (right, differences) = check(name, &page);
    if std::env::var_os("SEAWALL_BLESS").is_some() {
        std::fs::write(&path, right).unwrap();
    } else {
        assert!(differences.is_empty(), "{differences}");
    }
}

/// A test for each page, so that pages share the cores.
macro_rules! pages {
    ($($test:ident $page:literal,)*) => {
        $(
            #[test]
            fn $test() {
                listings_print_what_is_said($page);
            }
        )*
    };
}

pages! {
    listings_of_program_analysis "program-analysis.md",
    listings_of_the_command_line "command-line.md",
    listings_of_the_tutorial "tutorial.md",
    listings_of_concepts "concepts.md",
    listings_of_many_gpus "many-gpus.md",
    listings_of_operating "operating.md",
    listings_of_program_text "program-text.md",
    listings_of_streams "streams.md",
}

/// The commands that a newcomer tries first, on a table like the one that the README names.
#[test]
fn commands_of_the_readme_succeed() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let commands: Vec<&str> = readme
        .lines()
        .filter(|line| line.starts_with("seawall "))
        .collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    let folder = tempfile::tempdir().unwrap();
    let calls = "source,target\nann,eve\neve,bob\nbob,ann\n";
    std::fs::write(folder.path().join("calls.csv"), calls).unwrap();
    let with_code = |command: &&str| format!("{command} && echo done");
    let commands: Vec<String> = commands.iter().map(with_code).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    for printed in run(&commands, folder.path()) {
        assert_eq!(
            printed.last().map(String::as_str),
            Some("done"),
            "{printed:?}"
        );
    }
    let parts = std::fs::read_to_string(folder.path().join("parts.csv")).unwrap();
    assert_eq!(parts, "node,name,value\n0,ann,ann\n1,bob,ann\n2,eve,ann\n");
    assert!(folder.path().join("path.png").exists());
}

#[test]
fn a_wrong_listing_is_found() {
    let right = "text\n```console\n$ echo a; echo 3 ms\na\n4.5 ms\n$ false\n$ echo $?\n1\n```\n";
    assert_eq!(check("right", right), (right.to_owned(), String::new()));
    let wrong = right.replace("\na\n", "\nb\n");
    let (blessed, differences) = check("wrong", &wrong);
    assert!(differences.contains("the page has:\nb"), "{differences}");
    assert!(blessed.contains("\na\n3 ms\n"), "{blessed}");
}

#[test]
fn elisions_and_masks() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(agree(&lines("a\n...\nd"), &lines("a\nb\nc\nd")));
    assert!(!agree(&lines("a\n...\nd"), &lines("a\nb\nc")));
    assert!(!agree(&lines("a"), &lines("a\nb")));
    assert_eq!(
        masked("  time    1.2 ms; 3 us with"),
        masked("  time 4 s; 9.0 ns with")
    );
    assert_ne!(masked("3 nodes"), masked("4 nodes"));
}
