//! The same plan on the host; the microcontroller must print the same.

use seawall_core::topology::TopologyPolicy;
use seawall_firmware::program::PROGRAM;
use seawall_firmware::report::Report;
use seawall_firmware::steps::{self, ArenaSpace, CacheSpace, ExecutionSpace, GroupSpace, LayerSpace};

fn main() -> Result<(), String> {
    let (mut layers, mut groups) = (LayerSpace::new(), GroupSpace::new());
    let mut cache = CacheSpace::new(TopologyPolicy::DEFAULT);
    let (mut arena, mut execution) = (ArenaSpace::new(), ExecutionSpace::new());
    let groups = steps::groups(&PROGRAM, &mut groups).map_err(|error| error.to_string())?;
    let report = Report {
        layers: steps::layers(&PROGRAM, &mut layers).map_err(|error| error.to_string())?,
        groups,
        arena: steps::arena(&PROGRAM, &groups, &mut arena).map_err(|error| error.to_string())?,
        policies: steps::policies(&PROGRAM, &mut cache).map_err(|error| format!("{error:?}"))?,
        execution: steps::execution(&PROGRAM, &mut cache, &mut execution)
            .map_err(|error| error.to_string())?,
    };
    print!("{report}");
    Ok(())
}
