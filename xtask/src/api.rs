//! `cargo xtask api`: the public API of the libraries, as it is recorded in `xtask/api`.
//!
//! A change of the API is so a change of a file that a reviewer sees, and CI refuses one that
//! nobody meant. `--semver` also compares each library with the release of the commit in
//! `xtask/api/released`: what breaks users needs a new version.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use public_api::Builder;

use crate::error::{Error, refuse_any};
use crate::process;
use crate::ptx::toolchain::{Route, Toolchain};
use crate::workspace;

/// The libraries whose items users name.
const CRATES: [&str; 5] = [
    "seawall-core",
    "seawall-graph",
    "seawall-device",
    "seawall",
    "seawall-modules",
];

/// Format of rustdoc's JSON that is read here, which changes with the compiler.
const FORMAT: u32 = 57;

/// Most changed items that a refusal shows.
const SHOWN: usize = 60;

/// Options of the command.
#[derive(Args)]
pub(crate) struct Options {
    /// Write the record instead of comparing with it.
    #[arg(long)]
    bless: bool,
    /// Compare with the last release too, by this `cargo-semver-checks`.
    #[arg(long, value_name = "PROGRAM", conflicts_with = "bless")]
    semver: Option<PathBuf>,
    /// The compiler to use.
    #[arg(long, value_enum, default_value_t = Route::Auto)]
    toolchain: Route,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let toolchain = Toolchain::find(options.toolchain)?;
    let released = match &options.semver {
        Some(_) => unpack_released()?,
        None => None,
    };
    let mut findings = Vec::new();
    for name in CRATES {
        let before = released.as_ref();
        let before = before.map(|released| described(&toolchain, released, name));
        let before = before.transpose()?;
        let json = described(&toolchain, &workspace::root(), name)?;
        let found = format_of(&json)?;
        if found != FORMAT {
            println!("skipped: rustdoc writes format {found} and this command reads {FORMAT}");
            return Ok(());
        }
        let items = items(&json)?;
        println!("{name}: {} public items", items.len());
        if let (Some(before), Some(program)) = (before, &options.semver) {
            findings.extend(version_needed(program, name, [&before, &json])?);
        }
        let record = record_of(name);
        if options.bless {
            workspace::write(&record, &text(&items))?;
        } else {
            let recorded = workspace::read(&record)?;
            findings.extend(changes(name, &recorded, &items));
        }
    }
    refuse_any(
        "changes of the public API",
        findings.into_iter().take(SHOWN).collect(),
        "if they are meant, name what breaks users in CHANGELOG.md, run `cargo xtask api --bless`, and raise the version where it has been released (commit of `xtask/api/released`)",
    )
}

fn record_of(name: &str) -> PathBuf {
    workspace::root().join(format!("xtask/api/{name}.txt"))
}

/// Unpacks the sources of the last release and returns their folder; `None` if this clone does not
/// have the recorded commit.
fn unpack_released() -> Result<Option<PathBuf>, Error> {
    let commit = workspace::read(&workspace::root().join("xtask/api/released"))?;
    let commit = commit.trim();
    let folder = workspace::target("released");
    let archive = folder.with_extension("tar");
    let mut git = Command::new("git");
    git.current_dir(workspace::root())
        .args(["archive", "--format=tar", "--output"])
        .arg(&archive)
        .arg(commit);
    if let Err(error) = process::capture(&mut git) {
        println!("skipped versions: this clone has no commit {commit} ({error})");
        return Ok(None);
    }
    workspace::create_folder(&folder)?;
    // Files that this commit lacks stay of an earlier one otherwise; what was built is of use.
    process::show(
        Command::new("find")
            .arg(&folder)
            .args(["-mindepth", "1", "-maxdepth", "1", "!", "-name", "target"])
            .args(["-exec", "rm", "-r", "{}", "+"]),
    )?;
    process::show(
        Command::new("tar")
            .arg("-xf")
            .arg(&archive)
            .arg("-C")
            .arg(&folder),
    )?;
    Ok(Some(folder))
}

/// The finding that changes between two descriptions of a library need another version than it has;
/// the program prints these changes.
fn version_needed(
    program: &Path,
    name: &str,
    [before, now]: [&Path; 2],
) -> Result<Option<String>, Error> {
    let mut check = Command::new(program);
    check.args(["semver-checks", "--baseline-rustdoc"]);
    check.arg(before).arg("--current-rustdoc").arg(now);
    match process::show(&mut check) {
        Ok(()) => Ok(None),
        Err(Error::Failed { .. }) => Ok(Some(format!("{name}: breaks users of its version"))),
        Err(error) => Err(error),
    }
}

/// The items of a library of the workspace in `root`, in rustdoc's JSON.
fn described(toolchain: &Toolchain, root: &Path, name: &str) -> Result<PathBuf, Error> {
    // Of its own: cargo does not tell crates of two workspaces apart within one.
    let target = root.join("target/api");
    let mut cargo = toolchain.cargo();
    cargo
        .current_dir(root)
        .args(["rustdoc", "--quiet", "--lib", "--package", name])
        .arg("--target-dir")
        .arg(&target)
        .args(["--", "-Zunstable-options", "--output-format", "json"])
        .args(["--cap-lints", "allow"]);
    process::show(&mut cargo)?;
    Ok(target
        .join("doc")
        .join(format!("{}.json", name.replace('-', "_"))))
}

fn unreadable(json: &Path, problem: &dyn ToString) -> Error {
    Error::output(format!("rustdoc ({})", json.display()), problem.to_string())
}

/// The format's number, which ends the file.
fn format_of(json: &Path) -> Result<u32, Error> {
    let text = workspace::read(json)?;
    let number = text
        .rsplit_once("\"format_version\":")
        .map(|(_, rest)| rest);
    let digits = number.map(|rest| rest.trim_end_matches(['}', '\n', ' ']));
    let found = digits.and_then(|digits| digits.trim().parse().ok());
    found.ok_or_else(|| unreadable(json, &"it names no format"))
}

fn items(json: &Path) -> Result<BTreeSet<String>, Error> {
    let api = Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build();
    let api = api.map_err(|error| unreadable(json, &error))?;
    Ok(api.items().map(ToString::to_string).collect())
}

fn text(items: &BTreeSet<String>) -> String {
    items.iter().fold(String::new(), |mut text, item| {
        text.push_str(item);
        text.push('\n');
        text
    })
}

/// Items that were recorded and are gone, and new ones.
fn changes(name: &str, recorded: &str, items: &BTreeSet<String>) -> Vec<String> {
    let recorded: BTreeSet<String> = recorded.lines().map(str::to_owned).collect();
    let gone = recorded
        .difference(items)
        .map(|item| format!("{name}: - {item}"));
    let new = items
        .difference(&recorded)
        .map(|item| format!("{name}: + {item}"));
    gone.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gone_and_new_items_are_named() {
        let items: BTreeSet<String> = ["pub fn a()", "pub fn c()"].map(str::to_owned).into();
        let found = changes("x", "pub fn a()\npub fn b()\n", &items);
        assert_eq!(found, ["x: - pub fn b()", "x: + pub fn c()"]);
        assert!(changes("x", &text(&items), &items).is_empty());
    }

    #[test]
    fn every_library_has_a_record() {
        for name in CRATES {
            let record = workspace::read(&record_of(name)).unwrap();
            assert!(
                record.lines().any(|line| line.starts_with("pub mod ")),
                "{name}"
            );
            let items: BTreeSet<String> = record.lines().map(str::to_owned).collect();
            assert_eq!(text(&items), record, "{name}: sorted, each item once");
        }
    }
}
