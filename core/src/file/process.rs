//! Is a process still there? Evidence about a holder, and proof of its death. Only a
//! holder on this machine can be proved dead; any other is taken to live.

use crate::model::HolderEvidence;

/// Evidence about the process `pid` of this machine; `None` where the system has none to
/// give, and when there is no such process.
pub fn evidence(pid: u32) -> Option<HolderEvidence> {
    Some(HolderEvidence { pid, started: started(pid)?, boot_id: boot_id()?, host: host()? })
}

/// Whether the holder has died for certain: on this machine, and either the machine has
/// started again, or the process is gone, or its number belongs to another.
pub fn is_dead(holder: &HolderEvidence) -> bool {
    let (Some(host), Some(boot)) = (host(), boot_id()) else { return false };
    host == holder.host && (boot != holder.boot_id || started(holder.pid) != Some(holder.started))
}

/// Whether there is no process of that number here; where the system cannot tell, the answer
/// is no. A process of another container may have it all the same.
pub fn is_gone(pid: u32) -> bool {
    std::fs::exists("/proc/self").unwrap_or(false) && started(pid).is_none()
}

fn host() -> Option<String> {
    line("/proc/sys/kernel/hostname")
}

fn boot_id() -> Option<String> {
    line("/proc/sys/kernel/random/boot_id")
}

fn line(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|t| !t.is_empty())
}

/// When a process started, in clock ticks since boot; `None` when it is gone or only a
/// zombie, which holds nothing any more.
fn started(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may hold spaces and parentheses; fields are counted from the last one.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    if matches!(fields.first(), Some(&"Z" | &"X")) {
        return None;
    }
    fields.get(19)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_alive_until_it_is_killed_and_a_foreign_host_never_dies() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let holder = evidence(child.id()).unwrap();
        assert!(!is_dead(&holder));
        assert!(!is_dead(&HolderEvidence { host: "elsewhere".into(), pid: 1, ..holder.clone() }));
        assert!(is_dead(&HolderEvidence { started: holder.started + 1, ..holder.clone() }));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_dead(&holder));
    }
}
