//! Capabilities of a device, as queried from the driver.
//!
//! Everything else in this module takes its numbers from [`DeviceLimits`]; no model is known by
//! name.

use super::DeviceLimits;
use super::driver::Driver;
use super::error::check;
use crate::backend::{BackendError, DeviceInfo};
use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute as Attribute};
use std::ffi::CStr;

/// Describes every CUDA device, in order of its number.
///
/// Creates no context and takes no device memory.
///
/// # Errors
/// [`BackendError::Unavailable`] without a usable driver or without devices;
/// [`BackendError::Cuda`] if a query fails.
pub fn probe() -> Result<Vec<DeviceLimits>, BackendError> {
    let driver = Driver::open()?;
    (0..count(driver)?)
        .map(|ordinal| describe(driver, ordinal).map(|(_, limits)| limits))
        .collect()
}

/// Returns the handle and the limits of one device.
///
/// # Errors
/// [`BackendError::Unavailable`] if there is no device with this number.
pub(super) fn find(driver: Driver, ordinal: u32) -> Result<(CUdevice, DeviceLimits), BackendError> {
    let devices = count(driver)?;
    if ordinal >= devices {
        return Err(BackendError::Unavailable {
            reason: format!("there is no device {ordinal}; {devices} are visible, numbered from 0"),
        });
    }
    describe(driver, ordinal)
}

fn count(_driver: Driver) -> Result<u32, BackendError> {
    let mut count = 0;
    // SAFETY: one valid integer to write to; the driver is initialised.
    check("counting devices", unsafe {
        sys::cuDeviceGetCount(&raw mut count)
    })?;
    match u32::try_from(count).unwrap_or(0) {
        0 => Err(BackendError::Unavailable {
            reason: "the driver sees no device; check nvidia-smi and CUDA_VISIBLE_DEVICES"
                .to_owned(),
        }),
        count => Ok(count),
    }
}

fn describe(driver: Driver, ordinal: u32) -> Result<(CUdevice, DeviceLimits), BackendError> {
    let mut device = 0;
    let number = i32::try_from(ordinal).unwrap_or(i32::MAX);
    // SAFETY: one valid handle to write to; the driver is initialised.
    check("finding the device", unsafe {
        sys::cuDeviceGet(&raw mut device, number)
    })?;
    let ask = |attribute| attribute_of(device, attribute);
    let limits = DeviceLimits {
        ordinal,
        info: info(device)?,
        driver_version: driver.version,
        cooperative_launch: ask(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0,
        warp_lanes: ask(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
        lanes_max: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        lanes_per_unit: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        blocks_per_unit: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)?,
        shared_block_bytes: ask(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
        shared_block_optin_bytes: ask(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        shared_unit_bytes: ask(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        )?,
        cache_bytes: ask(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
        kernel_timeout: ask(Attribute::CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT)? != 0,
    };
    Ok((device, limits))
}

fn info(device: CUdevice) -> Result<DeviceInfo, BackendError> {
    let major = attribute_of(
        device,
        Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
    )?;
    let minor = attribute_of(
        device,
        Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
    )?;
    let mut bytes = 0usize;
    // SAFETY: one valid integer to write to; the handle came from cuDeviceGet.
    check("asking for the device's memory", unsafe {
        sys::cuDeviceTotalMem_v2(&raw mut bytes, device)
    })?;
    Ok(DeviceInfo {
        name: name(device)?,
        compute_capability: Some((major, minor)),
        units: attribute_of(device, Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        memory_bytes: bytes as u64,
    })
}

fn name(device: CUdevice) -> Result<String, BackendError> {
    let mut text = [0u8; 256];
    // SAFETY: the length given is that of the buffer; the driver writes a
    // terminated string of at most that length.
    let answer =
        unsafe { sys::cuDeviceGetName(text.as_mut_ptr().cast(), text.len() as i32, device) };
    check("asking for the device's name", answer)?;
    let name = CStr::from_bytes_until_nul(&text).unwrap_or(c"unnamed device");
    Ok(name.to_string_lossy().into_owned())
}

fn attribute_of(device: CUdevice, attribute: Attribute) -> Result<u32, BackendError> {
    let mut value = 0;
    // SAFETY: one valid integer to write to; the handle came from cuDeviceGet.
    let answer = unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) };
    check("asking for the device's limits", answer)?;
    Ok(u32::try_from(value).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probing_lists_devices_or_reports_the_reason() {
        match probe() {
            Ok(devices) => assert!(devices.iter().all(|device| device.info.units > 0)),
            Err(error) => assert!(matches!(error, BackendError::Unavailable { .. }), "{error}"),
        }
    }
}
