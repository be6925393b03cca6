//! Plans as serde data, in the shape of the conformance vectors.
//!
//! Written by hand because layers and groups are runs of one flat array, which
//! no derive can know. Nothing is collected on the way.

use serde::ser::{Serialize, SerializeSeq, SerializeStruct, Serializer};

use super::{Arena, Groups, Layers};

struct Runs<I>(I);

impl<I> Serialize for Runs<I>
where
    I: ExactSizeIterator<Item: Serialize> + Clone,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut runs = serializer.serialize_seq(Some(self.0.len()))?;
        self.0
            .clone()
            .try_for_each(|run| runs.serialize_element(&run))?;
        runs.end()
    }
}

impl Serialize for Layers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut plan = serializer.serialize_struct("Layers", 2)?;
        plan.serialize_field("layers", &Runs(self.iter()))?;
        plan.serialize_field("global_barriers", &self.global_barriers())?;
        plan.end()
    }
}

impl Serialize for Groups<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let summary = self.summary();
        let mut plan = serializer.serialize_struct("Groups", 9)?;
        plan.serialize_field("groups", &Runs(self.iter().map(|group| group.waves)))?;
        plan.serialize_field("global_barriers", &summary.global_barriers)?;
        plan.serialize_field("lower_bound", &summary.lower_bound)?;
        plan.serialize_field("peak_frontier_bytes", &summary.peak_frontier_bytes)?;
        plan.serialize_field("peak_scratch_bytes", &summary.peak_scratch_bytes)?;
        plan.serialize_field("peak_output_bytes", &summary.peak_output_bytes)?;
        plan.serialize_field("peak_group_bytes", &summary.peak_group_bytes)?;
        plan.serialize_field(
            "amortized_readback_bytes",
            &summary.amortized_readback_bytes,
        )?;
        plan.serialize_field("max_group_width", &summary.max_group_width)?;
        plan.end()
    }
}

impl Serialize for Arena<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut arena = serializer.serialize_struct("Arena", 4)?;
        arena.serialize_field("bytes", &self.bytes())?;
        arena.serialize_field("lower_bound", &self.lower_bound())?;
        arena.serialize_field("alignment_bytes", &self.alignment_bytes())?;
        arena.serialize_field("offsets", &Runs(self.iter()))?;
        arena.end()
    }
}
