//! `cargo xtask api`: the public API of the libraries, as it is recorded in `xtask/api`.
//!
//! A change of the API is so a change of a file that a reviewer sees, and CI refuses one that
//! nobody meant. `--semver` also compares each library with the release of the commit in
//! `xtask/api/released`: what breaks users needs a new version. `cargo-semver-checks` judges that where
//! items are gone, or where one was added to a type or trait that users may list or implement as a
//! whole; other changes break nobody, and compiling that program takes minutes.

use std::collections::{BTreeSet, HashMap};
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

/// Version of the program that judges what may break users.
const SEMVER_CHECKS: &str = "0.51.0";

/// Most changed items that a refusal shows.
const SHOWN: usize = 60;

/// Options of the command.
#[derive(Args)]
pub(crate) struct Options {
    /// Write the record instead of comparing with it.
    #[arg(long)]
    bless: bool,
    /// Compare with the last release too.
    #[arg(long, conflicts_with = "bless")]
    semver: bool,
    /// Let `cargo-semver-checks` judge every library, whatever changed.
    #[arg(long, requires = "semver")]
    thorough: bool,
    /// The compiler to use.
    #[arg(long, value_enum, default_value_t = Route::Auto)]
    toolchain: Route,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let toolchain = Toolchain::find(options.toolchain)?;
    let released = match options.semver {
        true => unpack_released()?,
        false => None,
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
        let items = items(&json, Detail::Written)?;
        println!("{name}: {} public items", items.len());
        if let Some(before) = before {
            let both = [before.as_path(), json.as_path()];
            if options.thorough || may_break(both)? {
                findings.extend(version_needed(name, both)?);
            } else {
                println!("{name}: nothing that a user has may break");
            }
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
    // With the time of now: Cargo would take sources of an earlier release that it built for newer.
    process::show(
        Command::new("tar")
            .arg("-xmf")
            .arg(&archive)
            .arg("-C")
            .arg(&folder),
    )?;
    Ok(Some(folder))
}

/// Whether a change from one description of a library to the next may break users.
fn may_break([before, now]: [&Path; 2]) -> Result<bool, Error> {
    let [before, now] = [items(before, Detail::All)?, items(now, Detail::All)?];
    let found = doubtful(&before, &now);
    if let Some(item) = found {
        println!("gone, or new in something that users have: {item}");
    }
    Ok(found.is_some())
}

/// The first item that is gone, or new in a type or trait of before that users may list or implement
/// as a whole.
fn doubtful<'i>(before: &'i BTreeSet<String>, now: &'i BTreeSet<String>) -> Option<&'i String> {
    let known: HashMap<String, Named> = before
        .iter()
        .filter_map(|item| Named::of(item))
        .map(|item| (item.path.clone(), item))
        .collect();
    let is_part = |item: &&String| Named::of(item).is_some_and(|item| item.is_part(&known));
    let gone = before.difference(now).next();
    gone.or_else(|| now.difference(before).find(is_part))
}

/// An item by its path.
struct Named<'i> {
    /// `enum`, `fn` and so on; nothing before variants and fields.
    keyword: &'i str,
    path: String,
    /// Whether more may be added to it.
    is_open: bool,
}

impl<'i> Named<'i> {
    fn of(item: &'i str) -> Option<Self> {
        let open = item.strip_prefix("#[non_exhaustive] ");
        let declared = open.unwrap_or(item).strip_prefix("pub ")?;
        let (mut keyword, mut rest) = ("", declared);
        while let Some((word, after)) = rest
            .split_once(' ')
            .filter(|(word, _)| !word.contains("::"))
        {
            (keyword, rest) = (word, after);
        }
        Some(Self {
            keyword,
            path: plain_path(rest),
            is_open: open.is_some(),
        })
    }

    /// Whether this is a variant, a field, or an item of a trait of something known.
    fn is_part(&self, known: &HashMap<String, Named<'_>>) -> bool {
        let parent = self.path.rsplit_once("::");
        let Some(parent) = parent.and_then(|(parent, _)| known.get(parent)) else {
            return false;
        };
        match parent.keyword {
            "mod" => false,
            "trait" => true,
            _ => self.keyword.is_empty() && !parent.is_open,
        }
    }
}

/// The path that an item's text begins with, without generic arguments.
fn plain_path(text: &str) -> String {
    let mut path = String::new();
    let mut depth = 0_u32;
    for letter in text.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            '(' | ' ' | '=' => break,
            _ => path.push(letter),
        }
    }
    path.truncate(path.trim_end_matches(':').len());
    path
}

/// The finding that changes between two descriptions of a library need another version than it has;
/// the program prints these changes. It is compiled first where that was not done yet.
fn version_needed(name: &str, [before, now]: [&Path; 2]) -> Result<Option<String>, Error> {
    let tools = workspace::target("tools");
    let mut install = Command::new("cargo");
    install
        .args([
            "install",
            "--quiet",
            "--locked",
            "--debug",
            "cargo-semver-checks",
        ])
        .args(["--version", SEMVER_CHECKS, "--root"])
        .arg(&tools)
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    process::show(&mut install)?;
    let mut check = Command::new(tools.join("bin/cargo-semver-checks"));
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

/// Which items of a library are listed.
#[derive(Clone, Copy, PartialEq)]
enum Detail {
    /// Those that its sources write out.
    Written,
    /// Traits that are derived or that hold by themselves, too.
    All,
}

fn items(json: &Path, detail: Detail) -> Result<BTreeSet<String>, Error> {
    let is_short = detail == Detail::Written;
    let api = Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(is_short)
        .omit_auto_derived_impls(is_short)
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
    fn what_may_break_users_is_found() {
        let before = "#[non_exhaustive] pub enum a::Open\npub a::Open::One\npub enum a::Shut\npub mod a\n\
                      pub a::Shut::One\npub struct a::Plain<T>\npub trait a::Trait: core::marker::Sync\n\
                      pub a::Open::Named\npub a::Open::Named::old: u32\nimpl core::marker::Send for a::Shut\n";
        let set = |text: &str| -> BTreeSet<String> { text.lines().map(str::to_owned).collect() };
        let found = |more: &str| doubtful(&set(before), &set(&format!("{before}{more}"))).is_some();
        for harmless in [
            "",
            "pub a::Open::Two\npub a::Open::Two::text: u32",
            "pub enum a::New\npub a::New::One\npub trait a::Other\npub fn a::Other::call(&self)",
            "pub const fn a::Plain<T>::length(&self) -> u32\npub const a::LIMIT: u32\npub fn a::free()",
            "impl core::marker::Send for a::New",
        ] {
            assert!(!found(harmless), "{harmless}");
        }
        for harmful in [
            "pub a::Shut::Two(u32)",
            "pub a::Plain::field: u32",
            "pub fn a::Trait::more(&self)",
            "pub const a::Trait::MORE: u32",
            "pub a::Open::Named::new: u32",
        ] {
            assert!(found(harmful), "{harmful}");
        }
        let fewer = before.replace("impl core::marker::Send for a::Shut\n", "");
        assert!(doubtful(&set(before), &set(&fewer)).is_some());
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
