//! `seawall info`: shows this machine and the content of this binary.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::CliError;
use super::output::show;
use super::progress::ProgressLine;
use seawall::backend::cpu::available_threads;
use seawall::backend::cuda::{self, DeviceLimits};
use seawall::units::{bytes, counted};

mod costs;
mod kernels;
mod machine;

use costs::CostReport;
use kernels::KernelFile;
use machine::Cpu;

const EXAMPLES: &str = "\
Examples:
  seawall info
  seawall info --calibrate
  seawall info --calibrate --tune
  seawall info --json | jq '.devices[].name'";

/// Show the CPU, the GPUs, the costs of work on them and the embedded kernels.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct InfoArgs {
    /// Measure the costs of work here and store them in the user's cache folder, for --backend
    /// auto and the planner.
    #[arg(long)]
    calibrate: bool,
    /// Also try which lanes and limits of searches are fastest here, and store those. Compiling
    /// the kernels for every candidate takes minutes the first time on a GPU.
    #[arg(long, requires = "calibrate")]
    tune: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Everything that the command shows.
#[derive(Serialize)]
struct Info {
    version: &'static str,
    cpu: Cpu,
    devices: Vec<Device>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_device: Option<String>,
    costs: CostReport,
    kernels: Vec<KernelFile>,
    /// Machines with precompiled kernels.
    precompiled: Vec<String>,
}

/// One GPU.
#[derive(Serialize)]
struct Device {
    ordinal: u32,
    name: String,
    compute_capability: String,
    multiprocessors: u32,
    memory_bytes: u64,
    cuda_version: String,
    cooperative_launch: bool,
    warp_lanes: u32,
    lanes_per_block_max: u32,
    lanes_per_multiprocessor: u32,
    shared_bytes_per_block: u32,
    l2_cache_bytes: u32,
    kernel_timeout: bool,
}

impl From<DeviceLimits> for Device {
    fn from(limits: DeviceLimits) -> Self {
        let (major, minor) = limits.info.compute_capability.unwrap_or_default();
        Self {
            ordinal: limits.ordinal,
            cuda_version: limits.driver_text(),
            name: limits.info.name,
            compute_capability: format!("{major}.{minor}"),
            multiprocessors: limits.info.units,
            memory_bytes: limits.info.memory_bytes,
            cooperative_launch: limits.cooperative_launch,
            warp_lanes: limits.warp_lanes,
            lanes_per_block_max: limits.lanes_max,
            lanes_per_multiprocessor: limits.lanes_per_unit,
            shared_bytes_per_block: limits.shared_block_bytes,
            l2_cache_bytes: limits.cache_bytes,
            kernel_timeout: limits.kernel_timeout,
        }
    }
}

impl Info {
    fn gather(args: &InfoArgs) -> Result<Self, CliError> {
        let (devices, no_device) = match cuda::probe() {
            Ok(found) => (found.into_iter().map(Device::from).collect(), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        if args.calibrate {
            let line = ProgressLine::new(args.json);
            costs::calibrate(&devices, args.tune, &|text| line.say(text))?;
        }
        let version = env!("CARGO_PKG_VERSION");
        Ok(Self {
            costs: CostReport::gather(&devices, available_threads().get()),
            version,
            cpu: Cpu::gather(),
            devices,
            no_device,
            kernels: kernels::embedded(),
            precompiled: cuda::precompiled_for(),
        })
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "seawall {}\n", self.version)?;
        writeln!(out, "CPU  {}", self.cpu)?;
        for device in &self.devices {
            device.write_text(out)?;
        }
        if let Some(reason) = &self.no_device {
            writeln!(out, "GPU  none: {reason}")?;
        }
        self.costs.write_text(out)?;
        writeln!(out, "\nEmbedded kernels")?;
        self.kernels
            .iter()
            .try_for_each(|file| file.write_text(out))?;
        if self.precompiled.is_empty() {
            return writeln!(
                out,
                "  compiled by the driver at the first use on a machine"
            );
        }
        let machines = self.precompiled.join(", ");
        writeln!(
            out,
            "  machine code for {machines}: a first run compiles nothing there"
        )
    }
}

impl Device {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "GPU  {}: {}, compute capability {}, {}, {}, CUDA {}",
            self.ordinal,
            self.name,
            self.compute_capability,
            counted(u64::from(self.multiprocessors), "multiprocessor"),
            bytes(self.memory_bytes),
            self.cuda_version
        )?;
        writeln!(
            out,
            "     blocks of up to {} lanes, {} lanes a multiprocessor, {} shared a block, {} of L2 cache",
            self.lanes_per_block_max,
            self.lanes_per_multiprocessor,
            bytes(u64::from(self.shared_bytes_per_block)),
            bytes(u64::from(self.l2_cache_bytes))
        )?;
        let cooperative = if self.cooperative_launch {
            "mega runs here"
        } else {
            "no cooperative launch: mega cannot run"
        };
        let timeout = if self.kernel_timeout {
            "; the system ends long kernels on this device"
        } else {
            ""
        };
        writeln!(out, "     {cooperative}{timeout}")
    }
}

/// Measures if requested, collects and shows; a missing GPU is a line, not a failure.
pub(super) fn command(args: &InfoArgs) -> Result<ExitCode, CliError> {
    let info = Info::gather(args)?;
    show(args.json, &info, |out| info.write_text(out))?;
    Ok(ExitCode::SUCCESS)
}
