//! One managed file on disk.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::leaves;
use super::marker::{Found, read};
use crate::error::{Error, ErrorCode, Result};
use crate::file::{exchange, read_bounded};

/// The largest file that is looked at; ours are far smaller.
const LIMIT: u64 = 1024 * 1024;

/// What became of a file, or in a preview would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was not there.
    Created,
    /// It was of another version.
    Updated,
    /// It is as this version makes it.
    Unchanged,
    /// It was ours, as written.
    Removed,
    /// There was nothing to remove.
    Absent,
    /// It is ours and edited; the edit stays.
    KeptUserEdits,
    /// It is not ours.
    SkippedUserFile,
    /// It is the earlier tool's.
    SkippedEarlierToolFile,
    /// A link or a folder stands there, or on the way.
    SkippedLink,
    /// This version brings no such file.
    NotInThisVersion,
}

impl Status {
    /// Its word; what a preview only would do says so.
    pub const fn word(self, dry_run: bool) -> &'static str {
        match (self, dry_run) {
            (Self::Created, false) => "created",
            (Self::Created, true) => "would_create",
            (Self::Updated, false) => "updated",
            (Self::Updated, true) => "would_update",
            (Self::Removed, false) => "removed",
            (Self::Removed, true) => "would_remove",
            (Self::Unchanged, _) => "unchanged",
            (Self::Absent, _) => "absent",
            (Self::KeptUserEdits, _) => "kept_user_edits",
            (Self::SkippedUserFile, _) => "skipped_user_file",
            (Self::SkippedEarlierToolFile, _) => "skipped_earlier_tool_file",
            (Self::SkippedLink, _) => "skipped_link",
            (Self::NotInThisVersion, _) => "not_in_this_version",
        }
    }

    /// What a word means where it asks for a person's eyes.
    pub fn note(word: &str) -> Option<&'static str> {
        Some(match word {
            "kept_user_edits" => {
                "it was edited by hand and stays as it is; move it away and install again for this version's"
            }
            "skipped_user_file" => "a file of yours has this name; it is left alone",
            "skipped_earlier_tool_file" => {
                "the earlier tool installed this; its own `slash-commands --uninstall` takes it away"
            }
            "skipped_link" => {
                "a link or something else that is no file stands here; it is left alone"
            }
            "not_in_this_version" => "this version brings no such file",
            _ => return None,
        })
    }
}

/// What is to be done with one file.
pub(super) struct Step<'a> {
    pub path: &'a Path,
    /// The folder that it may not leave.
    pub inside: Option<&'a Path>,
    pub wanted: &'a [u8],
    pub dry_run: bool,
}

enum There {
    Nothing,
    Link,
    File(Vec<u8>),
}

impl Step<'_> {
    fn there(&self) -> Result<There> {
        if self.inside.is_some_and(|folder| leaves(self.path, folder)) {
            return Ok(There::Link);
        }
        match fs::symlink_metadata(self.path) {
            Ok(found) if found.is_file() => {
                let bytes = read_bounded(self.path, LIMIT, "managed file")?;
                Ok(bytes.map_or(There::Nothing, There::File))
            }
            Ok(_) => Ok(There::Link),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(There::Nothing),
            // A file stands where a folder of the path would be.
            Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(There::Link),
            Err(error) => Err(Error::from_io(&error, "managed file", self.path)),
        }
    }

    /// Puts it in place.
    pub(super) fn put(&self) -> Result<Status> {
        let status = match &self.there()? {
            There::Link => Status::SkippedLink,
            There::Nothing => {
                self.write(None)?;
                Status::Created
            }
            There::File(bytes) if bytes == self.wanted => Status::Unchanged,
            There::File(bytes) => match read(bytes) {
                Found::Intact(_) => {
                    self.write(Some(bytes))?;
                    Status::Updated
                }
                Found::Edited => Status::KeptUserEdits,
                Found::Earlier => Status::SkippedEarlierToolFile,
                Found::Foreign => Status::SkippedUserFile,
            },
        };
        Ok(status)
    }

    fn write(&self, expected: Option<&[u8]>) -> Result<()> {
        if self.dry_run {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)
                .map_err(|e| Error::from_io(&e, "folder of a managed file", folder))?;
        }
        let displaced = exchange(self.path, self.wanted)?.displaced;
        if displaced.as_deref() != expected {
            // Somebody wrote it between the look and now: theirs goes back.
            match displaced {
                Some(theirs) => drop(exchange(self.path, &theirs)?),
                None => drop(fs::remove_file(self.path)),
            }
            return Err(Error::new(ErrorCode::IoFailed, "managed file")
                .message("the file changed while it was being replaced; it is as it was"));
        }
        Ok(())
    }

    /// Takes it away.
    pub(super) fn take_away(&self) -> Result<Status> {
        let bytes = match self.there()? {
            There::Link => return Ok(Status::SkippedLink),
            There::Nothing => return Ok(Status::Absent),
            There::File(bytes) => bytes,
        };
        let status = match read(&bytes) {
            Found::Intact(_) => Status::Removed,
            Found::Edited => Status::KeptUserEdits,
            Found::Earlier => Status::SkippedEarlierToolFile,
            Found::Foreign => Status::SkippedUserFile,
        };
        if status == Status::Removed && !self.dry_run {
            fs::remove_file(self.path)
                .map_err(|e| Error::from_io(&e, "managed file", self.path))?;
            // The folder is ours when it has our name, and goes when nothing else is in it.
            if let Some(folder) = self.path.parent().filter(|f| f.ends_with("loopx")) {
                let _ = fs::remove_dir(folder);
            }
        }
        Ok(status)
    }
}
