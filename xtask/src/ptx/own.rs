//! A crate with custom waves, as described by Cargo.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;
use crate::metadata;
use crate::ptx::targets::Target;

#[derive(Debug)]
pub(crate) struct OwnCrate {
    pub(crate) package: String,
    /// Name of its library, as the compiler writes it.
    pub(crate) library: String,
    pub(crate) manifest: PathBuf,
    folder: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<CargoTarget>,
}

#[derive(Deserialize)]
struct CargoTarget {
    name: String,
    kind: Vec<String>,
}

impl OwnCrate {
    /// Returns the crate in `folder`.
    pub(crate) fn find(folder: &Path) -> Result<Self, Error> {
        let manifest = folder.join("Cargo.toml");
        let manifest = manifest
            .canonicalize()
            .map_err(Error::file("looking for", &manifest))?;
        let path = manifest.to_string_lossy();
        let packages = metadata::described(&["--no-deps", "--manifest-path", &path])?;
        Self::of(packages, manifest)
    }

    fn of(packages: Vec<Package>, manifest: PathBuf) -> Result<Self, Error> {
        let refuse = |problem: String| Error::output("cargo metadata", problem);
        let is_meant = |package: &Package| package.manifest_path == manifest;
        let package = packages.into_iter().find(is_meant);
        let package = package.ok_or_else(|| refuse("the folder holds no package".to_owned()))?;
        let is_library =
            |target: &CargoTarget| target.kind.iter().any(|kind| kind.ends_with("lib"));
        let library = package.targets.into_iter().find(is_library);
        let library = library.ok_or_else(|| {
            refuse(format!(
                "package {} has no library; put its waves into src/lib.rs",
                package.name
            ))
        })?;
        Ok(Self {
            package: package.name,
            library: library.name.replace('-', "_"),
            folder: manifest.parent().unwrap_or(&manifest).to_path_buf(),
            manifest,
        })
    }

    pub(crate) fn output(&self, target: &Target) -> PathBuf {
        let name = format!("{}.{}.ptx", self.package, target.cpu());
        self.folder.join("ptx").join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::targets::TARGETS;

    fn packages(kind: &str) -> Vec<Package> {
        let text = format!(
            r#"{{"packages":[{{"name":"my-waves","manifest_path":"/a/Cargo.toml",
            "targets":[{{"name":"my-waves","kind":["{kind}"]}}]}}]}}"#
        );
        metadata::parsed(&text).unwrap()
    }

    #[test]
    fn the_library_of_a_package_is_found_and_its_files_are_beside_it() {
        let own = OwnCrate::of(packages("lib"), "/a/Cargo.toml".into()).unwrap();
        assert_eq!(
            (&own.package[..], &own.library[..]),
            ("my-waves", "my_waves")
        );
        let file = Path::new("/a/ptx/my-waves.sm_70.ptx");
        assert_eq!(own.output(&TARGETS[0]), file);
    }

    #[test]
    fn a_package_without_a_library_is_refused_with_what_to_do() {
        let error = OwnCrate::of(packages("bin"), "/a/Cargo.toml".into()).unwrap_err();
        assert!(error.to_string().contains("src/lib.rs"), "{error}");
        let other = OwnCrate::of(packages("lib"), "/b/Cargo.toml".into()).unwrap_err();
        assert!(other.to_string().contains("no package"), "{other}");
    }
}
