//! What a hit is called. The words are stable: they are part of refusals and of what
//! [`redact`](super::redact) leaves behind.

use std::fmt;

/// What was found. Never carries any of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A credential whose shape its vendor publishes; holds the vendor's name.
    VendorToken(&'static str),
    /// A value that a name such as `password` or `api_key` gives away.
    NamedSecret,
    /// A private key: PEM, OpenSSH, PGP, PuTTY, age, or bare key material.
    PrivateKey,
    /// A JSON web token with its payload.
    Jwt,
    /// The credential of an `Authorization` header or behind `Bearer`.
    Authorization,
    /// The value of a cookie.
    Cookie,
    /// User and password, or a token, before the host of an address.
    UrlCredentials,
    /// A path that names a person's home folder.
    HomePath,
    /// A Windows network path, which names a host and a share.
    UncPath,
    /// Characters that hide text or reorder what is read.
    HiddenCharacters,
}

impl Kind {
    /// Stable code of the kind, without the vendor.
    pub fn code(self) -> &'static str {
        match self {
            Kind::VendorToken(_) => "vendor_token",
            Kind::NamedSecret => "named_secret",
            Kind::PrivateKey => "private_key",
            Kind::Jwt => "jwt",
            Kind::Authorization => "authorization",
            Kind::Cookie => "cookie",
            Kind::UrlCredentials => "url_credentials",
            Kind::HomePath => "home_path",
            Kind::UncPath => "unc_path",
            Kind::HiddenCharacters => "hidden_characters",
        }
    }

    /// How a caller goes on after a refusal; one sentence.
    pub fn advice(self) -> &'static str {
        match self {
            Kind::HomePath | Kind::UncPath => "Write the path relative to the project.",
            Kind::HiddenCharacters => "Write the text again without invisible characters.",
            Kind::UrlCredentials => "Write the address without user and password.",
            _ => "Take it out and name the place where it is kept instead.",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::VendorToken(vendor) => write!(f, "{vendor} token"),
            Kind::NamedSecret => f.write_str("named secret"),
            Kind::PrivateKey => f.write_str("private key"),
            Kind::Jwt => f.write_str("web token"),
            Kind::Authorization => f.write_str("authorization"),
            Kind::Cookie => f.write_str("cookie"),
            Kind::UrlCredentials => f.write_str("address credentials"),
            Kind::HomePath => f.write_str("home path"),
            Kind::UncPath => f.write_str("network path"),
            Kind::HiddenCharacters => f.write_str("hidden characters"),
        }
    }
}
