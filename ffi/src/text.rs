//! Texts between C and Rust.

use std::ffi::{CStr, CString, c_char};

use loopx_core::{Error, ErrorCode, Result};

fn invalid(argument: &str, what: &str) -> Error {
    Error::new(ErrorCode::RequestInvalid, argument)
        .message(format!("the argument {argument} is {what}"))
        .next("see loopx.h")
}

/// That a pointer is not NULL.
pub fn there<T>(pointer: *const T, argument: &str) -> Result<()> {
    if pointer.is_null() { Err(invalid(argument, "NULL")) } else { Ok(()) }
}

/// The text of an argument.
///
/// # Safety
///
/// `pointer` is NULL, or leads to a text that ends with a NUL and stays as it is for `'t`.
pub unsafe fn read<'t>(pointer: *const c_char, argument: &str) -> Result<&'t str> {
    there(pointer, argument)?;
    // SAFETY: not NULL, and as the caller promises.
    unsafe { CStr::from_ptr(pointer) }.to_str().map_err(|_| invalid(argument, "not UTF-8"))
}

/// Writes to an out pointer that is there.
///
/// # Safety
///
/// `out` is NULL or may be written.
pub unsafe fn put<T>(out: *mut *mut T, value: *mut T) {
    if !out.is_null() {
        // SAFETY: not NULL, and as the caller promises.
        unsafe { out.write(value) };
    }
}

/// A text that C owns from here on. JSON has no NUL of its own: it is written as `\u0000`.
pub fn give(text: String) -> *mut c_char {
    CString::new(text).unwrap_or_default().into_raw()
}

/// Frees what [`give`] gave.
///
/// # Safety
///
/// `text` is NULL or comes from [`give`], and was not freed.
pub unsafe fn take_back(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: as the caller promises.
        drop(unsafe { CString::from_raw(text) });
    }
}
