//! Advisory locks on a sibling lock file. The operating system's lock decides; the
//! holder record in the lock file only explains who has it. Not a lease: nothing
//! here outlives the process.
//!
//! The lock file is `<name>.lock` beside the protected file, which is replaced by
//! renaming and so cannot carry the lock itself. It is never removed. The earlier tool
//! locks the same file in the same way, so the two exclude each other.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt as _, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant as Stopwatch};

use super::holder::{HolderNote, holder_in, record};
use super::patience;
use super::read::{flags, not_regular, resolve_target};
use crate::error::{Error, ErrorCode, Result};
use rustix::fs::OFlags;

/// How often a lock file may vanish under its waiter before that is reported.
const MAX_REOPENED: usize = 64;

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// Together with other shared holders.
    Shared,
    /// Alone.
    Exclusive,
    /// Alone, in a queue in which nobody shares: the record stands until the next holder
    /// writes over it, and one that is the same is not written again.
    Queued,
}

/// A held lock; dropping it lets go.
#[derive(Debug)]
pub struct FileLock {
    file: File,
    path: PathBuf,
    mode: LockMode,
}

impl FileLock {
    /// Takes the lock that guards `protected` (links followed), waiting in the operating
    /// system's queue for at most `deadline`, or what the call has left; then [`ErrorCode::LockTimeout`], naming the
    /// holder. The folder must exist.
    pub fn acquire(
        protected: &Path,
        mode: LockMode,
        note: &HolderNote,
        deadline: Duration,
    ) -> Result<Self> {
        let path = lock_path(protected)?;
        Self::wait(&path, mode, note, deadline, open_to_write)
    }

    /// Takes the lock when it is free, `None` when it is not.
    pub fn try_acquire(
        protected: &Path,
        mode: LockMode,
        note: &HolderNote,
    ) -> Result<Option<Self>> {
        let path = lock_path(protected)?;
        match Self::wait(&path, mode, note, Duration::ZERO, open_to_write) {
            Ok(lock) => Ok(Some(lock)),
            Err(error) if error.code == ErrorCode::LockTimeout => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A shared lock where one can be had: `None` when the lock file neither exists nor
    /// can be made (a read-only folder, a missing one) or may not be opened. Such a reader
    /// relies on the witness alone.
    pub fn shared_if_possible(
        protected: &Path,
        note: &HolderNote,
        deadline: Duration,
    ) -> Result<Option<Self>> {
        let path = lock_path(protected)?;
        match Self::wait(&path, LockMode::Shared, note, deadline, open_to_share) {
            Ok(lock) => Ok(Some(lock)),
            Err(error) if error.code == ErrorCode::WriteDenied => Ok(None),
            Err(_) if path.parent().is_some_and(|folder| !folder.exists()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether the lock file is still the one at its path. When somebody removed or
    /// replaced it, others lock the new one and this lock guards nothing.
    pub fn is_current(&self) -> bool {
        is_current(&self.file, &self.path)
    }

    /// How the lock is held.
    pub fn mode(&self) -> LockMode {
        self.mode
    }

    fn wait(
        path: &Path,
        mode: LockMode,
        note: &HolderNote,
        deadline: Duration,
        open: fn(&Path) -> io::Result<File>,
    ) -> Result<Self> {
        // A stopwatch for the waiting budget, not the time of day.
        let started = Stopwatch::now();
        for _ in 0..MAX_REOPENED {
            let file = open(path).map_err(|error| open_error(&error, path))?;
            let regular = file.metadata().is_ok_and(|meta| meta.is_file());
            if !regular {
                return Err(not_regular("lock file", path));
            }
            let file = match try_lock(&file, mode) {
                Ok(()) => file,
                Err(error) if is_contended(&error) => {
                    let left = patience::left(deadline.saturating_sub(started.elapsed()));
                    match patience::counted(|| queue(file, mode, left)) {
                        Ok(Some(file)) => file,
                        Ok(None) => return Err(timeout(path)),
                        Err(error) => return Err(Error::from_io(&error, "lock file", path)),
                    }
                }
                Err(error) => return Err(Error::from_io(&error, "lock file", path)),
            };
            let lock = Self { file, path: path.to_path_buf(), mode };
            if lock.is_current() {
                match mode {
                    LockMode::Shared => {}
                    LockMode::Exclusive => lock.write_record(&record(note)),
                    LockMode::Queued => lock.keep_record(&record(note)),
                }
                return Ok(lock);
            }
            // Removed while we waited: lock the file that has taken its place.
        }
        Err(Error::new(ErrorCode::IoFailed, "lock file")
            .message("the lock file is removed again and again")
            .next("find out what removes it; lock files may stay where they are")
            .detail(path.display()))
    }

    fn keep_record(&self, line: &str) {
        let mut there = vec![0; line.len()];
        let same = self.file.read_exact_at(&mut there, 0).is_ok() && there == line.as_bytes();
        if !same {
            self.write_record(line);
        }
    }

    /// Written over the old record; what is left of a longer one is cut off. Failing to
    /// explain oneself is no reason to fail.
    fn write_record(&self, line: &str) {
        let length = line.len() as u64;
        if self.file.write_all_at(line.as_bytes(), 0).is_ok()
            // Cutting costs more than writing, and records are as a rule equally long.
            && self.file.metadata().is_ok_and(|meta| meta.len() > length)
        {
            let _ = self.file.set_len(length);
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if self.mode == LockMode::Exclusive {
            // So that a later shared holder is not taken for this one: a first line that is
            // empty is nobody's record, whatever stands behind it.
            let _ = self.file.write_all_at(b"\n", 0);
        }
        // Said outright, because closing does not let go while a child process that
        // was just forked still has a copy of the descriptor.
        let _ = fs2::FileExt::unlock(&self.file);
    }
}

/// Whether a process holds the lock that guards `protected` alone, now. It looks only
/// where a lock file is, makes none, and takes the lock for an instant at most, shared.
pub fn is_held(protected: &Path) -> bool {
    let Ok(path) = lock_path(protected) else { return false };
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags(OPEN)).open(path) else {
        return false;
    };
    match try_lock(&file, LockMode::Shared) {
        Ok(()) => {
            let _ = fs2::FileExt::unlock(&file);
            false
        }
        Err(error) => is_contended(&error),
    }
}

pub(super) fn lock_path(protected: &Path) -> Result<PathBuf> {
    // Two links to one file must meet at one lock.
    let target = resolve_target(protected)?;
    let Some(name) = target.file_name() else {
        return Err(Error::new(ErrorCode::IoFailed, "lock file")
            .message("a lock needs the name of a file")
            .detail(protected.display()));
    };
    let mut name = name.to_os_string();
    name.push(".lock");
    Ok(target.with_file_name(name))
}

/// A lock file that is a link is refused: a cloned folder could carry one that leads
/// to a file of the user's, which the holder record would then overwrite.
pub(super) const OPEN: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

fn open_to_write(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags(OPEN))
        .open(path)
}

fn open_to_share(path: &Path) -> io::Result<File> {
    let existing = OpenOptions::new().read(true).custom_flags(flags(OPEN)).open(path);
    match existing {
        Err(error) if error.kind() == ErrorKind::NotFound => open_to_write(path),
        other => other,
    }
}

fn open_error(error: &io::Error, path: &Path) -> Error {
    let typed = Error::from_io(error, "lock file", path);
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return typed
            .message("the lock file is a symbolic link")
            .next("remove the link; the lock file is made anew");
    }
    typed
}

fn try_lock(file: &File, mode: LockMode) -> io::Result<()> {
    retry_interrupted(|| match mode {
        LockMode::Shared => fs2::FileExt::try_lock_shared(file),
        LockMode::Exclusive | LockMode::Queued => fs2::FileExt::try_lock_exclusive(file),
    })
}

fn block_on_lock(file: &File, mode: LockMode) -> io::Result<()> {
    retry_interrupted(|| match mode {
        LockMode::Shared => fs2::FileExt::lock_shared(file),
        LockMode::Exclusive | LockMode::Queued => fs2::FileExt::lock_exclusive(file),
    })
}

fn retry_interrupted(mut call: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn is_contended(error: &io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock
        || error.raw_os_error() == fs2::lock_contended_error().raw_os_error()
}

/// Waits in the kernel's queue on a thread of its own; `None` at the deadline.
fn queue(file: File, mode: LockMode, deadline: Duration) -> io::Result<Option<File>> {
    if deadline.is_zero() {
        return Ok(None);
    }
    // Capacity zero: a lock that comes after we gave up is not parked in the channel,
    // sending it fails and drops the file, which lets go at once.
    let (hand_over, taken) = mpsc::sync_channel(0);
    std::thread::Builder::new().name("loopx-lock".into()).spawn(move || {
        let locked = block_on_lock(&file, mode);
        let _ = hand_over.send(locked.map(|()| file));
    })?;
    match taken.recv_timeout(deadline) {
        Ok(locked) => locked.map(Some),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the waiting thread ended")),
    }
}

fn is_current(file: &File, path: &Path) -> bool {
    let (Ok(held), Ok(named)) = (file.metadata(), std::fs::symlink_metadata(path)) else {
        return false;
    };
    held.nlink() > 0 && held.dev() == named.dev() && held.ino() == named.ino()
}

fn timeout(lock_file: &Path) -> Error {
    let error = Error::new(ErrorCode::LockTimeout, "lock").detail(lock_file.display());
    let Some(holder) = holder_in(lock_file) else {
        return error.message("the lock is held by a process that left no record, or by a reader");
    };
    let who = holder.pid.map_or_else(|| "a process".into(), |pid| format!("process {pid}"));
    let what = holder.operation.map_or_else(String::new, |op| format!(" ({op})"));
    let agent = holder.agent.map_or_else(String::new, |a| format!(" of agent {a}"));
    error.message(format!("the lock is held by {who}{what}{agent}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::file::holder::read_holder;
    use crate::model::Instant;

    const SOON: Duration = Duration::from_millis(60);
    const LATE: Duration = Duration::from_secs(20);

    fn note(operation: &str) -> HolderNote {
        HolderNote {
            operation: operation.into(),
            agent: Some("agent-a".into()),
            pid: 4711,
            acquired_at: Instant::parse("2026-11-29T20:57:33Z"),
        }
    }

    #[test]
    fn deadline_error_names_the_holder_and_no_path() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("registry.json");
        let held = FileLock::acquire(&file, LockMode::Exclusive, &note("goal stop"), SOON).unwrap();
        let error =
            FileLock::acquire(&file, LockMode::Exclusive, &note("other"), SOON).unwrap_err();
        assert_eq!(error.code, ErrorCode::LockTimeout);
        assert!(error.text().contains("4711") && error.text().contains("goal stop"));
        assert!(!error.to_json().to_string().contains(dir.path().to_str().unwrap()));
        assert!(FileLock::try_acquire(&file, LockMode::Shared, &note("x")).unwrap().is_none());
        let holder = read_holder(&file).unwrap();
        assert_eq!((holder.pid, holder.agent.as_deref()), (Some(4711), Some("agent-a")));
        drop(held);
        assert!(read_holder(&file).is_none(), "a free lock names nobody");
        // The waiter that gave up must not keep what it got after the deadline.
        FileLock::acquire(&file, LockMode::Exclusive, &note("next"), LATE).unwrap();
    }

    #[test]
    fn a_queues_record_stands_until_the_next_holder_has_another() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("goal.db");
        let take = |what: &str| FileLock::acquire(&file, LockMode::Queued, &note(what), SOON);
        let operation = || read_holder(&file).and_then(|holder| holder.operation);
        let lock_file = lock_path(&file).unwrap();
        drop(take("a long operation").unwrap());
        assert_eq!(operation().as_deref(), Some("a long operation"));
        let written = || std::fs::metadata(&lock_file).unwrap().modified().unwrap();
        let old = std::time::SystemTime::UNIX_EPOCH;
        File::options().write(true).open(&lock_file).unwrap().set_modified(old).unwrap();
        drop(take("a long operation").unwrap());
        assert_eq!(written(), old, "the same record is not written again");
        let held = take("b").unwrap();
        assert_eq!(operation().as_deref(), Some("b"));
        let error = take("c").unwrap_err();
        assert!(error.text().contains("process 4711 (b)"), "{}", error.text());
        drop(held);
        FileLock::acquire(&file, LockMode::Exclusive, &note("d"), SOON).unwrap();
        assert_eq!(operation(), None, "a lock that may be shared names nobody when it is free");
    }

    #[test]
    fn a_waiter_gets_the_lock_when_it_is_let_go() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        let held = FileLock::acquire(&file, LockMode::Exclusive, &note("a"), SOON).unwrap();
        let other = file.clone();
        let waiter = std::thread::spawn(move || {
            FileLock::acquire(&other, LockMode::Exclusive, &note("b"), LATE).map(drop)
        });
        std::thread::sleep(SOON);
        drop(held);
        waiter.join().unwrap().unwrap();
    }

    #[test]
    fn readers_share() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        let _one = FileLock::acquire(&file, LockMode::Shared, &note("a"), SOON).unwrap();
        let _two = FileLock::shared_if_possible(&file, &note("b"), SOON).unwrap().unwrap();
        assert!(FileLock::try_acquire(&file, LockMode::Exclusive, &note("c")).unwrap().is_none());
    }

    #[test]
    fn a_lock_file_that_was_unlinked_is_noticed_by_holder_and_waiter() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        let held = FileLock::acquire(&file, LockMode::Exclusive, &note("a"), SOON).unwrap();
        let other = file.clone();
        let waiter = std::thread::spawn(move || {
            FileLock::acquire(&other, LockMode::Exclusive, &note("b"), LATE).unwrap()
        });
        std::thread::sleep(SOON);
        std::fs::remove_file(dir.path().join("f.lock")).unwrap();
        assert!(!held.is_current());
        drop(held);
        // The waiter got the unlinked file, saw it, and locked the new one.
        assert!(waiter.join().unwrap().is_current());
    }

    #[test]
    fn lock_file_is_private_and_garbage_in_it_is_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        let lock_file = dir.path().join("f.lock");
        drop(FileLock::acquire(&file, LockMode::Exclusive, &note("a"), SOON).unwrap());
        let mode = std::fs::metadata(&lock_file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for garbage in ["", "{", "[1]", "{}", "\0\u{1}\n", "{\"operation\":\"///\"}"] {
            std::fs::write(&lock_file, garbage).unwrap();
            assert!(read_holder(&file).is_none(), "{garbage:?}");
            drop(FileLock::acquire(&file, LockMode::Exclusive, &note("a"), SOON).unwrap());
        }
    }

    #[test]
    fn a_lock_file_that_is_a_link_is_refused_and_its_target_untouched() {
        let dir = tempfile::tempdir().unwrap();
        let precious = dir.path().join("precious");
        std::fs::write(&precious, "keep").unwrap();
        std::os::unix::fs::symlink(&precious, dir.path().join("f.lock")).unwrap();
        let file = dir.path().join("f");
        let error = FileLock::acquire(&file, LockMode::Exclusive, &note("a"), SOON).unwrap_err();
        assert_eq!(error.code, ErrorCode::IoFailed);
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "keep");
    }

    #[test]
    fn two_links_to_one_file_meet_at_one_lock() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "").unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("f", &link).unwrap();
        let _held = FileLock::acquire(&file, LockMode::Exclusive, &note("a"), SOON).unwrap();
        assert!(FileLock::try_acquire(&link, LockMode::Shared, &note("b")).unwrap().is_none());
    }

    #[test]
    fn a_shared_lock_without_a_folder_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("missing/f");
        assert!(FileLock::shared_if_possible(&file, &note("a"), SOON).unwrap().is_none());
    }
}
