//! PTX of a set of waves.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Text before the hash of the kernels' sources in a PTX file.
#[cfg(any(test, feature = "cuda"))]
pub(crate) const SOURCES: &str = "// sources: sha256 ";

/// Kernels for machines of a capability and later ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ptx {
    /// Compute capability times ten.
    pub(super) capability: u32,
    /// Zero-terminated.
    pub(super) text: Arc<str>,
}

/// PTX of waves cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PtxError {
    /// A file or folder could not be read.
    #[error("reading {}: {source}; build it with cargo xtask build-ptx --crate", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A folder without PTX.
    #[error("{} holds no file that ends in .ptx; build it with cargo xtask build-ptx --crate", folder.display())]
    Nothing {
        /// The folder.
        folder: PathBuf,
    },
    /// Text without a machine.
    #[error(
        "the PTX names no machine in a line such as `.target sm_70`; build it with cargo xtask build-ptx --crate"
    )]
    NoTarget,
    /// A text with a zero byte, where a driver would stop reading.
    #[error("the PTX has a zero byte at {at}; build it anew with cargo xtask build-ptx --crate")]
    Zero {
        /// Its place.
        at: usize,
    },
    /// Kernels without waves of a crate.
    #[error(
        "the PTX holds no kernel {kernel}; call seawall_device::kernels! in the crate of the waves and build it with cargo xtask build-ptx --crate"
    )]
    NoKernel {
        /// The kernel that is missing.
        kernel: &'static str,
    },
}

/// The kernels of a set.
const KERNELS: [&str; 5] = [
    "seawall_own_mega",
    "seawall_own_group",
    "seawall_own_body",
    "seawall_own_batch",
    "seawall_own_serve",
];

impl Ptx {
    pub(super) fn new(mut text: String) -> Result<Self, PtxError> {
        if let Some(at) = text.find('\0') {
            return Err(PtxError::Zero { at });
        }
        let capability = capability_of(&text).ok_or(PtxError::NoTarget)?;
        let is_missing = |kernel: &&str| !text.contains(&format!(".entry {kernel}("));
        if let Some(kernel) = KERNELS.into_iter().find(is_missing) {
            return Err(PtxError::NoKernel { kernel });
        }
        text.push('\0');
        Ok(Self {
            capability,
            text: text.into(),
        })
    }
}

fn capability_of(text: &str) -> Option<u32> {
    let mut lines = text.lines();
    let target = lines.find_map(|line| line.trim().strip_prefix(".target sm_"))?;
    let end = target.find(|c: char| !c.is_ascii_digit());
    target[..end.unwrap_or(target.len())].parse().ok()
}

/// The hash of the kernels' sources in the first lines of a text.
#[cfg(any(test, feature = "cuda"))]
pub(crate) fn sources_of(text: &str) -> Option<&str> {
    let mut lines = text.lines().take(4);
    lines.find_map(|line| line.strip_prefix(SOURCES))
}

pub(super) fn read_all(folder: &Path) -> Result<Vec<String>, PtxError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| PtxError::File { path, source }
    };
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        if path.extension().is_some_and(|end| end == "ptx") {
            texts.push(std::fs::read_to_string(&path).map_err(failed(&path))?);
        }
    }
    if texts.is_empty() {
        let folder = folder.to_path_buf();
        return Err(PtxError::Nothing { folder });
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(target: &str, kernels: &[&str]) -> String {
        let entries = kernels
            .iter()
            .map(|name| format!(".visible .entry {name}(\n)\n"));
        format!(
            "{SOURCES}abc\n.target {target}\n{}",
            entries.collect::<String>()
        )
    }

    #[test]
    fn a_text_names_its_machine_and_its_sources() {
        let ptx = Ptx::new(text("sm_90, debug", &KERNELS)).unwrap();
        assert_eq!(ptx.capability, 90);
        assert_eq!(sources_of(&ptx.text), Some("abc"));
        assert!(ptx.text.ends_with('\0'));
    }

    #[test]
    fn text_that_no_driver_could_use_is_refused() {
        let none = Ptx::new("no PTX".to_owned());
        assert!(matches!(none, Err(PtxError::NoTarget)));
        let zero = Ptx::new(text("sm_70", &KERNELS) + "\0");
        assert!(matches!(zero, Err(PtxError::Zero { .. })));
        let few = Ptx::new(text("sm_70", &KERNELS[..4]));
        assert!(matches!(
            few,
            Err(PtxError::NoKernel {
                kernel: "seawall_own_serve"
            })
        ));
    }

    #[test]
    fn folders_without_ptx_are_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let empty = read_all(folder.path()).unwrap_err().to_string();
        assert!(empty.contains("no file that ends in .ptx"), "{empty}");
        let missing = read_all(&folder.path().join("missing")).unwrap_err();
        assert!(missing.to_string().contains("missing"), "{missing}");
    }
}
