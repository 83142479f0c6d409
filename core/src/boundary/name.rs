//! The name before a value: does it say that the value is a secret? The last word of
//! the name decides: `db_password` does, `password_hash` and `max_tokens` do not.

use super::bytes::{before, byte, cut, ends_with_word, is_one_of, run_start};
use super::value::Grade;

/// What a name announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announced {
    /// A secret of this grade.
    Secret(Grade),
    /// A secret, but the word alone is also everyday language: `pass`, `auth`, `pw`.
    Weak(Grade),
    /// An authorization header.
    Authorization,
    /// A header of cookies.
    Cookies,
    /// One session cookie.
    SessionCookie,
    /// The other half of `name: X, value: Y`.
    Value,
}

/// Words of a name that say where or which, behind the word that says what.
const SUFFIXES: &[&str] = &[
    "prod",
    "production",
    "dev",
    "staging",
    "stage",
    "test",
    "live",
    "old",
    "new",
    "current",
    "previous",
    "prev",
    "primary",
    "secondary",
    "value",
    "val",
    "b64",
    "base64",
    "raw",
    "plain",
    "plaintext",
    "text",
    "string",
    "str",
    "default",
    "main",
    "env",
    "hex",
    "local",
    "ci",
    "sandbox",
    "backup",
    "v",
];

/// What makes a `key` a secret one. `public`, `primary`, `cache` and `sort` do not.
const KEYS: &[&str] = &[
    "api",
    "secret",
    "private",
    "access",
    "auth",
    "encryption",
    "encrypt",
    "encrypting",
    "signing",
    "sign",
    "signature",
    "master",
    "account",
    "service",
    "shared",
    "subscription",
    "storage",
    "client",
    "app",
    "application",
    "jwt",
    "hmac",
    "aes",
    "session",
    "security",
    "admin",
    "root",
    "webhook",
    "wallet",
    "cookie",
    "crypto",
    "deploy",
    "license",
    "licence",
    "ssh",
    "priv",
    "sec",
    "preshared",
    "psk",
    "integration",
    "write",
    "rest",
    "management",
    "openai",
    "anthropic",
    "google",
    "gemini",
    "azure",
    "aws",
    "stripe",
    "mistral",
    "cohere",
    "deepseek",
    "groq",
    "maps",
    "sendgrid",
    "mailgun",
    "twilio",
    "algolia",
    "datadog",
    "dd",
    "fernet",
    "decryption",
    "user",
    "consumer",
    "role",
    "server",
    "developer",
    "team",
    "org",
    "personal",
    "ethereum",
    "eth",
];

/// What makes a `token` something else than a credential.
const HARMLESS_TOKENS: &[&str] = &[
    "reset",
    "fencing",
    "fence",
    "cancellation",
    "cancel",
    "continuation",
    "page",
    "next",
    "pagination",
    "cursor",
    "sync",
    "idempotency",
    "design",
    "syntax",
    "lexer",
    "parser",
    "eos",
    "bos",
    "pad",
    "stop",
    "special",
    "unk",
    "cls",
    "sep",
    "mask",
    "max",
    "min",
    "num",
    "total",
    "prompt",
    "completion",
    "input",
    "output",
    "first",
    "last",
    "nft",
    "erc20",
    "current",
    "previous",
    "lease",
    "turn",
    "change",
    "resume",
    "watch",
    "keyword",
    "punct",
    "color",
    "colour",
    "end",
    "start",
    "lookahead",
    "operator",
    "expected",
    "unexpected",
    "trailing",
    "string",
    "query",
    "snapshot",
    "version",
    "concurrency",
    "device",
    "pagetoken",
    "image",
];

/// Names that carry their qualifier without a separator.
const GLUED: &[(&str, Grade)] = &[
    ("password", Grade::Password),
    ("passwd", Grade::Password),
    ("passphrase", Grade::Password),
    ("apikey", Grade::Token),
    ("secretkey", Grade::Token),
    ("accesskey", Grade::Token),
    ("privatekey", Grade::Token),
    ("encryptionkey", Grade::Token),
    ("signingkey", Grade::Token),
    ("masterkey", Grade::Token),
    ("accountkey", Grade::Token),
    ("sharedkey", Grade::Token),
    ("authkey", Grade::Token),
    ("presharedkey", Grade::Token),
    ("clientsecret", Grade::Secret),
    ("appsecret", Grade::Secret),
    ("apisecret", Grade::Secret),
    ("sharedsecret", Grade::Secret),
    ("jwtsecret", Grade::Secret),
    ("consumersecret", Grade::Secret),
    ("authtoken", Grade::Token),
    ("accesstoken", Grade::Token),
    ("apitoken", Grade::Token),
    ("bearertoken", Grade::Token),
    ("refreshtoken", Grade::Token),
    ("idtoken", Grade::Token),
    ("sessiontoken", Grade::Token),
    ("usertoken", Grade::Token),
    ("bottoken", Grade::Token),
    ("oauthtoken", Grade::Token),
    ("deploytoken", Grade::Token),
    ("securitytoken", Grade::Token),
];

/// A password in other languages; bytes of the word, lower case, and capitalised where
/// the script has capitals.
const ELSEWHERE: &[&str] = &[
    "пароль",
    "Пароль",
    "ПАРОЛЬ",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "비밀번호",
    "contraseña",
    "Contraseña",
    "hasło",
    "Hasło",
    "lösenord",
    "Lösenord",
    "mot de passe",
    "Mot de passe",
    "κωδικός",
    "şifre",
    "mật khẩu",
    "รหัสผ่าน",
    "كلمة المرور",
    "סיסמה",
    "पासवर्ड",
    "密钥",
    "令牌",
    "токен",
    "Токен",
    "секрет",
];

/// The words of a name, the last first.
#[derive(Default)]
pub(super) struct Words<'a> {
    list: [&'a [u8]; 5],
    count: usize,
}

impl<'a> Words<'a> {
    fn push(&mut self, word: &'a [u8]) {
        if let (false, Some(place)) = (word.is_empty(), self.list.get_mut(self.count)) {
            *place = word;
            self.count += 1;
        }
    }

    fn word(&self, at: usize) -> &'a [u8] {
        self.list.get(at).copied().unwrap_or_default()
    }

    /// Takes the words of one identifier: separators, camel case.
    fn take(&mut self, name: &'a [u8]) {
        for part in name.rsplit(|b| !b.is_ascii_alphanumeric()) {
            let mut end = part.len();
            for at in (1..part.len()).rev() {
                let rises =
                    before(part, at).is_ascii_lowercase() && byte(part, at).is_ascii_uppercase();
                // `APIKey`: the last capital begins the next word.
                let falls = before(part, at).is_ascii_uppercase()
                    && byte(part, at).is_ascii_uppercase()
                    && byte(part, at + 1).is_ascii_lowercase();
                if rises || falls {
                    self.push(cut(part, at..end));
                    end = at;
                }
            }
            self.push(cut(part, 0..end));
        }
    }
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')
}

/// A name and where it begins.
pub(super) struct Name {
    /// What the name announces.
    pub announced: Announced,
    /// Where the name begins.
    pub start: usize,
    /// The name stands between quotes.
    pub quoted: bool,
}

/// The name that ends before `end`, if it announces anything.
pub(super) fn name_before(text: &[u8], end: usize) -> Option<Name> {
    let mut at = run_start(text, end, 4, |b| matches!(b, b' ' | b'\t'));
    if before(text, at) == b')' {
        // `password (staging): `
        let open = run_start(text, at, 32, |b| b != b'(' && b != b'\n');
        if before(text, open) == b'(' && before(text, open - 1) == b' ' {
            at = run_start(text, open - 1, 2, |b| b == b' ');
        }
    }
    let closed =
        run_start(text, at, 4, |b| matches!(b, b'"' | b'\'' | b'`' | b']' | b'*' | b'?' | b'\\'));
    let quoted = closed < at && matches!(before(text, at), b'"' | b'\'' | b'`' | b']');
    let start = run_start(text, closed, 64, is_name);
    if before(text, closed) >= 0x80 {
        let tail = cut(text, closed.saturating_sub(48)..closed);
        let known = ELSEWHERE.iter().find(|word| tail.ends_with(word.as_bytes()))?;
        let announced = Announced::Secret(Grade::Password);
        return Some(Name { announced, start: closed - known.len(), quoted });
    }
    let announced = announce(text, start, closed)?;
    Some(Name { announced, start, quoted })
}

/// What the name in `start..end` announces.
pub(super) fn announce(text: &[u8], start: usize, end: usize) -> Option<Announced> {
    // Names are rare among what stands before a colon: most are told apart by their
    // last letter.
    let mut tail = end;
    while tail > start
        && (before(text, tail).is_ascii_digit() || !before(text, tail).is_ascii_alphanumeric())
    {
        tail -= 1;
    }
    if tail == start || !b"dtnyeshlrwcgkvbxia".contains(&before(text, tail).to_ascii_lowercase()) {
        return None;
    }
    let mut words = Words::default();
    words.take(cut(text, start..end));
    // `API key: `, `secret access key = `
    let mut from = start;
    while words.count < 3 && before(text, from) == b' ' {
        let back = run_start(text, from - 1, 24, |b| {
            b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
        });
        if back == from - 1 {
            break;
        }
        words.take(cut(text, back..from - 1));
        from = back;
    }
    judge(&words)
}

fn judge(words: &Words<'_>) -> Option<Announced> {
    use Announced::{Secret, Weak};
    let mut at = 0;
    while at < 2 && at + 1 < words.count {
        let word = words.word(at);
        let number = word.iter().all(u8::is_ascii_digit);
        if !number && !is_one_of(word, SUFFIXES) {
            break;
        }
        at += 1;
    }
    let (mut word, prev) = (words.word(at), words.word(at + 1));
    if at == 0 && word.eq_ignore_ascii_case(b"value") {
        return Some(Announced::Value);
    }
    while word.len() > 3 && word.last().is_some_and(u8::is_ascii_digit) {
        word = cut(word, 0..word.len() - 1);
    }
    if let Some(&(_, grade)) = GLUED.iter().find(|(end, _)| ends_with_word(word, end)) {
        return Some(Secret(grade));
    }
    let is = |list: &[&str]| is_one_of(word, list);
    let after = |list: &[&str]| is_one_of(prev, list);
    if is(&[
        "pwd",
        "pswd",
        "passcode",
        "passwort",
        "kennwort",
        "senha",
        "wachtwoord",
        "haslo",
        "heslo",
        "contrasena",
        "psk",
        "passw",
    ]) {
        Some(Secret(Grade::Password))
    } else if is(&["pass", "pw"]) {
        let whose = after(&[
            "db", "smtp", "mysql", "pg", "redis", "user", "admin", "root", "ftp", "ssh", "mail",
            "email", "login", "my", "database", "postgres", "sudo", "wifi", "ldap", "ansible",
            "become",
        ]);
        Some(if whose { Secret(Grade::Password) } else { Weak(Grade::Password) })
    } else if is(&["dbpass", "userpass", "dbpwd", "sshpass", "pgpass"]) {
        Some(Secret(Grade::Password))
    } else if is(&["secret"]) {
        Some(Secret(Grade::Secret))
    } else if is(&["token"]) {
        (!after(HARMLESS_TOKENS)).then_some(Secret(Grade::Token))
    } else if is(&["key"]) {
        after(KEYS).then_some(Secret(Grade::Token))
    } else if is(&["bearer", "credential", "credentials", "creds", "cred", "jwt", "hmac"]) {
        Some(Secret(Grade::Token))
    } else if is(&["pat"]) {
        after(&["github", "gitlab", "gh", "azure", "ado", "devops", "personal"])
            .then_some(Secret(Grade::Token))
    } else if is(&["auth", "session", "sas"]) {
        Some(Weak(Grade::Token))
    } else if is(&["authorization"]) {
        Some(Announced::Authorization)
    } else if is(&["cookie", "cookies"]) {
        Some(Announced::Cookies)
    } else if is(&["phpsessid", "jsessionid", "sessionid", "sessid", "sid"])
        && (!is(&["sid"]) || after(&["connect", "session"]))
    {
        Some(Announced::SessionCookie)
    } else if is(&["sig"]) || is(&["signature"]) && after(&["amz", "goog"]) {
        Some(Secret(Grade::Signature))
    } else if is(&["mnemonic"])
        || is(&["phrase", "seed", "words"])
            && after(&["seed", "recovery", "mnemonic", "wallet", "backup"])
    {
        Some(Secret(Grade::Phrase))
    } else if is(&["seed"]) && after(&["totp", "otp", "mfa", "hotp"]) {
        Some(Secret(Grade::Token))
    } else {
        None
    }
}
