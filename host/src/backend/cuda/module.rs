//! The embedded kernels, loaded for the present device.
//!
//! Machine code comes first, if there is some for the device. Otherwise the driver compiles the
//! PTX of a kernel on first use, with the functions that it calls and without the other kernels:
//! all of them together took the driver over 17 seconds on a GPU machine. The driver caches what
//! it compiled, so only the first use on a machine pays for it.

use super::bound::Bound;
use super::context::Context;
use super::embedded::{BASELINE, Embedded, HOPPER};
use super::entry::Entry;
use super::error::check;
use super::memory::DeviceMemory;
use super::precompiled;
use super::stream::Stream;
use super::text::only;
use crate::backend::BackendError;
use crate::own::{OwnWaves, sources_of};
use crate::units::elapsed_ns;
use cudarc::driver::sys::{
    self, CUfunction, CUfunction_attribute_enum as Attribute, CUjit_option, CUjitInputType,
    CUmodule,
};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Machines for which a kernel need not be compiled: `sm_90`. None if the code and the PTX are from
/// different sources.
#[must_use]
pub fn precompiled_for() -> Vec<String> {
    precompiled::machines(HOPPER.sources())
}

/// Oldest capability that the baseline runs on.
const CAPABILITY_MIN: (u32, u32) = (7, 0);
/// Bytes of the compiler's log that are kept.
const LOG_BYTES: usize = 8 << 10;

/// Returns the embedded kernels for a capability.
fn image_for(capability: (u32, u32)) -> Option<&'static Embedded> {
    match capability {
        (major, _) if major >= 9 => Some(&HOPPER),
        capability if capability >= CAPABILITY_MIN => Some(&BASELINE),
        _ => None,
    }
}

/// A kernel to compile: its name, its block size, and its text if another crate's waves have one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    entry: Entry,
    bound: Bound,
    own: Option<Arc<str>>,
}

/// A loaded kernel.
#[derive(Debug)]
struct Held {
    wanted: Wanted,
    raw: CUmodule,
}

/// The kernels that one device runs, loaded on demand.
#[derive(Debug)]
pub(super) struct Module {
    context: Rc<Context>,
    image: &'static Embedded,
    loaded: RefCell<Vec<Held>>,
    /// Modules of kernels with code of programs.
    linked: RefCell<Vec<CUmodule>>,
    load_ns: Cell<u64>,
}

impl Module {
    /// Chooses the embedded kernels for the context's device.
    ///
    /// # Errors
    /// [`BackendError::Unsupported`] for a device older than Volta.
    pub(super) fn load(context: &Rc<Context>) -> Result<Rc<Self>, BackendError> {
        let info = &context.limits().info;
        let capability = info.compute_capability.unwrap_or((0, 0));
        let image = image_for(capability).ok_or_else(|| BackendError::Unsupported {
            device: info.name.clone(),
            reason: format!(
                "its capability is {}.{}, 7.0 is the oldest that works",
                capability.0, capability.1
            ),
        })?;
        Ok(Rc::new(Self {
            context: Rc::clone(context),
            image,
            loaded: RefCell::default(),
            linked: RefCell::default(),
            load_ns: Cell::new(0),
        }))
    }

    /// Target of this embedded module.
    pub(super) const fn image(&self) -> &'static str {
        self.image.target()
    }

    /// Time that the driver took to compile the kernels requested so far, or to find them in its
    /// cache.
    pub(super) const fn load_ns(&self) -> u64 {
        self.load_ns.get()
    }

    /// The PTX of a set of waves for this device.
    ///
    /// # Errors
    /// [`BackendError::NoPtx`] if it has none, [`BackendError::OtherSources`] if it was built from
    /// other sources than the embedded kernels, with which it shares a run.
    pub(super) fn own_text(&self, own: &OwnWaves) -> Result<Arc<str>, BackendError> {
        let info = &self.context.limits().info;
        let text = own.ptx_for(info.compute_capability.unwrap_or((0, 0)));
        let text = text.ok_or_else(|| BackendError::NoPtx {
            device: info.name.clone(),
        })?;
        check_sources(text, self.image.sources())?;
        Ok(Arc::clone(text))
    }

    /// Returns the module that holds a kernel, compiling it if needed.
    fn holding(&self, wanted: Wanted) -> Result<CUmodule, BackendError> {
        let mut loaded = self.loaded.borrow_mut();
        if let Some(held) = loaded.iter().find(|held| held.wanted == wanted) {
            return Ok(held.raw);
        }
        let started = Instant::now();
        let Wanted { entry, bound, own } = &wanted;
        let text = own.as_deref();
        let precompiled = match own {
            None => self.precompiled(*entry, *bound),
            Some(_) => None,
        };
        let raw = match precompiled {
            Some(raw) => raw,
            None => {
                let text = only(text.unwrap_or_else(|| self.image.text()), *entry);
                compile(&bound.apply(text)).map_err(|error| self.context.explain(error))?
            }
        };
        let spent = elapsed_ns(started);
        self.load_ns.set(self.load_ns.get().saturating_add(spent));
        loaded.push(Held { wanted, raw });
        Ok(raw)
    }

    /// Code made in advance, unless the driver does not take it: an older one may not.
    fn precompiled(&self, entry: Entry, bound: Bound) -> Option<CUmodule> {
        let capability = self.context.limits().info.compute_capability?;
        let code = precompiled::code(self.image.sources(), capability, (entry, bound))?;
        load(&code).ok()
    }

    /// The context that the module lives in.
    pub(super) const fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Looks up a kernel, for blocks of any size that it takes.
    ///
    /// # Errors
    /// As [`Self::kernel_within`].
    pub(super) fn kernel(self: &Rc<Self>, entry: Entry) -> Result<Kernel, BackendError> {
        self.kernel_within(entry, Bound::ANY, None)
    }

    /// Looks up a kernel, for blocks within `bound`, in the text of another crate's waves if there
    /// is one.
    ///
    /// # Errors
    /// [`BackendError::Cuda`] with the compiler's log if it refuses;
    /// [`BackendError::MissingKernel`] if the text lacks the kernel.
    pub(super) fn kernel_within(
        self: &Rc<Self>,
        entry: Entry,
        bound: Bound,
        own: Option<Arc<str>>,
    ) -> Result<Kernel, BackendError> {
        let module = self.holding(Wanted { entry, bound, own })?;
        self.found(module, entry)
    }

    /// Looks up a kernel in a loaded module.
    fn found(self: &Rc<Self>, module: CUmodule, entry: Entry) -> Result<Kernel, BackendError> {
        let mut raw = std::ptr::null_mut();
        let name = entry.name();
        // SAFETY: one valid handle to write to; the module is loaded and the
        // name zero-terminated.
        let answer = unsafe { sys::cuModuleGetFunction(&raw mut raw, module, name.as_ptr()) };
        check("looking a kernel up", answer).map_err(|error| BackendError::MissingKernel {
            name: name.to_string_lossy().into_owned(),
            reason: error.to_string(),
        })?;
        Ok(Kernel {
            module: Rc::clone(self),
            raw,
            entry,
        })
    }
}

impl Module {
    /// The embedded kernels.
    pub(super) const fn embedded(&self) -> &'static Embedded {
        self.image
    }

    /// Loads kernels of programs of code with the functions of some, as [`assemble`] made them.
    ///
    /// # Errors
    /// As [`Self::kernel_within`].
    pub(super) fn linked_kernels(
        self: &Rc<Self>,
        entries: &[Entry],
        image: &[u8],
    ) -> Result<Vec<Kernel>, BackendError> {
        let raw = load(image).map_err(|error| self.context.explain(error))?;
        self.linked.borrow_mut().push(raw);
        entries
            .iter()
            .map(|entry| self.found(raw, *entry))
            .collect()
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if self.context.is_given_up() {
            return;
        }
        // Errors mean a broken context, which takes the module with it.
        let _ = self.context.bind();
        let loaded = self.loaded.get_mut().iter().map(|held| held.raw);
        for raw in loaded.chain(self.linked.get_mut().iter().copied()) {
            // SAFETY: loaded by `holding` or `linked_kernels`, unloaded once; kernels hold `self`.
            let _ = unsafe { sys::cuModuleUnload(raw) };
        }
    }
}

/// Refuses the PTX of waves that was built from other sources than the embedded kernels.
fn check_sources(own: &str, needed: &str) -> Result<(), BackendError> {
    let found = sources_of(own).unwrap_or("none");
    if found == needed {
        return Ok(());
    }
    Err(BackendError::OtherSources {
        found: found.to_owned(),
        needed: needed.to_owned(),
    })
}

/// Passes zero-terminated PTX to the driver, which compiles it.
fn compile(text: &str) -> Result<CUmodule, BackendError> {
    debug_assert!(text.ends_with('\0'));
    load(text.as_bytes())
}

/// Has the driver compile zero-terminated PTX for the device of the current context; returns the
/// machine code.
pub(super) fn assemble(text: &str) -> Result<Vec<u8>, BackendError> {
    debug_assert!(text.ends_with('\0'));
    let mut log = Log::new();
    let (mut options, mut values) = log.options();
    let mut state = std::ptr::null_mut();
    // SAFETY: both arrays have two elements, and they and the log outlive the linker.
    let answer = unsafe {
        sys::cuLinkCreate_v2(
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
            &raw mut state,
        )
    };
    check("opening the driver's compiler", answer)?;
    let (mut code, mut bytes) = (std::ptr::null_mut(), 0);
    // SAFETY: the linker is open, and the text is zero-terminated and as long as is said. It copies
    // the text, and owns the code until it is closed.
    let answer = unsafe {
        let added = sys::cuLinkAddData_v2(
            state,
            CUjitInputType::CU_JIT_INPUT_PTX,
            text.as_ptr().cast_mut().cast(),
            text.len(),
            c"seawall".as_ptr(),
            0,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
        );
        match added {
            sys::CUresult::CUDA_SUCCESS => {
                sys::cuLinkComplete(state, &raw mut code, &raw mut bytes)
            }
            refused => refused,
        }
    };
    let made = check("compiling a program", answer).map(|()| {
        // SAFETY: the linker says where the code is and how long.
        unsafe { std::slice::from_raw_parts(code.cast::<u8>(), bytes) }.to_vec()
    });
    // SAFETY: the linker is open, and nothing uses it afterwards.
    unsafe { sys::cuLinkDestroy(state) };
    made.map_err(|error| log.explain(error))
}

/// Passes an image to the driver: zero-terminated PTX, or machine code.
fn load(image: &[u8]) -> Result<CUmodule, BackendError> {
    let mut raw = std::ptr::null_mut();
    let mut log = Log::new();
    let (mut options, mut values) = log.options();
    // SAFETY: PTX is zero-terminated, and machine code says how long it is, in a header
    // that the assembler wrote; both arrays have two elements and outlive the call, as
    // does the log of the length given.
    let answer = unsafe {
        sys::cuModuleLoadDataEx(
            &raw mut raw,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    check("compiling the embedded kernels", answer).map_err(|error| log.explain(error))?;
    Ok(raw)
}

/// Space for the log of the driver's compiler.
struct Log(Vec<u8>);

impl Log {
    fn new() -> Self {
        Self(vec![0; LOG_BYTES])
    }

    /// The options of a call that fills it, which must not outlast it.
    fn options(&mut self) -> ([CUjit_option; 2], [*mut c_void; 2]) {
        let options = [
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        // The interface passes the length as a pointer's value.
        let values = [
            self.0.as_mut_ptr().cast::<c_void>(),
            std::ptr::without_provenance_mut(self.0.len()),
        ];
        (options, values)
    }

    /// Adds it to the error's name.
    fn explain(&self, error: BackendError) -> BackendError {
        let text = CStr::from_bytes_until_nul(&self.0);
        let text = text.map(|log| log.to_string_lossy().trim().to_owned());
        match (error, text) {
            (
                BackendError::Cuda {
                    doing,
                    name,
                    remedy,
                },
                Ok(text),
            ) if !text.is_empty() => BackendError::Cuda {
                doing,
                name: format!("{name}\n{text}\n"),
                remedy,
            },
            (error, _) => error,
        }
    }
}

/// A kernel of a loaded module.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    module: Rc<Module>,
    raw: CUfunction,
    entry: Entry,
}

impl Kernel {
    /// The driver's handle.
    pub(super) const fn raw(&self) -> CUfunction {
        self.raw
    }

    /// The entry of this kernel.
    pub(super) const fn entry(&self) -> Entry {
        self.entry
    }

    /// The context that the kernel runs in.
    pub(super) fn context(&self) -> &Rc<Context> {
        self.module.context()
    }

    /// Queues a kernel that stays on the device and takes the address of a record.
    ///
    /// # Safety
    /// The record must be complete, and all that it points to live until the kernel has ended.
    pub(super) unsafe fn launch_resident(
        &self,
        stream: &Stream,
        blocks: u32,
        lanes: u32,
        record: &DeviceMemory,
    ) -> Result<(), BackendError> {
        let mut address = record.address();
        let mut parameters = [(&raw mut address).cast()];
        let (list, extra) = (parameters.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: the kernel takes one address; the rest is this function's contract.
        let answer = unsafe {
            let queue = stream.raw();
            sys::cuLaunchKernel(self.raw, blocks, 1, 1, lanes, 1, 1, 0, queue, list, extra)
        };
        check("launching a kernel that stays", answer)
    }

    /// Most lanes of a block, given the kernel's registers.
    pub(super) fn lanes_max(&self) -> Result<u32, BackendError> {
        self.attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    }

    /// Returns the number of blocks of `lanes` lanes that fit on a multiprocessor at once if each
    /// requests `extra` bytes of shared memory.
    pub(super) fn blocks_per_unit(&self, lanes: u32, extra: u32) -> Result<u32, BackendError> {
        let mut blocks = 0;
        let lanes = i32::try_from(lanes).unwrap_or(i32::MAX);
        // SAFETY: one valid integer to write to; the kernel lives.
        let answer = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                self.raw,
                lanes,
                extra as usize,
            )
        };
        check("asking how many blocks fit", answer)?;
        Ok(u32::try_from(blocks).unwrap_or(0))
    }

    /// Shared memory that a block must request, beyond the kernel's own, to be the only one on its
    /// multiprocessor, bytes.
    pub(super) fn padding_to_be_alone(&self) -> Result<u32, BackendError> {
        let own = self.attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let all = self.context().limits().shared_unit_bytes;
        Ok((all / 2 + 1024).saturating_sub(own))
    }

    /// Shared memory that a block may request beyond the kernel's own, bytes.
    pub(super) fn extra_max(&self) -> Result<u32, BackendError> {
        let own = self.attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let most = self.context().limits().shared_block_optin_bytes;
        Ok(most.saturating_sub(own))
    }

    /// Allows blocks to request `bytes` of shared memory beyond the kernel's own.
    pub(super) fn allow_extra(&self, bytes: u32) -> Result<(), BackendError> {
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        self.allow(
            Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            bytes,
        )
    }

    /// Allows the kernel to run in larger clusters than every device supports.
    pub(super) fn allow_large_clusters(&self) -> Result<(), BackendError> {
        self.allow(
            Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
            1,
        )
    }

    fn allow(&self, attribute: Attribute, value: i32) -> Result<(), BackendError> {
        // SAFETY: the kernel lives.
        let answer = unsafe { sys::cuFuncSetAttribute(self.raw, attribute, value) };
        check("preparing a kernel for its launch", answer)
    }

    fn attribute(&self, attribute: Attribute) -> Result<u32, BackendError> {
        let mut value = 0;
        // SAFETY: one valid integer to write to; the kernel lives.
        let answer = unsafe { sys::cuFuncGetAttribute(&raw mut value, attribute, self.raw) };
        check("asking for a kernel's limits", answer)?;
        Ok(u32::try_from(value).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_capability_gets_the_newest_kernels_that_it_runs() {
        let target = |capability| image_for(capability).map(Embedded::target);
        assert_eq!(target((6, 1)), None);
        assert_eq!(target((7, 0)), Some("sm_70"));
        assert_eq!(target((8, 9)), Some("sm_70"));
        assert_eq!(target((9, 0)), Some("sm_90"));
        assert_eq!(target((12, 0)), Some("sm_90"));
    }

    #[test]
    fn the_embedded_modules_hold_every_entry() {
        for text in [&BASELINE, &HOPPER].map(Embedded::text) {
            for entry in Entry::ALL {
                let name = entry.name().to_string_lossy();
                assert!(text.contains(&format!(".entry {name}(")), "{name}");
            }
        }
    }

    #[test]
    fn the_persistent_kernels_can_be_compiled_for_smaller_blocks() {
        for text in [&BASELINE, &HOPPER].map(Embedded::text) {
            for entry in [Entry::Mega, Entry::MegaSearch, Entry::MegaRounds] {
                let text = Bound::of(512, true).apply(only(text, entry));
                assert_eq!(text.matches(".maxntid 512, 1, 1\n").count(), 1, "{entry:?}");
                assert_eq!(text.matches(".maxntid").count(), 1, "{entry:?}");
            }
        }
    }

    #[test]
    fn waves_built_from_other_sources_are_refused_with_both_hashes() {
        let own = "// a\n// sources: sha256 abc\n";
        let error = check_sources(own, HOPPER.sources())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("(abc)") && error.contains("build-ptx --crate"),
            "{error}"
        );
        assert!(check_sources(BASELINE.text(), HOPPER.sources()).is_ok());
    }

    #[test]
    fn the_compilers_log_reaches_the_error() {
        let error = BackendError::Cuda {
            doing: "compiling",
            name: "CUDA_ERROR_INVALID_PTX".to_owned(),
            remedy: None,
        };
        let text = Log(b"ptxas fatal: line 7\0rest".to_vec())
            .explain(error)
            .to_string();
        assert!(text.contains("line 7") && !text.contains("rest"), "{text}");
        let error = BackendError::Cuda {
            doing: "compiling",
            name: "X".to_owned(),
            remedy: None,
        };
        assert_eq!(
            Log(b"\0".to_vec()).explain(error).to_string(),
            "compiling: X"
        );
    }
}
