//! Reading a file that anybody may have put there, and finding the file behind
//! symbolic links. Nothing here writes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::error::{Error, ErrorCode, Result};

/// As many links as Linux itself follows.
const MAX_LINKS: usize = 40;

/// Bytes of a regular file, `None` when nothing is at `path`.
///
/// Never blocks: a pipe is opened without waiting and then refused, like a folder, a
/// socket or a device. More than `max_bytes` is an error, not a cut. `role` says in
/// errors what the file is for.
pub fn read_bounded(path: &Path, max_bytes: u64, role: &str) -> Result<Option<Vec<u8>>> {
    let file = match OpenOptions::new()
        .read(true)
        .custom_flags(flags(OFlags::NONBLOCK | OFlags::NOCTTY))
        .open(path)
    {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(read_error(&error, role, path)),
    };
    read_open(&file, max_bytes, role, path).map(Some)
}

/// Bytes of an open regular file, from its present position.
pub(super) fn read_open(
    mut file: &File,
    max_bytes: u64,
    role: &str,
    path: &Path,
) -> Result<Vec<u8>> {
    let meta = file.metadata().map_err(|error| read_error(&error, role, path))?;
    if !meta.is_file() {
        return Err(not_regular(role, path));
    }
    let expected = meta.len().min(max_bytes);
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0).saturating_add(1));
    file.by_ref()
        .take(max_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| read_error(&error, role, path))?;
    if bytes.len() as u64 > max_bytes {
        return Err(Error::new(ErrorCode::IoFailed, role)
            .message(format!("the {role} is larger than the {max_bytes} bytes that are read"))
            .next("look at what has grown in the file, and move it elsewhere")
            .detail(path.display()));
    }
    Ok(bytes)
}

/// The path behind any symbolic links of `path` itself, which need not exist.
/// Links that lead in a circle are [`ErrorCode::IoFailed`].
pub fn resolve_target(path: &Path) -> Result<PathBuf> {
    let mut current = path.to_path_buf();
    for _ in 0..=MAX_LINKS {
        match fs::symlink_metadata(&current) {
            Ok(meta) if meta.is_symlink() => {
                let link =
                    fs::read_link(&current).map_err(|e| Error::from_io(&e, "file", &current))?;
                current = match current.parent() {
                    Some(folder) => folder.join(link),
                    None => link,
                };
            }
            Ok(_) => return Ok(current),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(current),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                break;
            }
            Err(error) => return Err(Error::from_io(&error, "file", &current)),
        }
    }
    Err(Error::new(ErrorCode::IoFailed, "file")
        .message("symbolic links lead in a circle")
        .next("point the link at a file")
        .detail(path.display()))
}

pub(super) fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}

pub(super) fn not_regular(role: &str, path: &Path) -> Error {
    Error::new(ErrorCode::IoFailed, role)
        .message(format!("the {role} is not a regular file"))
        .next("put a regular file in its place")
        .detail(path.display())
}

/// Like [`Error::from_io`], for a file that was only to be read.
fn read_error(error: &io::Error, role: &str, path: &Path) -> Error {
    match error.kind() {
        ErrorKind::PermissionDenied => Error::new(ErrorCode::RegistryDenied, role)
            .message(format!("the {role} may not be read"))
            .detail(format!("{}: {error}", path.display())),
        _ => Error::new(ErrorCode::IoFailed, role).detail(format!("{}: {error}", path.display())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn absent_is_none_and_too_large_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert!(read_bounded(&path, 10, "registry").unwrap().is_none());
        fs::write(&path, "0123456789").unwrap();
        assert_eq!(read_bounded(&path, 10, "registry").unwrap().unwrap(), b"0123456789");
        let error = read_bounded(&path, 9, "registry").unwrap_err();
        assert_eq!(error.code, ErrorCode::IoFailed);
        assert!(!error.to_json().to_string().contains("/tmp"));
    }

    #[test]
    fn pipes_folders_and_devices_are_refused_without_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        for path in [pipe.as_path(), dir.path(), Path::new("/dev/null")] {
            let error = read_bounded(path, 10, "registry").unwrap_err();
            assert_eq!(error.code, ErrorCode::IoFailed, "{path:?}");
        }
    }

    #[test]
    fn links_are_followed_to_a_target_that_may_be_missing_and_circles_are_refused() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        symlink("b", dir.path().join("a")).unwrap();
        symlink("c", dir.path().join("b")).unwrap();
        assert_eq!(resolve_target(&dir.path().join("a")).unwrap(), dir.path().join("c"));
        symlink("a", dir.path().join("c")).unwrap();
        let error = resolve_target(&dir.path().join("a")).unwrap_err();
        assert_eq!(error.code, ErrorCode::IoFailed);
        assert!(error.text().contains("circle"));
    }
}
