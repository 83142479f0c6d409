//! Replacing a file as a whole, so that a reader and a crash see the old content or
//! the new one. Not for appending, and no lock: callers hold one.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::digest::hex;
use super::leftover;
use super::read::{not_regular, read_bounded, resolve_target};
use crate::error::{Error, ErrorCode, Result};

/// Mode of a file that did not exist.
const NEW_MODE: u32 = 0o644;

/// The largest file that [`exchange`] hands back.
const MAX_DISPLACED: u64 = 64 * 1024 * 1024;

/// Whether a replaced file survives a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// File and folder are on the disk when the call returns.
    Synced,
    /// The system writes when it likes; the replacement is atomic all the same.
    Unsynced,
}

/// What [`exchange`] took out of the way.
#[derive(Debug)]
pub struct Exchanged {
    /// The bytes that stood there at the instant of the exchange; `None` when the
    /// file did not exist.
    pub displaced: Option<Vec<u8>>,
    /// The displaced file itself: perhaps the only copy of somebody's text, so it stays until
    /// it is [discarded](Self::discard).
    file: Option<PathBuf>,
}

impl Exchanged {
    /// Removes the displaced file: its text is nobody's, or is safe elsewhere.
    pub fn discard(self) {
        if let Some(file) = self.file {
            // It is found as a leftover if it stays.
            let _ = fs::remove_file(file);
        }
    }
}

/// Replaces the content of `path`, or makes the file with mode 0644.
///
/// Links are followed and stay; an existing file keeps its mode, and its owner where
/// the system allows. On an error the old content stands and the temporary file is
/// gone. One exception: when the folder cannot be synced after the rename, the new
/// content stands and the error is [`ErrorCode::DurabilityUnknown`].
pub fn replace(path: &Path, bytes: &[u8], durability: Durability) -> Result<()> {
    replace_with_mode(path, bytes, durability, NEW_MODE)
}

/// [`replace`], with `new_mode` for a file that did not exist.
pub fn replace_with_mode(
    path: &Path,
    bytes: &[u8],
    durability: Durability,
    new_mode: u32,
) -> Result<()> {
    let target = resolve_target(path)?;
    let folder = match durability {
        // Opened before the rename, so that a folder that cannot be opened changes nothing.
        Durability::Synced => {
            let folder = folder_of(&target);
            Some(File::open(folder).map_err(|error| Error::from_io(&error, "folder", folder))?)
        }
        Durability::Unsynced => None,
    };
    let staged = Staged::write(&target, bytes, durability, new_mode)?;
    fs::rename(&staged.path, &target).map_err(|error| Error::from_io(&error, "file", &target))?;
    staged.done();
    folder.map_or(Ok(()), |folder| sync_folder(&folder, &target))
}

/// Replaces the content of `path` (unsynced) and answers what stood there, also when
/// an editor saved a moment before: the two names are exchanged where the system can,
/// so nothing falls between reading and replacing. Elsewhere the file is read just
/// before the rename.
///
/// When the displaced file cannot be read it is put back and the error returned.
pub fn exchange(path: &Path, new_bytes: &[u8]) -> Result<Exchanged> {
    let target = resolve_target(path)?;
    let mut staged = Staged::write(&target, new_bytes, Durability::Unsynced, NEW_MODE)?;
    // From here on the name is of a complete text: after a crash it may be a person's.
    let whole = staged.path.with_extension("swap");
    fs::rename(&staged.path, &whole).map_err(|error| Error::from_io(&error, "file", &target))?;
    staged.path = whole;
    let failed = |errno: Errno| Error::from_io(&errno.into(), "file", &target);
    // The file may appear or vanish between two looks; a few rounds settle it.
    for _ in 0..8 {
        match rename::swap(&staged.path, &target) {
            Ok(()) => return take_displaced(staged, &target),
            Err(Errno::NOENT) if staged.path.exists() => {}
            Err(errno) if cannot(errno) => return read_then_rename(staged, &target),
            Err(errno) => return Err(failed(errno)),
        }
        match rename::if_absent(&staged.path, &target) {
            Ok(()) => {
                staged.done();
                return Ok(Exchanged { displaced: None, file: None });
            }
            Err(Errno::EXIST) => {}
            Err(errno) if cannot(errno) => return read_then_rename(staged, &target),
            Err(errno) => return Err(failed(errno)),
        }
    }
    Err(Error::new(ErrorCode::IoFailed, "file")
        .message("the file comes and goes while it is being replaced")
        .detail(target.display()))
}

fn take_displaced(staged: Staged, target: &Path) -> Result<Exchanged> {
    match read_bounded(&staged.path, MAX_DISPLACED, "file") {
        Ok(displaced) => {
            let file = Some(staged.path.clone());
            staged.done();
            Ok(Exchanged { displaced, file })
        }
        Err(error) => match rename::swap(&staged.path, target) {
            Ok(()) => Err(error),
            Err(_) => {
                // Better a stray file than the only copy of somebody's text gone.
                let kept = format!("the displaced text is kept in {}", staged.path.display());
                staged.done();
                Err(error.detail(kept))
            }
        },
    }
}

fn read_then_rename(staged: Staged, target: &Path) -> Result<Exchanged> {
    let displaced = read_bounded(target, MAX_DISPLACED, "file")?;
    fs::rename(&staged.path, target).map_err(|error| Error::from_io(&error, "file", target))?;
    staged.done();
    Ok(Exchanged { displaced, file: None })
}

/// The answers of systems and file systems that know no such rename.
fn cannot(errno: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::OPNOTSUPP].contains(&errno)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod rename {
    use std::path::Path;

    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Result;

    pub(super) fn swap(a: &Path, b: &Path) -> Result<()> {
        renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)
    }

    pub(super) fn if_absent(from: &Path, to: &Path) -> Result<()> {
        renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod rename {
    use std::path::Path;

    use rustix::io::{Errno, Result};

    pub(super) fn swap(_: &Path, _: &Path) -> Result<()> {
        Err(Errno::NOSYS)
    }

    pub(super) fn if_absent(_: &Path, _: &Path) -> Result<()> {
        Err(Errno::NOSYS)
    }
}

/// New content under a temporary name in the target's folder; removed when dropped.
struct Staged {
    path: PathBuf,
    renamed: bool,
}

impl Staged {
    fn write(target: &Path, bytes: &[u8], durability: Durability, new_mode: u32) -> Result<Self> {
        let failed = |error: &io::Error| Error::from_io(error, "file", target);
        let existing = match fs::symlink_metadata(target) {
            Ok(meta) if meta.is_file() => Some(meta),
            Ok(_) => return Err(not_regular("file", target)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(failed(&error)),
        };
        let (mut file, path) =
            create_unique(folder_of(target), &leftover::tag(target)).map_err(|e| failed(&e))?;
        let staged = Self { path, renamed: false };
        file.write_all(bytes).map_err(|error| failed(&error))?;
        if let Some(meta) = &existing {
            let mine = file.metadata().map_err(|error| failed(&error))?;
            if (mine.uid(), mine.gid()) != (meta.uid(), meta.gid()) {
                // Only root may give files away; for others the new owner is who wrote it.
                let _ = std::os::unix::fs::fchown(&file, Some(meta.uid()), Some(meta.gid()));
            }
        }
        let mode = existing.map_or(new_mode, |meta| meta.permissions().mode() & 0o7777);
        file.set_permissions(Permissions::from_mode(mode)).map_err(|error| failed(&error))?;
        if durability == Durability::Synced {
            // Also where a file system reports what it could not write earlier.
            file.sync_all().map_err(|error| failed(&error))?;
        }
        Ok(staged)
    }

    fn done(mut self) {
        self.renamed = true;
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A new private file with a name that is short whatever the target's, which may already be
/// as long as names can be.
fn create_unique(folder: &Path, tag: &str) -> io::Result<(File, PathBuf)> {
    let mut last = io::Error::from(ErrorKind::AlreadyExists);
    for _ in 0..4 {
        let mut seed = [0_u8; 12];
        getrandom::fill(&mut seed).map_err(io::Error::other)?;
        let path = folder.join(leftover::name(tag, &hex(&seed)));
        match OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Makes a file beside `target` and removes it again.
pub(crate) fn try_folder(target: &Path) -> io::Result<()> {
    let (file, path) = create_unique(folder_of(target), &leftover::tag(target))?;
    drop(file);
    fs::remove_file(path)
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn sync_folder(folder: &File, target: &Path) -> Result<()> {
    match folder.sync_all() {
        Ok(()) => Ok(()),
        // Some file systems know no sync of a folder.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        Err(error) => Err(Error::from_io(&error, "folder", target).after_the_change()),
    }
}

/// Makes the last replacement of `path` survive a power cut: for a caller that answers what
/// an earlier call did, which may have failed at just this.
pub fn sync_replaced(path: &Path) -> Result<()> {
    let target = resolve_target(path)?;
    let folder = folder_of(&target);
    match File::open(folder) {
        Ok(open) => sync_folder(&open, &target),
        Err(error) => Err(Error::from_io(&error, "folder", folder).after_the_change()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn link_and_mode_are_kept_and_nothing_is_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        let link = dir.path().join("link");
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
        symlink("real", &link).unwrap();
        for durability in [Durability::Synced, Durability::Unsynced] {
            replace(&link, b"new", durability).unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read(&real).unwrap(), b"new");
            assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o7777, 0o640);
        }
        assert_eq!(names(dir.path()), ["link", "real"]);
    }

    #[test]
    fn a_new_file_gets_the_stated_mode_whatever_the_umask() {
        let dir = tempfile::tempdir().unwrap();
        let mode =
            |name: &str| fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o7777;
        replace(&dir.path().join("a"), b"", Durability::Unsynced).unwrap();
        replace_with_mode(&dir.path().join("b"), b"", Durability::Unsynced, 0o600).unwrap();
        assert_eq!((mode("a"), mode("b")), (0o644, 0o600));
    }

    #[test]
    fn a_dangling_link_gets_its_target_and_a_circle_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        symlink("target", dir.path().join("link")).unwrap();
        replace(&dir.path().join("link"), b"x", Durability::Synced).unwrap();
        assert_eq!(fs::read(dir.path().join("target")).unwrap(), b"x");
        symlink("loop", dir.path().join("loop")).unwrap();
        let error = replace(&dir.path().join("loop"), b"x", Durability::Synced).unwrap_err();
        assert_eq!(error.code, ErrorCode::IoFailed);
    }

    #[test]
    fn a_failed_replace_leaves_no_temporary_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        assert!(replace(&dir.path().join("folder"), b"x", Durability::Synced).is_err());
        assert!(exchange(&dir.path().join("folder"), b"x").is_err());
        assert!(replace(&dir.path().join("no/file"), b"x", Durability::Synced).is_err());
        assert_eq!(names(dir.path()), ["folder"]);
    }

    #[test]
    fn exchange_answers_what_it_displaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state.md");
        assert_eq!(exchange(&path, b"one").unwrap().displaced, None);
        let displaced = |path: &Path, bytes: &[u8]| {
            let exchanged = exchange(path, bytes).unwrap();
            let displaced = exchanged.displaced.clone();
            // The only copy stays until it is told that it is not.
            assert_eq!(names(dir.path()).len(), 3);
            exchanged.discard();
            displaced
        };
        fs::set_permissions(&path, Permissions::from_mode(0o604)).unwrap();
        let link = dir.path().join("link.md");
        symlink("state.md", &link).unwrap();
        assert_eq!(displaced(&link, b"two").unwrap(), b"one");
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o604);
        assert_eq!(names(dir.path()), ["link.md", "state.md"]);
    }

    #[test]
    fn nothing_written_between_two_exchanges_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let threads: Vec<_> = (0..2)
            .map(|who: u32| {
                let path = path.clone();
                std::thread::spawn(move || {
                    (0..60)
                        .filter_map(|n| {
                            let done = exchange(&path, format!("{who}-{n}").as_bytes()).unwrap();
                            let displaced = done.displaced.clone();
                            done.discard();
                            displaced
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let mut seen: Vec<_> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
        seen.push(fs::read(&path).unwrap());
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 120, "every text was displaced once or stands at the end");
    }
}
