//! The dependency graph as `cargo metadata` reports it.
//!
//! Limited to the needs of the checks. Packages for other systems are in it too, so results hold
//! wherever the workspace is built.

use std::process::Command;

use serde::Deserialize;

use crate::error::Error;
use crate::process;
use crate::workspace;

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
struct Metadata {
    packages: Vec<Package>,
}

/// Every package of the lock file, the workspace's own included.
pub(crate) fn packages() -> Result<Vec<Package>, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(workspace::root())
        .args(["metadata", "--format-version=1", "--locked"]);
    let text = process::capture(&mut command)?;
    let metadata: Metadata =
        serde_json::from_str(&text).map_err(|error| Error::output("cargo metadata", error))?;
    Ok(metadata.packages)
}

impl Package {
    /// Name and version, for messages.
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}
