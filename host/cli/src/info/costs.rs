//! Costs of work on this machine, as measured.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use crate::CliError;
use seawall::calibrate::store::{self, StoreError};
use seawall::calibrate::{Calibration, GpuTuning, Key, SearchTuning};
use seawall::calibrate::{measure, tune};
use seawall::cost::{Costs, CpuCosts, GpuCosts, MachineCosts};
use seawall::units::{Nanoseconds, counted};

use super::Device;

/// The costs that predict runs on this machine.
#[derive(Debug, Serialize)]
pub(super) struct CostReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored: Option<String>,
    cpu_measured: bool,
    cpu: CpuCosts,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_tuned: Option<SearchTuning>,
    gpus: Vec<GpuReport>,
}

#[derive(Debug, Serialize)]
struct GpuReport {
    ordinal: u32,
    measured: bool,
    costs: GpuCosts,
    #[serde(skip_serializing_if = "Option::is_none")]
    tuned: Option<GpuTuning>,
}

/// Measures the CPU and every GPU, tunes their settings if `tune`, and writes the user's file.
pub(super) fn calibrate(
    devices: &[Device],
    tunes: bool,
    say: &dyn Fn(String),
) -> Result<(), CliError> {
    let mut calibration = Calibration::load().ok().flatten().unwrap_or_default();
    say("measuring the CPU".to_owned());
    calibration.set_cpu(measure::cpu()?);
    if tunes {
        say("tuning the CPU".to_owned());
        calibration.tune_cpu(tune::cpu()?);
    }
    for device in devices {
        say(format!("measuring GPU {}", device.ordinal));
        let (key, costs) = measure::gpu(device.ordinal)?;
        calibration.set_gpu(key.clone(), costs);
        if tunes {
            calibration.tune_gpu(&key, tune::gpu(device.ordinal, say)?);
        }
    }
    calibration.save()?;
    Ok(())
}

impl CostReport {
    pub(super) fn gather(devices: &[Device], threads: usize) -> Self {
        let (found, ignored) = match Calibration::load() {
            Ok(found) => (found, None),
            Err(error) => (None, Some(StoreError::to_string(&error))),
        };
        let file = found.as_ref().and_then(|_| store::path().ok());
        let calibration = found.unwrap_or_default();
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        let gpu = |device: &Device| {
            let key = Key {
                device: device.name.clone(),
                driver: device.cuda_version.clone(),
            };
            let Costs { gpu, .. } = calibration.costs(threads, Some(&key));
            GpuReport {
                ordinal: device.ordinal,
                measured: calibration.gpu(&key).is_some(),
                costs: gpu,
                tuned: calibration.gpu_tuning(&key),
            }
        };
        Self {
            file,
            ignored,
            cpu_measured: calibration.cpu(threads).is_some(),
            cpu: calibration.costs(threads, None).cpu,
            cpu_tuned: calibration.cpu_tuning(threads),
            gpus: devices.iter().map(gpu).collect(),
        }
    }

    pub(super) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        match (&self.file, &self.ignored) {
            (_, Some(why)) => {
                writeln!(out, "\nCosts, defaults: the calibration was ignored: {why}")?
            }
            (Some(file), None) => writeln!(out, "\nCosts, from {}", file.display())?,
            (None, None) => writeln!(
                out,
                "\nCosts, defaults: `seawall info --calibrate` measures them in about a second"
            )?,
        }
        let threads = counted(u64::from(self.cpu.threads), "thread");
        self.row(out, "CPU, one thread", self.cpu_measured, &self.cpu.one)?;
        if self.cpu.threads > 1 {
            let name = format!("CPU, {threads}");
            self.row(out, &name, self.cpu_measured, &self.cpu.all)?;
            writeln!(
                out,
                "    barrier {}, a level of a long search, in which threads go ahead, {} and {:.3} ns a node",
                time(self.cpu.barrier_ns),
                time(self.cpu.ahead.level_ns),
                self.cpu.ahead.node_ns
            )?;
        }
        search_row(out, self.cpu_tuned.as_ref())?;
        self.gpus.iter().try_for_each(|gpu| {
            let name = format!("GPU {}", gpu.ordinal);
            self.row(out, &name, gpu.measured, &gpu.costs.run)?;
            let GpuCosts {
                barrier_ns,
                launch_ns,
                launch_sync_ns,
                readback_ns,
                graph_node_ns,
                memory_bytes_per_s,
                upload_byte_ns,
                ..
            } = gpu.costs;
            writeln!(
                out,
                "    grid barrier {}, launch {}, launch and wait {}, with readback {}, graph node {}",
                time(barrier_ns),
                time(launch_ns),
                time(launch_sync_ns),
                time(readback_ns),
                time(graph_node_ns)
            )?;
            writeln!(
                out,
                "    memory {:.0} GB/s, upload {:.1} GB/s",
                memory_bytes_per_s / 1e9,
                1.0 / upload_byte_ns.max(1e-9)
            )?;
            search_row(out, gpu.tuned.as_ref().map(|tuned| &tuned.search))?;
            lanes_row(out, gpu.tuned.as_ref())
        })
    }

    fn row(
        &self,
        out: &mut dyn Write,
        name: &str,
        measured: bool,
        costs: &MachineCosts,
    ) -> io::Result<()> {
        let how = if measured { "measured" } else { "default" };
        let [narrow, block, .., wide] = costs.levels;
        writeln!(
            out,
            "  {name} ({how}): a run {}, a level of a search {} (warp), {} (block), {} (grid)",
            time(costs.start_ns),
            time(narrow.level_ns),
            time(block.level_ns),
            time(wide.level_ns)
        )?;
        writeln!(
            out,
            "    a node {:.3} ns (block), {:.3} ns (grid), an edge {:.4} ns when searches may skip, {:.4} ns when not",
            block.node_ns, wide.node_ns, costs.edge_ns, costs.gather_ns
        )
    }
}

/// Limits of searches, if they were tuned.
fn search_row(out: &mut dyn Write, tuned: Option<&SearchTuning>) -> io::Result<()> {
    let Some(tuned) = tuned else { return Ok(()) };
    writeln!(
        out,
        "    tuned: searches alone up to {}, pulls from {:.1} % of the unexplored edges",
        counted(u64::from(tuned.narrow_nodes), "node"),
        f64::from(tuned.pull_density_ppm) / 1e4
    )
}

/// Lanes of a block, if they were tuned.
fn lanes_row(out: &mut dyn Write, tuned: Option<&GpuTuning>) -> io::Result<()> {
    let Some(tuned) = tuned else { return Ok(()) };
    let table = tuned.lanes;
    for (kind, lanes) in [
        ("higher degree", table.rich),
        ("low degree", table.lean),
        ("low degree, small", table.small),
    ] {
        writeln!(
            out,
            "    lanes on graphs of {kind}: searches {}, rounds {}, components {}, passes {}",
            lanes.searches, lanes.rounds, lanes.components, lanes.passes
        )?;
    }
    Ok(())
}

fn time(ns: f64) -> Nanoseconds {
    Nanoseconds(ns.round().max(0.0) as u64)
}
