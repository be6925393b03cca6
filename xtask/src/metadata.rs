//! The dependency graph as `cargo metadata` reports it.
//!
//! Limited to the needs of the checks. Packages for other systems are in it too, so results hold
//! wherever the workspace is built.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::process;

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// SPDX expression.
    pub(crate) license: Option<String>,
    /// Oldest compiler, such as `1.63` or `1.63.0`.
    pub(crate) rust_version: Option<String>,
    /// `registry+…`, `git+…` or similar; `None` for the workspace's own.
    pub(crate) source: Option<String>,
}

#[derive(Deserialize)]
struct Metadata<P> {
    packages: Vec<P>,
}

/// Every package of the lock file, the workspace's own included.
pub(crate) fn packages() -> Result<Vec<Package>, Error> {
    described(&["--locked"])
}

/// The packages that `cargo metadata` describes with these options, by the fields of `P`.
pub(crate) fn described<P: DeserializeOwned>(options: &[&str]) -> Result<Vec<P>, Error> {
    let mut cargo = process::cargo();
    cargo.args(["metadata", "--format-version=1"]).args(options);
    parsed(&process::capture(&mut cargo)?)
}

/// The packages in the output of `cargo metadata`.
pub(crate) fn parsed<P: DeserializeOwned>(text: &str) -> Result<Vec<P>, Error> {
    let metadata: Result<Metadata<P>, _> = serde_json::from_str(text);
    let metadata = metadata.map_err(|error| Error::output("cargo metadata", error))?;
    Ok(metadata.packages)
}

impl Package {
    /// Name and version, for messages.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}
