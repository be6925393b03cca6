//! `cargo xtask users`: every public module and function of the planner has a user.
//!
//! A module that only its own tests call is not finished. The product is the device crate, the
//! library and what stands on it, and uses every module; the table of ARCHITECTURE.md may claim no
//! more than is true. Every public function acts in the product, or serves the C interface or the
//! firmware example, whose page then shows its purpose (`functions`).

mod functions;

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::{Error, refuse_any};
use crate::workspace;

/// Parts of the product, with the folder of their sources: all packages that depend on the planner,
/// without tests and examples.
const PRODUCT: [(&str, &str); 6] = [
    ("device", "device-kernels/src"),
    ("library", "host/src"),
    ("machine code", "host/jit/src"),
    ("reports", "host/report/src"),
    ("command line", "host/cli/src"),
    ("Python", "host/python/src"),
];
/// The list of the planner's modules.
const MODULES: &str = "core/src/lib.rs";
const TABLE: &str = "ARCHITECTURE.md";
/// The heading before the table.
const HEADING: &str = "## Where `core` runs";
/// The planner's name in the sources of its users.
const CRATE: &str = "seawall_core::";

/// A module of the planner, and the parts that use it.
struct Module {
    name: String,
    users: BTreeSet<&'static str>,
}

pub(crate) fn run() -> Result<(), Error> {
    let modules = modules(&workspace::root())?;
    for Module { name, users } in &modules {
        let users: Vec<&str> = users.iter().copied().collect();
        println!("{name}: {}", users.join(", "));
    }
    judge(&modules, &workspace::read(&workspace::root().join(TABLE))?)?;
    let findings = functions::findings(&workspace::root())?;
    refuse_any(
        "public functions of the planner without a user",
        findings,
        "call the function where the product decides, show on a page what C or firmware \
                 call it for, or delete it",
    )
}

fn modules(root: &Path) -> Result<Vec<Module>, Error> {
    let list = workspace::read(&root.join(MODULES))?;
    let mut modules: Vec<Module> = list.lines().filter_map(module).collect();
    for (space, folder) in PRODUCT {
        for file in workspace::files_below(&root.join(folder))? {
            if !is_product(&file) {
                continue;
            }
            let used = used(&workspace::read(&file)?);
            let found = modules
                .iter_mut()
                .filter(|module| used.contains(&module.name));
            found.for_each(|module| {
                module.users.insert(space);
            });
        }
    }
    Ok(modules)
}

fn module(line: &str) -> Option<Module> {
    let name = line.strip_prefix("pub mod ")?.strip_suffix(';')?;
    Some(Module {
        name: name.to_owned(),
        users: BTreeSet::new(),
    })
}

/// Returns whether a file is source of the product and not of its tests.
fn is_product(file: &Path) -> bool {
    let is_rust = file.extension().is_some_and(|suffix| suffix == "rs");
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    is_rust && stem != "tests" && !stem.ends_with("_tests")
}

/// A source up to its tests.
fn without_tests(source: &str) -> &str {
    let parts = source.split_once("\n#[cfg(test)]\nmod ");
    parts.map_or(source, |(code, _)| code)
}

/// The planner's modules that a source names outside of comments and tests.
fn used(source: &str) -> BTreeSet<String> {
    let source = without_tests(source);
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let code: Vec<&str> = source.lines().filter(is_code).collect();
    let code = code.join("\n");
    code.split(CRATE).skip(1).flat_map(first_names).collect()
}

/// The first names of a path, or of the paths of a list in braces.
fn first_names(path: &str) -> Vec<String> {
    let Some(list) = path.strip_prefix('{') else {
        return vec![identifier(path)];
    };
    let (mut depth, mut names, mut is_first) = (1_u32, Vec::new(), true);
    for (at, sign) in list.char_indices() {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => is_first = true,
            _ if is_first && !sign.is_whitespace() => {
                names.push(identifier(&list[at..]));
                is_first = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

fn identifier(text: &str) -> String {
    let is_part = |sign: &char| sign.is_alphanumeric() || *sign == '_';
    text.chars().take_while(is_part).collect()
}

/// Refuses modules without a user, and a table that omits a module or claims a missing user.
fn judge(modules: &[Module], text: &str) -> Result<(), Error> {
    let mut findings = Vec::new();
    if modules.is_empty() {
        findings.push(format!("{MODULES} lists no module"));
    }
    for module in modules {
        if module.users.is_empty() {
            findings.push(format!("{}: no user", module.name));
        }
        findings.extend(false_claims(module, text));
    }
    let remedy = "call the module where the product decides, or delete it; then correct the table";
    refuse_any(
        "modules of the planner that the product does not use as ARCHITECTURE.md says",
        findings,
        remedy,
    )
}

fn false_claims(module: &Module, text: &str) -> Vec<String> {
    let table = text.split(HEADING).nth(1).unwrap_or_default();
    let table = table.split("\n## ").next().unwrap_or_default();
    let start = format!("| `{}` |", module.name);
    let Some(row) = table.lines().find(|line| line.starts_with(&start)) else {
        return vec![format!("{}: no row below {HEADING:?}", module.name)];
    };
    let claimed = row.split('|').nth(2).unwrap_or_default().split(',');
    let is_false = |space: &&str| !module.users.contains(space);
    let claims = claimed.map(str::trim).filter(is_false);
    claims
        .map(|space| format!("{}: not used by {space:?}", module.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_uses_every_module_as_its_table_says() {
        let modules = modules(&workspace::root()).unwrap();
        let table = workspace::read(&workspace::root().join(TABLE)).unwrap();
        if let Err(refused) = judge(&modules, &table) {
            panic!("{refused}");
        }
    }

    #[test]
    fn the_product_is_every_package_that_depends_on_the_planner() {
        let output = std::process::Command::new(env!("CARGO"))
            .args(["metadata", "--format-version=1", "--no-deps"])
            .current_dir(workspace::root())
            .output()
            .unwrap();
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let depends = |package: &serde_json::Value| {
            let dependencies = package["dependencies"].as_array().unwrap();
            let is_planner = |dependency: &serde_json::Value| {
                dependency["name"] == "seawall-core" && dependency["kind"].is_null()
            };
            dependencies.iter().any(is_planner)
        };
        let packages = metadata["packages"].as_array().unwrap().iter();
        let folders: BTreeSet<String> = packages
            .filter(|package| depends(package))
            .map(|package| {
                let manifest = Path::new(package["manifest_path"].as_str().unwrap());
                let folder = manifest.parent().unwrap().join("src");
                let folder = folder.strip_prefix(workspace::root()).unwrap();
                folder.to_string_lossy().into_owned()
            })
            .filter(|folder| !folder.starts_with("tests/") && !folder.starts_with("core/"))
            .collect();
        let listed = PRODUCT.map(|(_, folder)| folder.to_owned());
        assert_eq!(folders, BTreeSet::from(listed));
    }

    #[test]
    fn uses_are_found_in_paths_and_lists_and_not_in_comments_and_tests() {
        let source = "use seawall_core::plan::{groups, layers};\n\
             use seawall_core::{\n    abi::{program, ring},\n    ratio::Bps, wave,\n};\n\
             /// As [`seawall_core::cache`] says.\n\
             fn f() { seawall_core::launch::plan() }\n\
             #[cfg(test)]\nmod tests {\n    use seawall_core::tuning;\n}\n";
        let names: Vec<String> = used(source).into_iter().collect();
        assert_eq!(names, ["abi", "launch", "plan", "ratio", "wave"]);
    }

    #[test]
    fn tests_are_no_product() {
        assert!(is_product(Path::new("host/src/run/plan.rs")));
        for file in ["predict_tests.rs", "drive/tests.rs", "golden.txt"] {
            assert!(!is_product(Path::new(file)), "{file}");
        }
    }

    #[test]
    fn modules_without_users_rows_or_true_claims_are_named() {
        let module = |name: &str, users: &[&'static str]| Module {
            name: name.to_owned(),
            users: users.iter().copied().collect(),
        };
        let modules = [
            module("plan", &["library"]),
            module("tuning", &[]),
            module("wave", &["device"]),
        ];
        let table = format!(
            "{HEADING}\n\n| `plan` | device, library | order |\n| `tuning` | library | costs |\n\n## Next\n"
        );
        let refused = judge(&modules, &table).unwrap_err().to_string();
        for finding in [
            "plan: not used by \"device\"",
            "tuning: no user",
            "tuning: not used by \"library\"",
            "wave: no row",
        ] {
            assert!(refused.contains(finding), "{refused}");
        }
        assert!(!refused.contains("plan: no user"), "{refused}");
        assert!(judge(&[], "").is_err());
    }
}
