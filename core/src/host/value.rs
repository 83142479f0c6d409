//! Connectors that bring in something from outside, and candidates that might. They are a
//! registry of their own: none of them wakes an agent.

use serde::Serialize;

use crate::error::{Error, ErrorCode};

/// A connector to an outside service. It can be named in a plan; running it comes with a
/// later version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ValueConnector {
    /// Stable id.
    pub id: &'static str,
    /// Its sub-command of `loopx value-connectors`, and what else names it.
    pub aliases: &'static [&'static str],
    /// What it reaches.
    pub service: &'static str,
    /// What it would be given.
    pub input: &'static str,
    /// What it would bring.
    pub payload: &'static str,
    /// What it must not do.
    pub boundary: &'static str,
    /// `catalogued`: it can be chosen and not yet run.
    pub status: &'static str,
}

const CATALOGUED: &str = "catalogued";

/// Every value connector.
pub const VALUE_CONNECTORS: &[ValueConnector] = &[
    ValueConnector {
        id: "github_public_probe",
        aliases: &["github-public-probe", "github"],
        service: "Public issues and pull requests of GitHub",
        input: "`--url` of one public issue or pull request",
        payload: "State and metadata of that one page",
        boundary: "Public pages only, read only, without a token",
        status: CATALOGUED,
    },
    ValueConnector {
        id: "finance_api",
        aliases: &["finance", "finance-api"],
        service: "A finance service's interface",
        input: "`--url` of the query; secrets stay with the session",
        payload: "The figures that were asked for, with their source and instant",
        boundary: "Reads only; no account data, no orders, no stored secret",
        status: CATALOGUED,
    },
    ValueConnector {
        id: "lark",
        aliases: &["lark-inbox", "feishu"],
        service: "Lark messages and documents",
        input: "Chat or document that the host's integration may read",
        payload: "What was asked, as todos or gates",
        boundary: "No raw messages in public state; sending waits for its gate",
        status: CATALOGUED,
    },
    ValueConnector {
        id: "generic_http_webhook",
        aliases: &["http-webhook-call", "webhook-call"],
        service: "Any HTTP webhook",
        input: "`--url`, and a JSON body that the session keeps",
        payload: "Status and the fields that were named beforehand",
        boundary: "No secrets in stored payloads; a call that changes something waits for its gate",
        status: CATALOGUED,
    },
];

impl ValueConnector {
    /// Why it cannot be run.
    pub fn unavailable(&self) -> Error {
        Error::new(ErrorCode::ConnectorUnavailable, self.id)
            .message(format!("{} is catalogued, and this version does not run it", self.id))
            .next(format!("loopx connectors show {}", self.id))
    }
}

/// Something of others that could become a connector. Being listed grants it nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// Stable id.
    pub id: &'static str,
    /// What it is.
    pub upstream_surface: &'static str,
    /// `catalogued_not_integrated`.
    pub status: &'static str,
    /// What it could be bound to.
    pub possible_binding: &'static str,
    /// What holds before it is integrated.
    pub boundary: &'static str,
    /// What must be there before it is.
    pub promotion_evidence: &'static [&'static str],
}

/// Every candidate.
pub const CANDIDATES: &[Candidate] = &[Candidate {
    id: "official_xmcp",
    upstream_surface: "XMCP, the MCP server of the X developer platform, and its documentation server",
    status: "catalogued_not_integrated",
    possible_binding: "An optional MCP provider behind the `content-ops` / `social_browser_x` outcome; neither a new capability nor another control plane",
    boundary: "OAuth material, costs and rate limits of X are the host's. It starts with a written list of tools that only read. Posting, replying, liking, following, direct messages, changes of an account, paid queries and reading further into private parts each wait for a LoopX gate. Posts, timelines, messages, tokens and MCP payloads never reach public state.",
    promotion_evidence: &[
        "a map of operations that names no provider",
        "a check of install and readiness that needs no credentials",
        "a public read that yields a packet of metadata only",
        "a plan of gates for each write, private read and cost",
        "a compact receipt",
        "a focused check of the contract",
    ],
}];

impl Candidate {
    /// Why it cannot be chosen.
    pub fn not_integrated(&self) -> Error {
        Error::new(ErrorCode::ConnectorNotIntegrated, self.id)
            .message(format!("{} is a candidate: catalogued, not integrated", self.id))
            .next(format!("loopx connectors show {}", self.id))
    }
}
