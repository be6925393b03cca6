//! Measured costs in the user's cache folder.
//!
//! One JSON file holds the CPU's costs and those of each GPU measured, keyed by name, driver and
//! Seawall's version. It is written whole or not at all ([`crate::graph::file`]). A file that
//! cannot be used is ignored, with a reason for the caller; nothing is guessed from a damaged one.

use super::tuning::{CpuTuning, GpuTuning, SearchTuning};
use crate::backend::Settings;
use crate::backend::cuda::{self, DeviceLimits};
use crate::cost::{Costs, CpuCosts, GpuCosts};
use crate::graph::file::{WriteError, write_whole};
use etcetera::BaseStrategy;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Largest file that is read, bytes.
const FILE_MAX: u64 = 1 << 20;

const FORMAT: &str = "seawall calibration 3";

/// Most GPUs kept in a file.
const GPUS_MAX: usize = 64;

/// Key of a GPU's costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Name by the driver.
    pub device: String,
    /// CUDA version of the driver.
    pub driver: String,
}

impl Key {
    /// The key of a device.
    #[must_use]
    pub fn of_device(limits: &DeviceLimits) -> Self {
        Self {
            device: limits.info.name.clone(),
            driver: limits.driver_text(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct KeyedGpu {
    #[serde(flatten)]
    key: Key,
    costs: GpuCosts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tuned: Option<GpuTuning>,
}

impl KeyedGpu {
    fn is_tunable(&self) -> bool {
        self.tuned.as_ref().is_none_or(GpuTuning::is_sane)
    }
}

/// The costs that were measured on this machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    format: String,
    version: String,
    cpu: Option<CpuCosts>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpu_tuned: Option<CpuTuning>,
    gpus: Vec<KeyedGpu>,
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cpu: None,
            cpu_tuned: None,
            gpus: Vec::new(),
        }
    }
}

/// Reason why the file is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system has no folder for caches.
    #[error("there is no folder for caches: set HOME or XDG_CACHE_HOME")]
    NoFolder,
    /// Reading or writing failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The file is not a calibration of this version.
    #[error("{}: {problem}; measure this machine again to write it anew", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// A problem of it.
        problem: String,
    },
}

/// The file: `seawall/calibration.json` in the user's cache folder.
///
/// # Errors
/// [`StoreError::NoFolder`] when the system names none.
pub fn path() -> Result<PathBuf, StoreError> {
    let folders = etcetera::choose_base_strategy().map_err(|_| StoreError::NoFolder)?;
    Ok(folders.cache_dir().join("seawall").join("calibration.json"))
}

impl Calibration {
    /// Reads the user's file; `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError`] if there is one that cannot be used.
    pub fn load() -> Result<Option<Self>, StoreError> {
        Self::load_from(&path()?)
    }

    /// Works as [`Self::load`], for a given file.
    ///
    /// # Errors
    /// As for [`Self::load`].
    pub fn load_from(path: &Path) -> Result<Option<Self>, StoreError> {
        let io = |source: io::Error| StoreError::Io {
            path: path.to_owned(),
            source,
        };
        let file = match std::fs::metadata(path) {
            // A pipe would be waited for, and a device may never end.
            Ok(found) if !found.is_file() => return Err(io(io::Error::other("it is no file"))),
            Ok(_) => std::fs::File::open(path).map_err(io)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(error)),
        };
        let mut text = Vec::new();
        file.take(FILE_MAX + 1).read_to_end(&mut text).map_err(io)?;
        Self::parse(&text)
            .map(Some)
            .map_err(|problem| StoreError::Foreign {
                path: path.to_owned(),
                problem,
            })
    }

    fn parse(text: &[u8]) -> Result<Self, String> {
        if text.len() as u64 > FILE_MAX {
            return Err(format!("it is larger than {FILE_MAX} bytes"));
        }
        let found: Self = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        if found.format != FORMAT {
            return Err(format!("its format is {:?}, not {FORMAT:?}", found.format));
        }
        let version = env!("CARGO_PKG_VERSION");
        if found.version != version {
            let of = &found.version;
            return Err(format!(
                "it was measured by version {of}, this is {version}"
            ));
        }
        let sane = found.cpu.as_ref().is_none_or(CpuCosts::is_sane)
            && found.gpus.iter().all(|gpu| gpu.costs.is_sane());
        if !sane {
            return Err("it holds a figure that is no time".to_owned());
        }
        let tuned = found.cpu_tuned.as_ref();
        let is_tunable = tuned.is_none_or(|tuned| tuned.search.is_sane())
            && found.gpus.iter().all(KeyedGpu::is_tunable);
        if !is_tunable {
            return Err("it holds a choice that tuning does not make".to_owned());
        }
        Ok(found)
    }

    /// Writes the user's file; returns its path.
    ///
    /// # Errors
    /// [`StoreError`] without a folder or if the system refuses.
    pub fn save(&self) -> Result<PathBuf, StoreError> {
        let path = path()?;
        self.save_to(&path)?;
        Ok(path)
    }

    /// Works as [`Self::save`], for a given file. Readers see the old file or the new one and
    /// never a part.
    ///
    /// # Errors
    /// As for [`Self::save`].
    pub fn save_to(&self, path: &Path) -> Result<(), StoreError> {
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|source| StoreError::Io {
            path: folder.to_owned(),
            source,
        })?;
        write_whole(path, |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })?;
        Ok(())
    }

    /// Stores the CPU's costs.
    pub fn set_cpu(&mut self, costs: CpuCosts) {
        self.cpu = Some(costs);
    }

    /// Stores a GPU's costs, replacing older ones of the same GPU and driver.
    pub fn set_gpu(&mut self, key: Key, costs: GpuCosts) {
        let tuned = self.gpu_tuning(&key);
        self.gpus.retain(|gpu| gpu.key != key);
        self.gpus.insert(0, KeyedGpu { key, costs, tuned });
        self.gpus.truncate(GPUS_MAX);
    }

    /// Stores the choices that are best on the CPU.
    pub fn tune_cpu(&mut self, tuned: CpuTuning) {
        self.cpu_tuned = Some(tuned);
    }

    /// Stores the choices that are best on a GPU whose costs are stored.
    pub fn tune_gpu(&mut self, key: &Key, tuned: GpuTuning) {
        let found = self.gpus.iter_mut().find(|gpu| gpu.key == *key);
        found.into_iter().for_each(|gpu| gpu.tuned = Some(tuned));
    }

    /// The best limits of searches on that many threads, if they were tuned.
    #[must_use]
    pub fn cpu_tuning(&self, threads: u32) -> Option<SearchTuning> {
        let tuned = self.cpu_tuned.filter(|tuned| tuned.threads == threads);
        tuned.map(|tuned| tuned.search)
    }

    /// The best choices on that GPU with that driver, if they were tuned.
    #[must_use]
    pub fn gpu_tuning(&self, key: &Key) -> Option<GpuTuning> {
        let gpu = self.gpus.iter().find(|gpu| gpu.key == *key)?;
        gpu.tuned
    }

    /// Measured costs of that many threads.
    #[must_use]
    pub fn cpu(&self, threads: u32) -> Option<CpuCosts> {
        let measured = self.cpu?;
        if threads == 1 {
            return Some(CpuCosts {
                threads: 1,
                barrier_ns: 0.0,
                all: measured.one,
                ahead: measured.one.levels[1],
                ..measured
            });
        }
        (measured.threads == threads).then_some(measured)
    }

    /// Measured costs of that GPU with that driver.
    #[must_use]
    pub fn gpu(&self, key: &Key) -> Option<GpuCosts> {
        let gpu = self.gpus.iter().find(|gpu| gpu.key == *key)?;
        Some(gpu.costs)
    }

    /// Measured costs if there are any, otherwise defaults.
    #[must_use]
    pub fn costs(&self, threads: u32, gpu: Option<&Key>) -> Costs {
        let measured = gpu.and_then(|key| self.gpu(key));
        Costs {
            cpu: self
                .cpu(threads)
                .unwrap_or_else(|| CpuCosts::default_for(threads)),
            gpu: measured.unwrap_or_default(),
        }
    }
}

/// Returns the settings of sessions on GPU `ordinal` that the user's calibration has; the defaults
/// without one.
#[must_use]
pub fn tuned_settings(ordinal: u32) -> Settings {
    let devices = cuda::probe().unwrap_or_default();
    let limits = devices.iter().find(|limits| limits.ordinal == ordinal);
    let calibration = Calibration::load().ok().flatten();
    let tuned = limits
        .zip(calibration)
        .and_then(|(limits, calibration)| calibration.gpu_tuning(&Key::of_device(limits)));
    Settings {
        lane_table: tuned.map(|tuned| tuned.lanes).unwrap_or_default(),
        ..Settings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(driver: &str) -> Key {
        Key {
            device: "Some GPU".to_owned(),
            driver: driver.to_owned(),
        }
    }

    fn measured() -> Calibration {
        let mut calibration = Calibration::default();
        calibration.set_cpu(CpuCosts::default_for(8));
        let costs = GpuCosts {
            barrier_ns: 777.0,
            ..GpuCosts::default()
        };
        calibration.set_gpu(key("13.0"), costs);
        calibration
    }

    #[test]
    fn costs_survive_the_file_and_are_found_by_their_keys_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep").join("costs.json");
        assert_eq!(Calibration::load_from(&file).unwrap(), None);
        measured().save_to(&file).unwrap();
        let read = Calibration::load_from(&file).unwrap().unwrap();
        assert_eq!(read, measured());
        assert_eq!(read.costs(8, Some(&key("13.0"))).gpu.barrier_ns, 777.0);
        assert_eq!(read.gpu(&key("12.9")), None);
        assert_eq!(read.cpu(7), None);
        let one = read.cpu(1).unwrap();
        assert_eq!((one.threads, one.all), (1, one.one));
        assert_eq!(read.costs(7, None).cpu, CpuCosts::default_for(7));
    }

    #[test]
    fn a_second_measurement_replaces_the_first() {
        let mut calibration = measured();
        calibration.set_gpu(key("13.0"), GpuCosts::default());
        assert_eq!(calibration.gpu(&key("13.0")), Some(GpuCosts::default()));
        assert_eq!(calibration.gpus.len(), 1);
    }

    #[test]
    fn choices_survive_the_file_and_another_measurement_of_costs() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("costs.json");
        let mut calibration = measured();
        let search = SearchTuning {
            narrow_nodes: 256,
            pull_density_ppm: 100_000,
        };
        let tuned = GpuTuning {
            search,
            ..GpuTuning::default()
        };
        calibration.tune_cpu(CpuTuning { threads: 8, search });
        calibration.tune_gpu(&key("13.0"), tuned);
        calibration.tune_gpu(&key("12.9"), tuned);
        calibration.set_gpu(key("13.0"), GpuCosts::default());
        calibration.save_to(&file).unwrap();
        let read = Calibration::load_from(&file).unwrap().unwrap();
        assert_eq!(read, calibration);
        assert_eq!(read.gpu_tuning(&key("13.0")), Some(tuned));
        assert_eq!(read.gpu_tuning(&key("12.9")), None);
        assert_eq!(
            (read.cpu_tuning(8), read.cpu_tuning(7)),
            (Some(search), None)
        );
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("256", "257000")).unwrap();
        let error = Calibration::load_from(&file).unwrap_err().to_string();
        assert!(error.contains("tuning does not make"), "{error}");
    }

    #[test]
    fn an_unusable_file_names_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("costs.json");
        let good = serde_json::to_string(&measured()).unwrap();
        #[cfg(unix)]
        {
            let device = Calibration::load_from(Path::new("/dev/null")).unwrap_err();
            assert!(device.to_string().contains("it is no file"), "{device}");
        }
        for (text, reason) in [
            ("", "EOF"),
            ("{\"format\": 3}", "invalid type"),
            (&good[..good.len() / 2], "EOF"),
            (&good.replace("calibration 3", "calibration 9"), "format"),
            (
                &good.replace("\"version\":\"", "\"version\":\"9"),
                "measured by version 9",
            ),
            (&good.replace("777.0", "-1.0"), "no time"),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = Calibration::load_from(&file).unwrap_err().to_string();
            assert!(
                error.contains(reason) && error.contains("costs.json"),
                "{error}"
            );
        }
        std::fs::write(&file, vec![b' '; FILE_MAX as usize + 1]).unwrap();
        let error = Calibration::load_from(&file).unwrap_err().to_string();
        assert!(error.contains("larger"), "{error}");
    }
}
