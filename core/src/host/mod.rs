//! What LoopX knows about the surfaces that it runs beside: one typed row per host, the
//! connector catalogue that the rows make, value connectors, candidates, and the plan that
//! picks how a host runs. Not here: the text that a host is given (`prompt`), and anything
//! that starts a host.

pub mod activation;
pub mod catalog;
mod find;
pub mod identity;
pub mod install;
mod mode;
pub mod mode_plan;
pub mod readiness;
mod row;
mod table;
pub mod thread;
mod value;

pub use activation::{ActivationPacket, build_host_loop_activation_packet};
pub use find::{closest, find};
pub use row::{
    Activation, BodyKind, Catalog, ConnectorOf, Host, HostRow, InstallFile, InstallKind, Place,
    SkillOwner, SpendSource, StopRule, Style,
};
pub use table::HOSTS;
pub use value::{CANDIDATES, Candidate, VALUE_CONNECTORS, ValueConnector};
