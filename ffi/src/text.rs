//! Texts between C and Rust.

use std::alloc::{Layout, handle_alloc_error};
use std::ffi::{CStr, c_char};

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

/// A text that C owns from here on, and may write into. JSON has no NUL of its own: it is written
/// as `\u0000`.
///
/// It lies where `malloc` puts it, whose `free` needs no length: that of the text may be another
/// one by the time it comes back.
pub fn give(text: &str) -> *mut c_char {
    let size = text.len() + 1;
    // SAFETY: of any size.
    let place = unsafe { libc::malloc(size) }.cast::<u8>();
    if place.is_null() {
        // As for every other text that there is no memory for.
        handle_alloc_error(Layout::array::<u8>(size).unwrap_or(Layout::new::<u8>()));
    }
    // SAFETY: there is room for the text and its NUL, and nobody else has it.
    unsafe {
        place.copy_from_nonoverlapping(text.as_ptr(), text.len());
        place.add(text.len()).write(0);
    }
    place.cast()
}

/// Frees what [`give`] gave, whatever has been written into it.
///
/// # Safety
///
/// `text` is NULL or comes from [`give`], and was not freed.
pub unsafe fn take_back(text: *mut c_char) {
    // SAFETY: as the caller promises; NULL is nothing to `free`.
    unsafe { libc::free(text.cast()) };
}
