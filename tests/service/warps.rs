//! The kernel of a GPU's service on simulated warps.

#[test]
fn blocks_of_four_warps_answer_every_kind_of_query() {
    seawall_oracles::serving::warps::check();
}
