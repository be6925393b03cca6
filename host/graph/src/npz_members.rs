//! Members of `.npz` files beside those of SciPy.

/// Ids of nodes.
pub(super) const IDS: &str = "seawall_ids";
/// There if the numbers in `data` are no weights.
pub(super) const UNWEIGHTED: &str = "seawall_unweighted";
