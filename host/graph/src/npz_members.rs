//! Members of `.npz` files in addition to SciPy's.

/// Ids of nodes.
pub(super) const IDS: &str = "seawall_ids";
/// Present if the numbers in `data` are no weights.
pub(super) const UNWEIGHTED: &str = "seawall_unweighted";
