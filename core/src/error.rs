//! The catalogue of errors: every refusal the product can give, in one table.
//!
//! A code is stable. Its row says the class, whether trying again can help, and
//! the general next step; an [`Error`] value adds what it is about and, where the
//! place knows better, its own next command. No row suggests destroying state.

use std::fmt;

use serde::Serialize;

/// What kind of failure a code is; decides the exception class in Python and the
/// colour in a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The request itself is malformed.
    Usage,
    /// Who is asking, or about which goal, is not settled.
    Identity,
    /// A rule says no.
    Refused,
    /// Something else holds what is needed; waiting helps.
    Busy,
    /// Stored state is missing, unreadable or of another version.
    State,
    /// The text may not be stored or shown.
    Boundary,
    /// A defect of ours.
    Internal,
}

/// Whether the same call can succeed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// Not without changing the request.
    Never,
    /// After somebody changes the state that the error names.
    AfterChange,
    /// Yes, as it is, after a while.
    Later,
}

/// One row of the catalogue.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ErrorRow {
    /// The enum value.
    #[serde(skip)]
    pub code: ErrorCode,
    /// Stable text of the code, as printed in `error_code`.
    #[serde(rename = "error_code")]
    pub text: &'static str,
    /// Class.
    pub class: ErrorClass,
    /// Exit status of the command line.
    pub exit: u8,
    /// Whether trying again helps.
    pub retry: Retry,
    /// What the code means.
    pub meaning: &'static str,
    /// The general next step.
    pub next_command: &'static str,
}

macro_rules! errors {
    ($($(#[$doc:meta])* $name:ident, $text:literal, $class:ident, $exit:literal, $retry:ident, $meaning:literal, $next:literal;)*) => {
        /// Every code, in catalogue order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $(#[doc = $meaning] $name,)*
        }

        /// The catalogue.
        pub const CATALOGUE: &[ErrorRow] = &[
            $(ErrorRow {
                code: ErrorCode::$name,
                text: $text,
                class: ErrorClass::$class,
                exit: $exit,
                retry: Retry::$retry,
                meaning: $meaning,
                next_command: $next,
            },)*
        ];

        impl ErrorCode {
            /// This code's row.
            pub fn row(self) -> &'static ErrorRow {
                match self {
                    $(ErrorCode::$name => {
                        const ROW: ErrorRow = ErrorRow {
                            code: ErrorCode::$name,
                            text: $text,
                            class: ErrorClass::$class,
                            exit: $exit,
                            retry: Retry::$retry,
                            meaning: $meaning,
                            next_command: $next,
                        };
                        &ROW
                    })*
                }
            }
        }
    };
}

errors! {
    RequestInvalid, "request_invalid", Usage, 1, Never, "the request is malformed", "loopx <command> --help";
    QuotaValidationFailed, "QUOTA_VALIDATION_FAILED", Usage, 1, Never, "an admission request is malformed", "loopx quota should-run --help";
    IdInvalid, "id_invalid", Usage, 1, Never, "an identifier has a shape that is not allowed", "give an identifier of the stated shape";
    AgentIdInvalid, "quota_agent_id_invalid", Identity, 1, Never, "an agent id has a shape that is not allowed", "loopx agent list --goal-id <goal>";
    RosterMissing, "quota_agent_registry_roster_missing", Identity, 1, AfterChange, "an agent id was given but the goal has no roster", "loopx agent register --goal-id <goal> --agent-id <agent>";
    AgentNotRegistered, "quota_agent_not_registered", Identity, 1, AfterChange, "the agent is not in the goal's roster", "loopx agent register --goal-id <goal> --agent-id <agent>";
    AgentRequired, "agent_required", Identity, 1, Never, "the goal has a roster and the command needs to know which agent acts", "name the agent with --agent-id";
    GoalUnknown, "goal_not_found", Identity, 1, AfterChange, "no goal of that id is in the registry", "loopx goal list";
    GoalDuplicated, "goal_duplicated", State, 1, AfterChange, "two entries of the registry have the same goal id", "loopx goal list";
    GoalRequired, "goal_required", Identity, 1, Never, "the registry has several goals and none was named", "name one with --goal-id; loopx goal list shows them";
    GoalNotImported, "goal_not_imported", State, 1, AfterChange, "the goal is still in the earlier tool's files; the first write imports it", "loopx goal adopt-legacy --goal-id <goal>";
    GoalExists, "goal_exists", Refused, 1, Never, "a goal of that id exists already", "loopx goal show --goal-id <goal>";
    GoalStopped, "goal_stopped", Refused, 1, AfterChange, "the goal is stopped", "loopx goal resume --goal-id <goal>";
    RegistryAmbiguous, "registry_ambiguous", Usage, 1, Never, "two global registries exist and none was named", "name one with --registry";
    RegistryInvalidJson, "quota_state_invalid_json", State, 1, AfterChange, "the registry is not JSON", "restore the registry file from version control or a backup";
    RegistryShape, "quota_state_shape_error", State, 1, AfterChange, "the registry is JSON of another shape", "restore the registry file from version control or a backup";
    RegistryDenied, "quota_state_permission_denied", State, 1, AfterChange, "the registry or state may not be read", "grant this user read access to the file";
    RegistryIo, "quota_state_io_failed", State, 1, Later, "the registry could not be read", "look at the file system, then call again";
    RegistryChanged, "registry_changed", Busy, 1, Later, "the registry changed between reading and writing", "call again";
    RouteCollision, "route_collision", Refused, 1, Never, "another project's goal has this id in the global registry", "choose another goal id";
    RouteCycle, "route_cycle", State, 1, AfterChange, "a source registry leads back to itself", "point source_registry at the project's own registry";
    RouteMissing, "route_missing", State, 1, AfterChange, "the source registry of the goal is missing or does not hold it", "run the command inside the project, or name its registry with --registry";
    GlobalRegistryDenied, "global_registry_write_denied", State, 1, AfterChange, "the global registry may not be written", "grant write access to the folder, or name another with --runtime-root";
    StoreUnreadable, "store_unreadable", State, 1, AfterChange, "the goal's store is missing or unreadable", "loopx store restore --goal-id <goal> --from <backup folder>";
    StoreNewer, "store_schema_newer", State, 1, AfterChange, "the store was written by a newer release", "upgrade loopx to the release that wrote it";
    StoreForeign, "store_foreign", State, 1, AfterChange, "the store belongs to another goal", "check the runtime root";
    NetworkFileSystem, "network_file_system", State, 1, AfterChange, "the store lies on a network file system, where locks do not hold between hosts", "put the runtime root on a local disk with --runtime-root";
    DiskFull, "disk_full", State, 1, AfterChange, "the file system is full", "free space, then call again; nothing was changed";
    WriteDenied, "write_denied", State, 1, AfterChange, "a file or folder may not be written", "grant write access, or name another folder with --runtime-root";
    IoFailed, "io_failed", State, 1, Later, "a file operation failed", "look at the file system, then call again";
    DurabilityUnknown, "durability_unknown", State, 1, Later, "the change was made, but whether it survives a power cut is not known", "call again with the same effect id or turn id: it answers the first receipt and does nothing twice";
    LockTimeout, "lock_acquire_timeout", Busy, 1, Later, "another process holds a lock", "wait for it, or look at the named process";
    StoreBusy, "store_busy", Busy, 1, Later, "the store is being written", "call again";
    StateFileUnreadable, "state_file_unreadable", State, 1, AfterChange, "the state file cannot be read as UTF-8 text", "mend or restore the state file";
    StateFileMissing, "state_file_missing", State, 1, AfterChange, "the state file is declared but missing or empty and was never imported", "restore the state file named by the registry";
    StateFileMalformed, "state_file_malformed", State, 1, AfterChange, "metadata of an open todo cannot be read", "mend the named line of the state file";
    LegacyWriterActive, "legacy_writer_active", Refused, 1, AfterChange, "the earlier tool has written to this goal since it was imported", "stop the earlier tool; then `loopx goal adopt-legacy`";
    TodoUnknown, "todo_not_found", Refused, 1, AfterChange, "no todo of that id is in the goal", "loopx todo list --goal-id <goal>";
    TodoInvalid, "todo_invalid", Usage, 1, Never, "the todo's fields contradict each other", "loopx todo add --help";
    TodoNotOpen, "todo_not_open", Refused, 1, AfterChange, "the todo is not open", "loopx todo list --goal-id <goal>";
    AlreadyClaimed, "already_claimed", Refused, 1, AfterChange, "another agent has claimed the todo", "take another todo: loopx quota should-run --goal-id <goal> --agent-id <agent>";
    AgentExcluded, "owner_excluded_from_todo", Refused, 1, Never, "the agent is excluded from the todo", "take another todo: loopx quota should-run --goal-id <goal> --agent-id <agent>";
    LeasedByOther, "todo_lease_conflict", Refused, 1, Later, "another agent holds a live lease on the todo", "take another todo, or wait until the lease ends";
    GateNeedsOutcome, "decision_outcome_required", Usage, 1, Never, "a gate is completed with an outcome", "add --decision-outcome approve, reject or cancel";
    OutcomeNotForGate, "decision_outcome_forbidden", Usage, 1, Never, "only a gate takes a decision outcome", "leave out --decision-outcome";
    GrantUnknown, "grant_not_found", Refused, 1, AfterChange, "no grant of that id is in the goal", "loopx gate grants --goal-id <goal>";
    SpendUnknown, "spend_not_found", Refused, 1, AfterChange, "no spend of that id or instant is in the goal", "loopx quota status --goal-id <goal>";
    AcceptanceUnknown, "acceptance_not_found", Refused, 1, AfterChange, "no acceptance entry of that text or index is in the goal", "loopx goal accept list --goal-id <goal>";
    EffectConflict, "effect_conflict", Refused, 1, Never, "the effect id was used with another body", "repeat the first call exactly, or use a new effect id";
    SchedulerHintChanged, "scheduler_hint_changed", Refused, 1, AfterChange, "what a host says is about another hint than the current one", "loopx quota should-run --goal-id <goal> --agent-id <agent> -A";
    TurnConflict, "turn_conflict", Refused, 1, Never, "the turn id is bound to something else", "use a new turn id";
        TurnNotLive, "turn_not_live", Refused, 1, Never, "the turn has ended or was answered with a skip", "admit a new turn";
    TtlInvalid, "invalid_ttl", Usage, 1, Never, "a time to live is out of range", "give 1 to 86400 seconds";
    EvidenceRequired, "evidence_required", Usage, 1, Never, "progress and completion are settled with evidence", "add --evidence TEXT";
    ReasonRequired, "reason_required", Usage, 1, Never, "a blocked todo says why", "add --reason TEXT";
    NothingToComplete, "nothing_to_complete", Usage, 1, Never, "the turn was not admitted for a todo", "settle with --outcome progress";
    LeaseRequired, "handoff_mode_requires_lease", Refused, 1, AfterChange, "the goal's handoff mode is hard_lease: the agent needs a live lease on the todo", "loopx task-lease acquire --goal-id <goal> --todo-id <todo> --owner <agent> --idempotency-key <key>";
    LeaseForbidden, "handoff_mode_forbids_lease", Refused, 1, AfterChange, "the goal's handoff mode is soft_claim: there are no leases", "loopx todo claim --goal-id <goal> --todo-id <todo> --claimed-by <agent>";
    HandoffBusy, "handoff_mode_not_quiescent", Refused, 1, AfterChange, "claimed open todos or live leases stand in the way of another handoff mode", "finish or release them first";
    LeaseNotActive, "lease_not_active", Refused, 1, AfterChange, "there is no live lease of this owner and key", "loopx task-lease inspect --goal-id <goal> --todo-id <todo>";
    LeaseVersion, "version_mismatch", Refused, 1, AfterChange, "the lease has changed since it was read", "loopx task-lease inspect --goal-id <goal> --todo-id <todo>";
    LeaseKeyReuse, "idempotency_key_reuse", Refused, 1, Never, "the idempotency key was used for another lease", "use a new key";
    LeaseFenced, "lease_fence_required", Refused, 1, Never, "another agent has had the todo since; the lease is of an earlier epoch", "loopx quota should-run --goal-id <goal> --agent-id <agent>";
    WriteScopeConflict, "write_scope_conflict", Refused, 1, Later, "a live lease of another todo writes the same paths", "loopx task-lease inspect --goal-id <goal> --todo-id <todo>";
    LoopUnknown, "loop_unknown", Refused, 1, AfterChange, "no loop of that goal runs in the session", "loopx loop step --goal-id <goal> --host <host> --session <session> --event activated";
    TurnUnknown, "turn_unknown", Refused, 1, AfterChange, "the turn was never admitted", "loopx quota should-run --goal-id <goal> --agent-id <agent> --turn-instance-id <turn>";
    NotDelivered, "writeback_missing", Refused, 1, AfterChange, "there is no delivered, unspent outcome to spend", "loopx refresh-state --goal-id <goal> --agent-id <agent> --delivery-outcome outcome_progress";
    AlreadySpent, "outcome_already_spent", Refused, 1, Never, "the last delivered outcome was spent already", "loopx quota status --goal-id <goal>";
    SlotsInvalid, "slots_invalid", Usage, 1, Never, "slots must be a whole number of at least 1", "give --slots 1 or more";
    WindowFull, "window_full", Refused, 1, Later, "the slots do not fit into what is left of the window", "loopx quota status --goal-id <goal>";
    QuotaPaused, "quota_paused", Refused, 1, AfterChange, "the goal's compute is zero", "raise quota.compute in the registry";
    ExportInvalid, "export_invalid", Usage, 1, Never, "the file is not an export of a goal", "name a file written by `loopx export`";
    StoreProblems, "store_problems", State, 1, AfterChange, "a check of the store has found problems", "loopx export --goal-id <goal> --file <file>";
    BackupExists, "backup_exists", Refused, 1, Never, "there is something where the backup would go", "name another folder with --dir";
    BackupInvalid, "backup_invalid", State, 1, AfterChange, "the folder holds no complete backup of the goal", "name a folder that `loopx store backup` wrote";
    RestoreLosesCommits, "restore_loses_commits", Refused, 1, AfterChange, "the store has commits that the backup lacks", "loopx store backup --goal-id <goal> --dir <folder>";
    ReceiptPruned, "receipt_pruned", Refused, 1, Never, "this was done before, and its receipt is no longer kept", "use a new id for new work";
    TextRefused, "text_refused", Boundary, 1, Never, "the text holds something that may not be stored", "remove it and refer to it by name";
    TextTooLong, "text_too_long", Usage, 1, Never, "the text is longer than its field allows", "shorten it";
    HostUnknown, "host_unknown", Usage, 1, Never, "there is no host of that name", "loopx connectors list";
    ConnectorUnknown, "ConnectorNotFoundError", Usage, 1, Never, "there is no connector of that id", "loopx connectors list";
    ConnectorUnavailable, "connector_execution_unavailable", Refused, 1, AfterChange, "the value connector is catalogued, and this version does not run it", "loopx connectors list";
    ConnectorNotIntegrated, "connector_not_integrated", Refused, 1, AfterChange, "the candidate is catalogued and not integrated", "loopx connectors list";
    HostModeInvalid, "invalid_workflow_intent_or_capability", Usage, 1, Never, "an intent, a capability or a host of the plan is not known", "loopx host-mode-plan --help";
    PromptInvalid, "prompt_invalid", Usage, 1, Never, "what the prompt was asked with does not fit together", "loopx heartbeat-prompt --help";
    PromptVocabulary, "prompt_vocabulary", Usage, 1, Never, "a text given for the prompt has a word that this kind of body may not have", "say it in other words";
    WorkerLocked, "worker_locked", Busy, 3, Later, "another worker has this route", "look at the named process; one worker is enough";
    WorkerStateUnreadable, "worker_state_unreadable", State, 3, AfterChange, "the worker's state file cannot be read", "name another with --state-file, and keep this one";
    WorkerStateForeign, "worker_state_foreign", State, 3, AfterChange, "the worker's state file belongs to another route", "name another with --state-file, and keep this one";
    ActivationConflict, "activation_conflict", Refused, 1, AfterChange, "the agent's loop is switched on elsewhere", "loopx heartbeat-prompt --host <host> --goal-id <goal> --agent-id <agent> --thin --deactivate";
    ActivationMissing, "activation_missing", Refused, 1, AfterChange, "no host-loop activation is on file for the agent on that host", "loopx heartbeat-prompt --host <host> --goal-id <goal> --agent-id <agent> --thin --activate";
    ThreadBindingConflict, "thread_binding_conflict", Refused, 1, AfterChange, "the host's thread is bound to another agent", "loopx resolve-agent-thread --goal-id <goal> --host <host>";
    InstallIncomplete, "install_incomplete", Refused, 1, AfterChange, "a file that is not LoopX's stands where one of its files would go", "move the named file away, then call again";
    NotInstallable, "host_not_installable", Refused, 1, Never, "`loopx install` has no files for the host", "loopx connectors show <host>";
    NativeUnavailable, "native_unavailable", State, 1, AfterChange, "neither the native module of a language's package nor the program in its place can be run", "install the package for this platform, or name the program in LOOPX_BIN";
    Internal, "internal", Internal, 1, Later, "a defect of LoopX", "report it with the command and the version";
}

impl ErrorCode {
    /// Whether it is about finding or reading a registry: admission's rule 1.
    pub fn is_of_registry(self) -> bool {
        matches!(
            self,
            Self::RegistryAmbiguous
                | Self::RegistryInvalidJson
                | Self::RegistryShape
                | Self::RegistryDenied
                | Self::RegistryIo
                | Self::RouteCycle
                | Self::RouteMissing
        )
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().text)
    }
}

/// A refusal: a code of the catalogue, what it is about, and how to go on.
///
/// `detail` may hold the local cause (a path, an operating system message). It is
/// for a person at a terminal and never part of a public packet.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct Error {
    /// Catalogue code.
    pub code: ErrorCode,
    /// What it is about: a field, a goal, a todo, a file's role.
    pub about: String,
    /// One sentence; the row's meaning when the place had nothing to add.
    pub sentence: Option<String>,
    /// The next command when the place knows better than the row.
    pub next: Option<String>,
    /// Local cause for `--verbose` and logs of a person's own terminal.
    pub detail: Option<String>,
}

impl Error {
    /// An error of `code` about `about`.
    pub fn new(code: ErrorCode, about: impl Into<String>) -> Self {
        Self { code, about: about.into(), sentence: None, next: None, detail: None }
    }

    /// With its own sentence.
    #[must_use]
    pub fn message(mut self, sentence: impl Into<String>) -> Self {
        self.sentence = Some(sentence.into());
        self
    }

    /// With its own next command.
    #[must_use]
    pub fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// Of a request of that operation: what is wrong with its shape is looked up there.
    #[must_use]
    pub fn for_operation(self, name: &str) -> Self {
        let of_shape = self.code == ErrorCode::RequestInvalid && self.about == "request";
        if of_shape && self.next.is_none() {
            self.next(format!("loopx schema {name}"))
        } else {
            self
        }
    }

    /// With a local cause, kept out of public packets.
    #[must_use]
    pub fn detail(mut self, detail: impl fmt::Display) -> Self {
        self.detail = Some(detail.to_string());
        self
    }

    /// The catalogue row.
    pub fn row(&self) -> &'static ErrorRow {
        self.code.row()
    }

    /// The sentence to show.
    pub fn text(&self) -> String {
        self.sentence.clone().unwrap_or_else(|| self.row().meaning.to_owned())
    }

    /// The next step to show.
    pub fn next_command(&self) -> String {
        self.next.clone().unwrap_or_else(|| self.row().next_command.to_owned())
    }

    /// The public JSON of a refusal: `{"ok":false,"error_code","error","about","next_command"}`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "ok": false,
            "error_code": self.row().text,
            "error": self.text(),
            "about": self.about,
            "next_command": self.next_command(),
        })
    }

    /// The change stands, and `self` is why nobody knows whether it survives a power cut. A
    /// repeat with the same id finds its receipt.
    #[must_use]
    pub fn after_the_change(self) -> Self {
        let why = self.row().text;
        Self {
            code: ErrorCode::DurabilityUnknown,
            sentence: Some(format!(
                "the change was made, but whether it survives a power cut is not known ({why})"
            )),
            next: None,
            ..self
        }
    }

    /// Turns an operating system error on `role` (the file's role, not its path)
    /// into the code that fits its kind.
    pub fn from_io(error: &std::io::Error, role: &str, path: &std::path::Path) -> Self {
        use std::io::ErrorKind;
        let code = match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                ErrorCode::DiskFull
            }
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ErrorCode::WriteDenied,
            _ => ErrorCode::IoFailed,
        };
        Self::new(code, role).detail(format!("{}: {error}", path.display()))
    }

    /// A process whose working directory was taken away; every door asks for it.
    pub fn no_working_directory(error: &std::io::Error) -> Self {
        Self::new(ErrorCode::IoFailed, "working directory")
            .message("the working directory is gone")
            .next("change to a folder that is there, then call again")
            .detail(error)
    }
}

/// Shorthand of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_no_row_suggests_destroying_state() {
        let mut seen = std::collections::BTreeSet::new();
        for row in CATALOGUE {
            assert!(seen.insert(row.text), "{} twice", row.text);
            assert_eq!(row.code.row().text, row.text);
            for word in ["--force", "delete", "rm ", " init", "reset"] {
                assert!(!row.next_command.contains(word), "{}: {}", row.text, row.next_command);
            }
        }
    }
}
