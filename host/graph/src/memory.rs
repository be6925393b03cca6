//! Memory available to this process, and arrays that grow within it.
//!
//! Systems promise more memory than they have and kill a process that uses it, so large arrays ask
//! here first. Functions that an allocator may call do not allocate.

use std::cell::Cell;
use std::fs::File;
use std::io::Read;

/// Smaller arrays do not check.
const ASKING_BYTES: usize = 64 << 20;

/// A request for more memory than is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Shortage {
    /// Bytes requested.
    pub needed: u64,
    /// Bytes left; 0 where the system does not report them.
    pub available: u64,
}

impl Shortage {
    /// Describes an allocation that has just failed.
    #[must_use]
    pub fn of(needed: usize) -> Self {
        let spared = SPARED.take().or_else(available);
        Self {
            needed: needed as u64,
            available: spared.unwrap_or(0),
        }
    }
}

/// Returns the bytes that the process can still take: the least of the machine's free memory with
/// swap, the limit of its control group, and its address space. `None` where the system does not
/// report them.
#[must_use]
pub fn available() -> Option<u64> {
    let limits = [physical(), address_space()];
    limits.into_iter().flatten().min()
}

/// Works as [`available`] without the limit of the address space, which the system enforces
/// itself.
#[must_use]
pub fn physical() -> Option<u64> {
    let limits = [machine(), group()];
    limits.into_iter().flatten().min()
}

thread_local! {
    static FALLIBLE: Cell<u32> = const { Cell::new(0) };
    static SPARED: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Records the memory left when an allocator refused this thread, for the [`Shortage`].
pub fn note_spared(bytes: u64) {
    SPARED.set(Some(bytes));
}

/// Runs `take`, which tolerates a failed allocation.
fn fallible<R>(take: impl FnOnce() -> R) -> R {
    FALLIBLE.with(|depth| depth.set(depth.get() + 1));
    let taken = take();
    FALLIBLE.with(|depth| depth.set(depth.get() - 1));
    taken
}

/// Returns whether this thread tolerates a failed allocation. For an allocator that otherwise ends
/// the process.
#[must_use]
pub fn is_fallible() -> bool {
    FALLIBLE.with(Cell::get) > 0
}

/// Makes space for `more` items: doubles the capacity, or adds only what is required if twice is
/// too much.
///
/// # Errors
/// [`Shortage`] if there is not enough memory.
pub fn reserve<T>(items: &mut Vec<T>, more: usize) -> Result<(), Shortage> {
    if items.capacity() - items.len() >= more {
        return Ok(());
    }
    let twice = items
        .capacity()
        .saturating_mul(2)
        .saturating_sub(items.len());
    let enough = more.saturating_add(items.len() / 8);
    reserve_exact(items, twice.max(more)).or_else(|_| reserve_exact(items, enough))
}

/// Makes space for exactly `more` items.
///
/// # Errors
/// As [`reserve`].
pub fn reserve_exact<T>(items: &mut Vec<T>, more: usize) -> Result<(), Shortage> {
    let bytes = more.saturating_mul(size_of::<T>());
    check(bytes as u64)?;
    fallible(|| items.try_reserve_exact(more)).map_err(|_| Shortage::of(bytes))
}

/// Collects `items`, of which there are `count` at most.
///
/// # Errors
/// As [`reserve`].
pub fn collect<T>(count: usize, items: impl Iterator<Item = T>) -> Result<Vec<T>, Shortage> {
    let mut all = Vec::new();
    reserve_exact(&mut all, count)?;
    all.extend(items.take(count));
    Ok(all)
}

/// Returns `count` zeroes in pages that the system maps on the first write.
///
/// # Errors
/// As [`reserve`].
pub fn zeroed<T: bytemuck::Zeroable>(count: usize) -> Result<Vec<T>, Shortage> {
    let bytes = count.saturating_mul(size_of::<T>());
    check(bytes as u64)?;
    fallible(|| bytemuck::allocation::try_zeroed_vec(count)).map_err(|()| Shortage::of(bytes))
}

/// Least bytes that [`prepare`] asks for.
#[cfg(target_os = "linux")]
const PREPARED_BYTES: usize = 64 << 10;

/// Size of the smallest pages. If they are larger, the system may refuse the request of
/// [`prepare`].
#[cfg(target_os = "linux")]
const PAGE_BYTES: usize = 4 << 10;

/// Has the system map the pages of fresh memory at once, which is a fifth faster than at the first
/// write to each. For memory that one thread fills next.
#[cfg(target_os = "linux")]
pub(crate) fn prepare<T: bytemuck::Pod>(items: &mut [T]) {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(items);
    let skipped = bytes.as_ptr().align_offset(PAGE_BYTES).min(bytes.len());
    let pages = &mut bytes[skipped..];
    let length = pages.len() / PAGE_BYTES * PAGE_BYTES;
    if length >= PREPARED_BYTES {
        // SAFETY: whole pages of the slice, whose content stays. A refusal changes nothing.
        unsafe { libc::madvise(pages.as_mut_ptr().cast(), length, libc::MADV_POPULATE_WRITE) };
    }
}

/// Does nothing: the system maps pages on demand.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn prepare<T>(_items: &mut [T]) {}

/// Cuts `items` into parts of `counts` items, one after another.
pub(crate) fn cut<T>(
    mut items: &mut [T],
    counts: impl Iterator<Item = usize>,
) -> impl Iterator<Item = &mut [T]> {
    counts.map(move |count| items.split_off_mut(..count).unwrap_or_default())
}

/// Frees a large array, on Linux on all threads: a single thread takes a second for 10 GB.
pub(crate) fn free<T: bytemuck::Pod>(mut items: Vec<T>) {
    give_back(&mut items);
    drop(items);
}

/// Frees all items of a large array except the first `len`, on Linux on all threads.
pub(crate) fn shorten<T: bytemuck::Pod>(items: &mut Vec<T>, len: usize) {
    if let Some(tail) = items.get_mut(len..) {
        give_back(tail);
    }
    items.truncate(len);
    items.shrink_to_fit();
}

/// Bytes of an array that a thread releases at a time, a multiple of the usual page size.
#[cfg(target_os = "linux")]
const FREED_BYTES: usize = 2 << 20;

/// Releases the pages of an array to the system; its content is lost.
#[cfg(target_os = "linux")]
fn give_back<T: bytemuck::Pod>(items: &mut [T]) {
    use rayon::prelude::*;
    let words: &mut [u8] = bytemuck::cast_slice_mut(items);
    // The first bytes may share a page with something else.
    let skipped = words.as_ptr().align_offset(FREED_BYTES).min(words.len());
    let blocks = words[skipped..].par_chunks_exact_mut(FREED_BYTES);
    blocks.for_each(|block| {
        // SAFETY: whole pages that only belong to the array, and any content is a value of `T`.
        unsafe {
            libc::madvise(block.as_mut_ptr().cast(), FREED_BYTES, libc::MADV_DONTNEED);
        }
    });
}

/// Leaves an array to the allocator.
#[cfg(not(target_os = "linux"))]
const fn give_back<T>(_items: &mut [T]) {}

/// Checks that the system has `bytes` bytes left.
///
/// # Errors
/// As [`reserve`].
pub fn check(bytes: u64) -> Result<(), Shortage> {
    if bytes < ASKING_BYTES as u64 {
        return Ok(());
    }
    match available() {
        Some(available) if bytes > available => Err(Shortage {
            needed: bytes,
            available,
        }),
        _ => Ok(()),
    }
}

fn machine() -> Option<u64> {
    let mut text = [0; 4096];
    let text = read("/proc/meminfo", &mut text)?;
    let bytes = |name: &str| Some(number_after(text, name)?.saturating_mul(1024));
    Some(bytes("MemAvailable:")?.saturating_add(bytes("SwapFree:").unwrap_or(0)))
}

/// Returns the bytes that the limit of the address space leaves; `None` without a limit.
#[must_use]
pub fn address_space() -> Option<u64> {
    let (mut limits, mut status) = ([0; 4096], [0; 4096]);
    let limit = number_after(read("/proc/self/limits", &mut limits)?, "Max address space")?;
    let used = number_after(read("/proc/self/status", &mut status)?, "VmSize:")?;
    Some(limit.saturating_sub(used.saturating_mul(1024)))
}

/// Returns the least that the process's control groups leave, of versions 1 and 2. Clean file
/// pages do not count, since the system reclaims them on demand.
fn group() -> Option<u64> {
    let mut text = [0; 4096];
    let groups = read("/proc/self/cgroup", &mut text)?;
    let of = |line: &&str| line.starts_with("0::") || line.contains(":memory:");
    groups.lines().filter(of).filter_map(least_of_group).min()
}

fn least_of_group(line: &str) -> Option<u64> {
    let path = line.splitn(3, ':').nth(2)?;
    let kind = if line.starts_with("0::") {
        Kind {
            root: "/sys/fs/cgroup",
            limit: "memory.max",
            used: "memory.current",
            idle: "\ninactive_file ",
        }
    } else {
        Kind {
            root: "/sys/fs/cgroup/memory",
            limit: "memory.limit_in_bytes",
            used: "memory.usage_in_bytes",
            idle: "\ntotal_inactive_file ",
        }
    };
    // Limits of the enclosing groups hold too. In a container the path may be the host's, while
    // the root is the container's.
    let ends = path.char_indices().filter(|&(_, letter)| letter == '/');
    let folders = ends.map(|(end, _)| &path[..end]).chain([path]);
    folders.filter_map(|folder| kind.left(folder)).min()
}

/// File names of one version of control groups.
struct Kind {
    root: &'static str,
    limit: &'static str,
    used: &'static str,
    idle: &'static str,
}

impl Kind {
    fn left(&self, folder: &str) -> Option<u64> {
        let file = |name: &str, text: &mut [u8]| -> Option<u64> {
            let text = self.read(folder, name, text)?;
            text.trim().parse().ok()
        };
        let limit = file(self.limit, &mut [0; 64])?;
        let used = file(self.used, &mut [0; 64])?;
        let mut text = [0; 4096];
        let stat = self.read(folder, "memory.stat", &mut text);
        let idle = stat.and_then(|text| number_after(text, self.idle));
        Some(limit.saturating_sub(used.saturating_sub(idle.unwrap_or(0))))
    }

    fn read<'t>(&self, folder: &str, name: &str, text: &'t mut [u8]) -> Option<&'t str> {
        let mut path = [0; 320];
        let mut length = 0;
        for part in [self.root, folder, "/", name] {
            let space = path.get_mut(length..length + part.len())?;
            space.copy_from_slice(part.as_bytes());
            length += part.len();
        }
        read(std::str::from_utf8(&path[..length]).ok()?, text)
    }
}

/// Reads the start of a small file.
fn read<'t>(path: &str, text: &'t mut [u8]) -> Option<&'t str> {
    let mut file = File::open(path).ok()?;
    let mut filled = 0;
    while filled < text.len() {
        match file.read(&mut text[filled..]).ok()? {
            0 => break,
            count => filled += count,
        }
    }
    let text = &text[..filled];
    match std::str::from_utf8(text) {
        Ok(text) => Some(text),
        Err(error) => std::str::from_utf8(&text[..error.valid_up_to()]).ok(),
    }
}

/// Returns the first number after `name`; `None` for a word such as `unlimited`.
fn number_after(text: &str, name: &str) -> Option<u64> {
    let (_, rest) = text.split_once(name)?;
    let word = rest.split_ascii_whitespace().next()?;
    word.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_says_what_is_left() {
        let available = available().unwrap();
        assert!(available > 1 << 20, "{available}");
        assert!(available < 1 << 50, "{available}");
    }

    #[test]
    fn a_shortage_is_an_error_and_changes_nothing() {
        let mut items = vec![1_u64, 2];
        for more in [usize::MAX / 16, usize::MAX] {
            let shortage = reserve(&mut items, more).unwrap_err();
            assert!(shortage.needed > shortage.available);
            assert_eq!(items, [1, 2]);
        }
        assert!(zeroed::<u32>(usize::MAX / 8).is_err());
        assert_eq!(zeroed::<u32>(3).unwrap(), [0, 0, 0]);
        assert!(!is_fallible());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn arrays_of_any_size_are_freed_and_others_stay() {
        let kept = vec![7_u32; FREED_BYTES];
        for bytes in [0, 1, FREED_BYTES, 3 * FREED_BYTES + 5] {
            free(vec![1_u8; bytes]);
        }
        assert!(kept.iter().all(|&word| word == 7));
    }

    #[test]
    fn room_doubles_and_is_enough() {
        let mut items = Vec::new();
        for count in 1..1000 {
            reserve(&mut items, count).unwrap();
            assert!(items.capacity() >= items.len() + count);
            items.resize(items.len() + count, 0_u8);
        }
    }

    #[test]
    fn numbers_are_found_by_name() {
        let text = "MemFree:  12 kB\nMax address space  unlimited  7\ninactive_file 9\n";
        assert_eq!(number_after(text, "MemFree:"), Some(12));
        assert_eq!(number_after(text, "Max address space"), None);
        assert_eq!(number_after(text, "\ninactive_file "), Some(9));
        assert_eq!(number_after(text, "SwapFree:"), None);
    }
}
