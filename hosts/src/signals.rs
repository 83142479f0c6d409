//! Stop signals of this process: SIGTERM, SIGINT and SIGHUP ring the alarm instead of
//! ending the process, so that it can end its children first. Not for children, which
//! get the system's own dispositions when they are started.

use std::sync::Arc;

use loopx_core::{Error, ErrorCode, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::alarm::Alarm;

/// The signals that ask this process to stop.
pub const STOPS: [i32; 3] = [SIGTERM, SIGINT, SIGHUP];

/// Stack of the listening thread, which does next to nothing.
const STACK: usize = 64 * 1024;

/// Rings `alarm` at each stop signal from now on. A signal that the process was started
/// to ignore stays ignored: that is what `nohup`, and `&` in a script, ask for.
pub fn listen(alarm: &Arc<Alarm>) -> Result<()> {
    let ignored = ignored();
    let heard = STOPS.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let failed = |error: std::io::Error| {
        Error::new(ErrorCode::Internal, "signals").detail(error.to_string())
    };
    let mut signals = Signals::new(heard).map_err(failed)?;
    let alarm = Arc::clone(alarm);
    std::thread::Builder::new()
        .name("loopx-signals".into())
        .stack_size(STACK)
        .spawn(move || {
            for signal in signals.forever() {
                alarm.stop(signal);
            }
        })
        .map_err(failed)?;
    Ok(())
}

/// The mask of signals that are ignored, where the system says so; else none.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0)
}

/// The name of a stop signal.
pub fn name(signal: i32) -> &'static str {
    match signal {
        SIGTERM => "SIGTERM",
        SIGINT => "SIGINT",
        SIGHUP => "SIGHUP",
        _ => "signal",
    }
}
