//! `cargo xtask msrv`: no package may ask for a newer compiler than promised.
//!
//! The promise is `rust-version` in the root manifest. Packages that state none pass
//! here; the build tests those.

use crate::error::{Error, refuse_any};
use crate::metadata::{self, Package};

/// The package whose `rust-version` represents the workspace's.
const OWN: &str = "seawall";

pub(crate) fn run() -> Result<(), Error> {
    let packages = metadata::packages()?;
    let own = packages.iter().find(|package| package.name == OWN);
    let promised = own.and_then(|package| package.rust_version.clone());
    let promised = promised.ok_or_else(|| {
        Error::output(
            "cargo metadata",
            format!("package {OWN} has no rust-version"),
        )
    })?;
    let findings = newer(&packages, &promised);
    refuse_any(
        "packages that ask for a newer compiler than the workspace promises",
        findings,
        "lock an older version with `cargo update --precise`, or raise rust-version",
    )?;
    println!("{} packages build with Rust {promised}", packages.len());
    Ok(())
}

fn newer(packages: &[Package], promised: &str) -> Vec<String> {
    let asks = |package: &Package| {
        let version = package.rust_version.as_deref()?;
        let line = format!("{}: needs {version}, promised {promised}", package.label());
        (parts(version) > parts(promised)).then_some(line)
    };
    packages.iter().filter_map(asks).collect()
}

/// `1.63` and `1.63.0` are the same version.
fn parts(version: &str) -> [u32; 3] {
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or(0));
    [(); 3].map(|()| numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(rust_version: Option<&str>) -> Package {
        Package {
            name: "any".to_owned(),
            version: "1.0.0".to_owned(),
            license: None,
            rust_version: rust_version.map(str::to_owned),
            source: None,
        }
    }

    #[test]
    fn versions_compare_as_numbers() {
        for (asked, promised, is_newer) in [
            (Some("1.9"), "1.88", false),
            (Some("1.88.0"), "1.88", false),
            (Some("1.88.1"), "1.88", true),
            (Some("1.100"), "1.88", true),
            (None, "1.88", false),
        ] {
            let found = newer(&[package(asked)], promised);
            assert_eq!(found.len(), usize::from(is_newer), "{asked:?} {promised}");
        }
    }
}
