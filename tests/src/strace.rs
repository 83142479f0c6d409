//! Reads a log of `strace -f -o` for what a pure read must not do.

/// The calls to trace: everything that changes a file system, starts something or
/// talks to somebody. A name with `?` may be unknown to this machine.
pub const CALLS: &str = "trace=open,openat,?openat2,creat,truncate,ftruncate,fallocate,\
    rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,mknod,mknodat,\
    link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,?fchmodat2,chown,fchown,lchown,fchownat,\
    utime,utimes,futimesat,utimensat,setxattr,lsetxattr,fsetxattr,\
    removexattr,lremovexattr,fremovexattr,mount,umount2,\
    socket,socketpair,connect,bind,fork,vfork,clone,?clone3,execve,execveat";

/// Each line of the log that a read must not have. The first `execve` is the start
/// of the program itself; an attempt that failed counts like one that did not.
pub fn offences(log: &str) -> Vec<String> {
    let mut started = false;
    let mut offences = Vec::new();
    for line in log.lines() {
        // `123 name(arguments) = result`; exits and signals have no such name.
        let call = line.split_once(' ').map_or(line, |(_, call)| call.trim_start());
        let Some((name, arguments)) = call.split_once('(') else { continue };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            continue;
        }
        let innocent = match name {
            "execve" if !started => {
                started = true;
                true
            }
            "open" | "openat" | "openat2" => only_reads(arguments),
            _ => false,
        };
        if !innocent {
            offences.push(line.to_owned());
        }
    }
    offences
}

/// Whether an open is for reading alone. `/dev/null` may be written to.
fn only_reads(arguments: &str) -> bool {
    let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_TMPFILE"];
    // The flags come after the path, which is quoted and may hold anything.
    let Some((head, flags)) = arguments.rsplit_once('"') else { return false };
    head.ends_with("\"/dev/null") || !writes.iter().any(|flag| flags.contains(flag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_is_no_offence() {
        let log = "7 execve(\"/bin/x\", [\"x\"], 0x7f /* 4 vars */) = 0\n\
                   7 openat(AT_FDCWD, \"/etc/O_CREAT\", O_RDONLY|O_CLOEXEC) = 3\n\
                   7 openat(AT_FDCWD, \"/dev/null\", O_RDWR) = 4\n\
                   7 --- SIGCHLD {si_signo=SIGCHLD} ---\n\
                   7 +++ exited with 0 +++\n";
        assert_eq!(offences(log), [""; 0]);
    }

    #[test]
    fn writing_starting_and_talking_are_offences_even_when_they_fail() {
        for line in [
            "7 openat(AT_FDCWD, \"a\", O_RDWR|O_CREAT|O_CLOEXEC, 0644) = -1 EROFS (Read-only file system)",
            "7 openat2(3, \"a\", {flags=O_WRONLY, resolve=0}, 24) = 4",
            "7 unlink(\"a\") = 0",
            "7 mkdirat(AT_FDCWD, \"a\", 0777) = -1 EEXIST (File exists)",
            "7 socket(AF_UNIX, SOCK_STREAM, 0) = 3",
            "7 clone3({flags=CLONE_VM|CLONE_THREAD}, 88 <unfinished ...>",
            "8 execve(\"/bin/git\", [\"git\"], 0x7f /* 4 vars */) = 0",
        ] {
            let log = format!("7 execve(\"/bin/x\", [\"x\"], 0x7f /* 4 vars */) = 0\n{line}\n");
            assert_eq!(offences(&log), [line]);
        }
    }
}
