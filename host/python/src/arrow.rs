//! Columns of results for Arrow, without a copy, by its C data interface.

use crate::error;
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    children_len: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private: *mut c_void,
}

#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    buffers_len: i64,
    children_len: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private: *mut c_void,
}

const _: () = assert!(size_of::<Schema>() == 72 && size_of::<Array>() == 80);

/// What an exported array keeps: validity, which is missing, and values; and who owns these.
struct Kept {
    buffers: [*const c_void; 2],
    _owner: Py<PyAny>,
}

// SAFETY: the pointers are read alone, and the owner keeps what they point at.
unsafe impl Send for Schema {}
// SAFETY: as above; the consumer of an array releases it once, from any thread.
unsafe impl Send for Array {}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: the interface calls this once, with the structure that has it; nothing else is owned.
    unsafe { (*schema).release = None };
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: the interface calls this once, with the structure that has it, whose private part was
    // leaked from such a box.
    unsafe {
        drop(Box::from_raw((*array).private.cast::<Kept>()));
        (*array).release = None;
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: nobody has taken and released it.
            unsafe { release(self) };
        }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: nobody has taken and released it.
            unsafe { release(self) };
        }
    }
}

/// Formats of the interface with the values of arrays of that type.
macro_rules! of_numbers {
    ($array:expr, $($kind:ty => $format:literal)*) => {
        $(if let Ok(array) = $array.cast::<PyArray1<$kind>>() {
            array.is_contiguous().then(|| ($format, array.data() as *const c_void, array.len()))
        } else)* {
            None
        }
    };
}

/// The capsules of `__arrow_c_array__` for a contiguous array of numbers, or for `bits` conditions
/// that its bytes hold.
#[pyfunction]
fn arrow_array<'py>(
    py: Python<'py>,
    array: &Bound<'py, PyAny>,
    bits: Option<usize>,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let found: Option<(&'static CStr, *const c_void, usize)> = of_numbers!(array,
        i32 => c"i" i64 => c"l" u32 => c"I" u64 => c"L" f32 => c"f" f64 => c"g"
        i16 => c"s" u16 => c"S" i8 => c"c" u8 => c"C");
    let Some((format, values, length)) = found else {
        let text = "only contiguous arrays of numbers in one dimension are columns of Arrow; \
                    give a copy of that kind";
        return Err(error::request(py, "WrongType", text));
    };
    let (format, length) = match bits {
        Some(bits) if bits.div_ceil(8) == length && format == c"C" => (c"b", bits),
        Some(bits) => {
            let text = format!("{length} values for {bits} conditions; give a byte for each 8");
            return Err(error::request(py, "Lengths", &text));
        }
        None => (format, length),
    };
    let schema = Schema {
        format: format.as_ptr(),
        name: c"".as_ptr(),
        metadata: ptr::null(),
        flags: 0,
        children_len: 0,
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private: ptr::null_mut(),
    };
    // The owner keeps the memory of the values as long as anybody has the column.
    let kept = Box::into_raw(Box::new(Kept {
        buffers: [ptr::null(), values],
        _owner: array.clone().unbind(),
    }));
    let column = Array {
        length: length as i64,
        null_count: 0,
        offset: 0,
        buffers_len: 2,
        children_len: 0,
        // SAFETY: it was made just now, and lives until the array is released.
        buffers: unsafe { &raw mut (*kept).buffers }.cast(),
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private: kept.cast(),
    };
    let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
    let column = PyCapsule::new_with_value(py, column, c"arrow_array")?;
    Ok((schema, column))
}

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(arrow_array, module)?)
}
