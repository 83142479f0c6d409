//! Kinds of file system: which of them let locks of two hosts pass each other.
//! Not a free-space or mount-option check.

use std::path::Path;

use crate::error::{Error, ErrorCode, Result};

/// Network and cluster file systems by the number that `statfs` reports on Linux.
/// FUSE is absent on purpose: most of what it carries is local, and the number says
/// nothing about what is behind it.
const NETWORK_KINDS: &[(u32, &str)] = &[
    (0x0000_6969, "NFS"),
    (0x0000_517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x00c3_6400, "Ceph"),
    (0x7375_7245, "Coda"),
    (0x0000_564c, "NCP"),
    (0x0102_1997, "9p"),
    (0x0bd0_0bd0, "Lustre"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0x1983_0326, "BeeGFS"),
    (0x4750_4653, "GPFS"),
    (0x2003_0528, "OrangeFS"),
];

/// Name of the network file system with this `statfs` number; `None` for any other.
pub fn network_kind(magic: u32) -> Option<&'static str> {
    NETWORK_KINDS.iter().find(|(number, _)| *number == magic).map(|(_, name)| *name)
}

/// Refuses `path` when it, or its nearest existing ancestor, lies on a network file
/// system ([`ErrorCode::NetworkFileSystem`], naming the kind). Other systems than Linux
/// have no such number and are let through.
pub fn refuse_network(path: &Path) -> Result<()> {
    match kind_of(path)? {
        Some(kind) => Err(Error::new(ErrorCode::NetworkFileSystem, "file system")
            .message(format!(
                "the store would lie on a {kind} file system, where locks do not hold between hosts"
            ))
            .detail(path.display())),
        None => Ok(()),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn kind_of(path: &Path) -> Result<Option<&'static str>> {
    use rustix::io::Errno;
    for ancestor in path.ancestors() {
        let place = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
        match rustix::fs::statfs(place) {
            // The number is 32 bits wide; some targets hold it in a signed long.
            Ok(stat) => return Ok(network_kind((stat.f_type as u64 & 0xffff_ffff) as u32)),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(errno) => return Err(Error::from_io(&errno.into(), "file system", place)),
        }
    }
    Ok(None)
}

/// Whether `path` is known to lie on a disk of this machine, where what is written is seen
/// at once and stamped by this machine's clock. FUSE may carry anything.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn is_local(path: &Path) -> bool {
    const FUSE: u32 = 0x6573_5546;
    rustix::fs::statfs(path).is_ok_and(|stat| {
        let number = (stat.f_type as u64 & 0xffff_ffff) as u32;
        number != FUSE && network_kind(number).is_none()
    })
}

/// Other systems than Linux do not say.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn is_local(_path: &Path) -> bool {
    false
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn kind_of(_path: &Path) -> Result<Option<&'static str>> {
    Ok(None)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn network_kinds_are_named_and_local_ones_are_not() {
        for (magic, name) in [(0x6969, "NFS"), (0xff53_4d42, "CIFS"), (0x0102_1997, "9p")] {
            assert_eq!(network_kind(magic), Some(name));
        }
        // ext4, btrfs, xfs, tmpfs, overlay, zfs, FUSE
        for magic in
            [0xef53, 0x9123_683e, 0x5846_5342, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1, 0x6573_5546]
        {
            assert_eq!(network_kind(magic), None);
        }
    }

    #[test]
    fn a_path_that_does_not_exist_is_judged_by_its_ancestor() {
        let dir = tempfile::tempdir().unwrap();
        refuse_network(&dir.path().join("a/b/c")).unwrap();
        std::fs::write(dir.path().join("file"), "x").unwrap();
        refuse_network(&dir.path().join("file/below")).unwrap();
    }
}
