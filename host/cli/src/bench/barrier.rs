//! The grid barrier at several shapes against that of cooperative groups.

use super::BenchError;
use super::row::{Baseline, Clock, Figure, Floor, Row};
use super::setting::Setting;
use seawall::backend::cuda::measure::Meter;

/// Lanes of a block in each shape, with one block per multiprocessor.
const LANES: [u32; 5] = [32, 128, 256, 512, 1024];

const FLOOR: (u32, f64) = (256, 0.92);

pub(super) fn rows(setting: &mut Setting<'_>) -> Result<(), BenchError> {
    let Some(limits) = setting.gpu.clone() else {
        setting.note("the barrier section is about a GPU alone".to_owned());
        return Ok(());
    };
    setting.say("grid barriers");
    let mut meter = Meter::open(limits.ordinal)?;
    let blocks = limits.info.units;
    let arguments: Vec<u32> = LANES.iter().flat_map(|lanes| [blocks, *lanes]).collect();
    // Ours and theirs run alternately, so both are measured within seconds.
    let theirs = setting.compare("barrier", &arguments);
    for lanes in LANES {
        let (ns, shape) = meter.barrier_ns(Some(lanes), Some(blocks))?;
        let output = theirs.clone();
        let theirs_ns = output.and_then(|output| beside(&output, shape.blocks, lanes));
        let baseline = Baseline::of("cooperative groups", theirs_ns);
        let floor = (lanes == FLOOR.0).then_some(Floor::Ratio(FLOOR.1));
        let what = format!("{} blocks of {lanes} lanes", shape.blocks);
        let row = Row::new(what, Clock::Device, Figure::new("seawall", ns), baseline);
        setting.push(row.with_floor(floor));
    }
    Ok(())
}

/// Returns the time in the line of this shape.
fn beside(output: &str, blocks: u32, lanes: u32) -> Result<f64, String> {
    let line = output.lines().find_map(|line| {
        let [of_blocks, of_lanes, ns] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return None;
        };
        let same = of_blocks.parse() == Ok(blocks) && of_lanes.parse() == Ok(lanes);
        same.then(|| ns.parse().ok())?
    });
    line.ok_or_else(|| "not measured".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_finds_its_own_line() {
        let output = "132 32 954.0\n132 256 967.5\n";
        assert_eq!(beside(output, 132, 256), Ok(967.5));
        assert!(beside(output, 132, 512).is_err());
        assert!(beside("132 256 fast\n", 132, 256).is_err());
    }
}
