//! Files as graphs.

use super::{GraphError, LoadOptions, Loaded, Progress};

/// Loads a file or standard input.
pub(super) fn load_file(
    name: &str,
    _options: &LoadOptions,
    _progress: Option<&dyn Progress>,
) -> Result<Loaded, GraphError> {
    Err(GraphError::UnknownSuffix { file: name.to_owned() })
}
