#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{CStr, CString};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use loopx_core::error::CATALOGUE;
use loopx_core::{Error, ErrorCode};
use serde_json::Value;

use super::*;

fn taken(text: *mut c_char) -> Value {
    assert!(!text.is_null());
    let found = unsafe { CStr::from_ptr(text) }.to_str().unwrap();
    let found = serde_json::from_str(found).unwrap();
    unsafe { loopx_free(text) };
    found
}

fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// A handle on an empty folder, which goes with it.
fn opened() -> (tempfile::TempDir, *mut Handle) {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let options = json!({
        "registry": at(".loopx/registry.json"), "runtime_root": at("rt"), "cwd": at(""),
        "home": at("home"), "now": "2026-11-29T12:00:00Z",
    });
    let (mut handle, mut error) = (ptr::null_mut(), ptr::null_mut());
    let options = c(&options.to_string());
    let status = unsafe { loopx_open(options.as_ptr(), &raw mut handle, &raw mut error) };
    assert_eq!(status, Status::Ok);
    assert!(error.is_null());
    (folder, handle)
}

fn called(handle: *const Handle, operation: &str, request: &Value) -> (Status, Value) {
    let (mut answer, mut error) = (ptr::null_mut(), ptr::null_mut());
    let (operation, request) = (c(operation), c(&request.to_string()));
    let (operation, request) = (operation.as_ptr(), request.as_ptr());
    let status = unsafe { loopx_call(handle, operation, request, &raw mut answer, &raw mut error) };
    assert_eq!(answer.is_null(), status != Status::Ok);
    assert_eq!(error.is_null(), status == Status::Ok);
    (status, taken(if answer.is_null() { error } else { answer }))
}

/// Every code comes through as the status of its class, with all that its row says.
#[test]
fn every_code_has_the_status_of_its_class() {
    let mut seen = [0; 8];
    for row in CATALOGUE {
        let mut error = ptr::null_mut();
        let status = door(&raw mut error, || Err(Error::new(row.code, "it")));
        let said = taken(error);
        assert_eq!(said["error_code"], row.text);
        assert_eq!(said["status"], status as i32);
        assert_eq!(said["class"], serde_json::to_value(row.class).unwrap());
        assert_eq!(said["retry"], serde_json::to_value(row.retry).unwrap());
        assert_eq!((&said["about"], &said["error"]), (&"it".into(), &row.meaning.into()));
        assert_eq!(said["next_command"], row.next_command);
        seen[status as usize] += 1;
    }
    assert_eq!(seen[0], 0);
    assert!(seen[1..].iter().all(|count| *count > 0), "{seen:?}");
}

/// The system's allocator, with each piece's size in front of it: it counts those that come back
/// as another size than they went, which is undefined and which the system's own does not mind.
struct Sized;

const FRONT: usize = 16;
static OTHERWISE: AtomicUsize = AtomicUsize::new(0);

fn with_front(layout: Layout) -> Option<Layout> {
    let fits = layout.align() <= FRONT;
    fits.then(|| Layout::from_size_align(layout.size() + FRONT, FRONT).unwrap())
}

unsafe impl GlobalAlloc for Sized {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(more) = with_front(layout) else { return unsafe { System.alloc(layout) } };
        unsafe {
            let place = System.alloc(more);
            if place.is_null() {
                return place;
            }
            place.cast::<usize>().write(layout.size());
            place.add(FRONT)
        }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if with_front(layout).is_none() {
            return unsafe { System.dealloc(place, layout) };
        }
        unsafe {
            let place = place.sub(FRONT);
            let size = place.cast::<usize>().read();
            OTHERWISE.fetch_add(usize::from(size != layout.size()), Ordering::Relaxed);
            let size = Layout::from_size_align(size + FRONT, FRONT).unwrap();
            System.dealloc(place, size);
        }
    }
}

#[global_allocator]
static ALLOCATOR: Sized = Sized;

/// What was written into a text before it comes back, a NUL in its middle too, is no matter.
#[test]
fn a_text_may_be_written_into_before_it_is_freed() {
    let (_folder, handle) = opened();
    let (list, empty) = (c("goal.list"), c("{}"));
    for (at, byte) in [(0, 0), (5, 0), (1, b'x')] {
        let (mut answer, mut error) = (ptr::null_mut(), ptr::null_mut());
        let (list, empty) = (list.as_ptr(), empty.as_ptr());
        unsafe {
            loopx_call(handle, list, empty, &raw mut answer, &raw mut error);
            answer.cast::<u8>().add(at).write(byte);
            loopx_free(answer);
            loopx_call(handle, empty, empty, &raw mut answer, &raw mut error);
            error.cast::<u8>().add(at).write(byte);
            loopx_free(error);
        }
    }
    unsafe { loopx_close(handle) };
    assert_eq!(OTHERWISE.load(Ordering::Relaxed), 0);
}

#[test]
fn a_panic_is_internal_and_the_next_call_goes_on() {
    let (_folder, handle) = opened();
    let mut error = ptr::null_mut();
    let status = door(&raw mut error, || panic!("on purpose"));
    assert_eq!(status, Status::Internal);
    let said = taken(error);
    assert_eq!(said["error_code"], "internal");
    assert!(!said["error"].as_str().unwrap().contains("on purpose"));
    assert_eq!(door(ptr::null_mut(), || panic!("on purpose")), Status::Internal);
    let create = json!({"goal_id": "g", "objective": "o"});
    assert_eq!(called(handle, "goal.create", &create).0, Status::Ok);
    unsafe { loopx_close(handle) };
}

#[test]
fn what_was_inherited_is_left_and_opened_anew() {
    let (_folder, handle) = opened();
    let create = json!({"goal_id": "g", "objective": "o"});
    assert_eq!(called(handle, "goal.create", &create).0, Status::Ok);
    let of = unsafe { &*handle };
    let before: *const _ = of.0.kernel().unwrap();
    assert_eq!(before, ptr::from_ref(of.0.kernel().unwrap()));
    of.0.inherit(1);
    let after: *const _ = of.0.kernel().unwrap();
    assert_ne!(before, after);
    let (status, answer) = called(handle, "goal.show", &json!({}));
    assert_eq!(status, Status::Ok, "{answer}");
    of.0.inherit(1);
    unsafe { loopx_close(handle) };
}

#[test]
fn null_and_bytes_that_are_no_text_are_refused_by_name() {
    let (_folder, handle) = opened();
    let (list, empty) = (c("goal.list"), c("{}"));
    let (list, empty) = (list.as_ptr(), empty.as_ptr());
    let bytes = CString::new(b"\xff{}".to_vec()).unwrap();
    let bytes = bytes.as_ptr();
    let none = ptr::null();
    for (about, handle, operation, request) in [
        ("handle", ptr::null_mut(), list, empty),
        ("operation", handle, none, empty),
        ("operation", handle, bytes, empty),
        ("request_json", handle, list, none),
        ("request_json", handle, list, bytes),
    ] {
        let (mut answer, mut error) = (ptr::null_mut(), ptr::null_mut());
        let status =
            unsafe { loopx_call(handle, operation, request, &raw mut answer, &raw mut error) };
        assert_eq!(status, Status::Usage);
        assert!(answer.is_null());
        let said = taken(error);
        assert_eq!(
            (&said["about"], &said["error_code"]),
            (&about.into(), &"request_invalid".into())
        );
    }
    // Nothing is done whose answer has nowhere to go.
    let mut error = ptr::null_mut();
    let (create, goal) = (c("goal.create"), c(r#"{"goal_id": "g", "objective": "o"}"#));
    let (create, goal) = (create.as_ptr(), goal.as_ptr());
    let status = unsafe { loopx_call(handle, create, goal, ptr::null_mut(), &raw mut error) };
    assert_eq!((status, &taken(error)["about"]), (Status::Usage, &"answer".into()));
    assert_eq!(called(handle, "goal.show", &json!({"goal_id": "g"})).0, Status::Identity);

    for (about, options, out) in
        [("options_json", none, true), ("options_json", bytes, true), ("handle", empty, false)]
    {
        let (mut opened, mut error) = (ptr::null_mut(), ptr::null_mut());
        let place = if out { &raw mut opened } else { ptr::null_mut() };
        let status = unsafe { loopx_open(options, place, &raw mut error) };
        assert_eq!((status, opened.is_null()), (Status::Usage, true));
        assert_eq!(taken(error)["about"], about);
        assert_eq!(unsafe { loopx_open(options, place, ptr::null_mut()) }, Status::Usage);
    }
    unsafe {
        loopx_free(ptr::null_mut());
        loopx_close(ptr::null_mut());
        loopx_close(handle);
    }
}

#[test]
fn an_option_that_is_not_known_or_of_another_kind_is_refused() {
    for (options, about) in [
        (r#"{"regsitry": "x"}"#, "options_json"),
        ("[]", "options_json"),
        ("{", "options_json"),
        (r#"{"registry": 1}"#, "registry"),
        (r#"{"cwd": "here"}"#, "cwd"),
        (r#"{"now": "noon"}"#, "now"),
        (r#"{"deadline_ms": -1}"#, "deadline_ms"),
        (r#"{"independent_worktree": 1}"#, "independent_worktree"),
    ] {
        let refused = super::options(options).unwrap_err();
        assert_eq!((refused.code, refused.about.as_str()), (ErrorCode::RequestInvalid, about));
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = unsafe { CStr::from_ptr(loopx_version()) };
    assert_eq!(version.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
}
