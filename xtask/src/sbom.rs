//! `cargo xtask sbom`: a bill of materials of the lock file, in CycloneDX 1.5.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use crate::error::Error;
use crate::metadata::{self, Package};
use crate::workspace;

/// Options of the command.
#[derive(Args)]
pub(crate) struct Options {
    /// File to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<(), Error> {
    let lock = workspace::read(&workspace::root().join("Cargo.lock"))?;
    let packages = metadata::packages()?;
    let text = format!("{:#}\n", bill(&packages, &lock));
    workspace::write(&options.out, &text)
}

/// The bill: the same for the same lock file, so it has neither a date nor a serial number.
fn bill(packages: &[Package], lock: &str) -> Value {
    let components: Vec<Value> = packages.iter().map(|it| component(it, lock)).collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "seawall",
            "version": env!("CARGO_PKG_VERSION")}},
        "components": components,
    })
}

fn component(package: &Package, lock: &str) -> Value {
    let (name, version) = (&package.name, &package.version);
    let mut component = json!({
        "type": "library", "name": name, "version": version,
        "purl": format!("pkg:cargo/{name}@{version}"),
    });
    if let Some(licence) = &package.license {
        // Some packages still write a slash for OR.
        let expression = licence.replace('/', " OR ");
        component["licenses"] = json!([{ "expression": expression }]);
    }
    if let Some(checksum) = checksum(lock, name, version) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

/// The checksum of a package in the lock file; the workspace's own have none.
fn checksum<'a>(lock: &'a str, name: &str, version: &str) -> Option<&'a str> {
    let head = format!("name = \"{name}\"\nversion = \"{version}\"\n");
    let rest = lock
        .split("[[package]]\n")
        .find(|it| it.starts_with(&head))?;
    let line = rest
        .lines()
        .find_map(|line| line.strip_prefix("checksum = \""))?;
    line.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, license: &str) -> Package {
        Package {
            name: name.to_owned(),
            version: "1.2.3".to_owned(),
            license: Some(license.to_owned()),
            rust_version: None,
            source: None,
        }
    }

    #[test]
    fn packages_have_address_licence_and_checksum() {
        let lock = "[[package]]\nname = \"b\"\nversion = \"1.2.3\"\nchecksum = \"no\"\n\n\
                    [[package]]\nname = \"a\"\nversion = \"1.2.3\"\nchecksum = \"cafe\"\n";
        let bill = bill(
            &[package("a", "MIT/Apache-2.0"), package("own", "MIT")],
            lock,
        );
        let [a, own] = [&bill["components"][0], &bill["components"][1]];
        assert_eq!(a["purl"], "pkg:cargo/a@1.2.3");
        assert_eq!(a["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(a["hashes"][0]["content"], "cafe");
        assert!(own["hashes"].is_null());
    }

    #[test]
    fn every_package_from_a_registry_has_a_checksum() {
        let lock = workspace::read(&workspace::root().join("Cargo.lock")).unwrap();
        for package in metadata::packages().unwrap() {
            let found = checksum(&lock, &package.name, &package.version);
            assert_eq!(
                found.is_some(),
                package.source.is_some(),
                "{}",
                package.label()
            );
        }
    }
}
