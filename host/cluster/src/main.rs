//! The program `seawall-cluster`: `seawall run` on the ranks of an MPI job.

use seawall_cluster::Fabric;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: seawall_cli::Allocator = seawall_cli::Allocator::new();

fn main() -> ExitCode {
    let Some(fabric) = Fabric::start() else {
        eprintln!("seawall-cluster: MPI was started before, or serves no thread but the first");
        return ExitCode::FAILURE;
    };
    let [own, count] = fabric.local_ranks();
    let local = seawall_cli::LocalRanks { own, count };
    fabric.run(move |link| seawall_cli::main_on_ranks(Box::new(link), local))
}
