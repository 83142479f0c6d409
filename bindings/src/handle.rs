//! A handle: a kernel of the process that uses it.
//!
//! A kernel keeps stores open, and closing a file in a forked child would drop the locks that
//! its parent holds on it. So the first call in another process opens a kernel of its own, and
//! what was inherited is left as it is. All of it without a lock: one that another thread of the
//! parent held at the fork would never come free in the child.

use std::process;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use loopx_core::Result;
use loopx_core::kernel::{Kernel, KernelOptions};

/// An open kernel.
pub struct Handle {
    options: KernelOptions,
    // Never NULL, and what it leads to lives as long as the handle.
    opened: AtomicPtr<Opened>,
}

struct Opened {
    process: u32,
    kernel: Kernel,
    // The next one that was left; NULL while it is in use.
    next: *mut Opened,
}

// A handle is used by many threads.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Kernel>();
    shared::<Handle>();
};

/// What other processes had opened, kept so that it is never closed here, and reachable so that
/// a leak checker sees it is kept.
static LEFT: AtomicPtr<Opened> = AtomicPtr::new(ptr::null_mut());

impl Opened {
    fn new(options: &KernelOptions) -> Result<*mut Self> {
        let kernel = Kernel::open(options.clone())?;
        let process = process::id();
        Ok(Box::into_raw(Box::new(Self { process, kernel, next: ptr::null_mut() })))
    }
}

/// Keeps `opened`, which nobody puts to use any more, for good.
fn leave(opened: *mut Opened) {
    let mut first = LEFT.load(Ordering::Acquire);
    loop {
        // SAFETY: `next` is read by nobody and written by whoever took `opened` out of use.
        unsafe { (&raw mut (*opened).next).write(first) };
        match LEFT.compare_exchange(first, opened, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(now) => first = now,
        }
    }
}

impl Handle {
    /// Opens a kernel.
    pub fn open(options: KernelOptions) -> Result<Self> {
        let opened = AtomicPtr::new(Opened::new(&options)?);
        Ok(Self { options, opened })
    }

    /// The kernel of this process.
    pub fn kernel(&self) -> Result<&Kernel> {
        let process = process::id();
        let mut found = self.opened.load(Ordering::Acquire);
        loop {
            // SAFETY: never NULL, and freed by `drop` alone; what is taken out of use is kept.
            if unsafe { (&raw const (*found).process).read() } == process {
                // SAFETY: the same.
                return Ok(unsafe { &(*found).kernel });
            }
            let fresh = Opened::new(&self.options)?;
            match self.opened.compare_exchange(found, fresh, Ordering::AcqRel, Ordering::Acquire) {
                Ok(inherited) => {
                    leave(inherited);
                    found = fresh;
                }
                Err(now) => {
                    // SAFETY: made above, and nobody else has seen it.
                    drop(unsafe { Box::from_raw(fresh) });
                    found = now;
                }
            }
        }
    }

    /// Makes the kernel look inherited, for tests that do not fork.
    #[doc(hidden)]
    pub fn inherit(&self, process: u32) {
        // SAFETY: one thread has the handle in these tests.
        unsafe { (*self.opened.load(Ordering::Acquire)).process = process };
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let opened = *self.opened.get_mut();
        // SAFETY: never NULL, and nobody else has it any more.
        if unsafe { (*opened).process } == process::id() {
            // SAFETY: the same.
            drop(unsafe { Box::from_raw(opened) });
        } else {
            leave(opened);
        }
    }
}
