//! One stream of a child: its bytes are counted and thrown away.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::STACK;
use crate::alarm::Alarm;

/// A stream that is being read on a thread of its own.
#[derive(Debug)]
pub(super) struct Stream {
    seen: Arc<Seen>,
    limit: u64,
}

#[derive(Debug, Default)]
struct Seen {
    bytes: AtomicU64,
    end: AtomicBool,
}

impl Stream {
    /// Reads `pipe` to its end; `alarm` rings when there is more than `limit`, and at the
    /// end. Reading goes on above the limit, so that a child that is being ended does not
    /// hang in a full pipe.
    pub fn read(pipe: Option<impl Read + Send + 'static>, limit: u64, alarm: &Arc<Alarm>) -> Self {
        let seen = Arc::new(Seen::default());
        let (told, alarm) = (Arc::clone(&seen), Arc::clone(alarm));
        let thread = std::thread::Builder::new().name("loopx-output".into()).stack_size(STACK);
        let reading = thread.spawn(move || {
            let mut block = vec![0_u8; 16 * 1024];
            let mut pipe = pipe;
            loop {
                match pipe.as_mut().map_or(Ok(0), |pipe| pipe.read(&mut block)) {
                    Ok(0) => break,
                    Ok(n) => {
                        let more = u64::try_from(n).unwrap_or(u64::MAX);
                        let before = told.bytes.fetch_add(more, Ordering::AcqRel);
                        if before <= limit && before.saturating_add(more) > limit {
                            alarm.ring();
                        }
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            told.end.store(true, Ordering::Release);
            alarm.ring();
        });
        if reading.is_err() {
            seen.end.store(true, Ordering::Release);
        }
        Self { seen, limit }
    }

    /// How much has come.
    pub fn bytes(&self) -> u64 {
        self.seen.bytes.load(Ordering::Acquire)
    }

    /// More has come than is allowed.
    pub fn is_over(&self) -> bool {
        self.bytes() > self.limit
    }

    /// Nobody can write to it any more.
    pub fn is_at_end(&self) -> bool {
        self.seen.end.load(Ordering::Acquire)
    }
}
