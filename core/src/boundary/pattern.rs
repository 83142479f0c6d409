//! The pattern table: everything the scanner knows, one row per pattern, in the order
//! in which rows are tried. A row that needs more than "this prefix, then so many
//! characters of that set" names the rule that decides it ([`How::Rule`]).

use super::kind::Kind;

/// Characters that the body of a token consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// `A-Z a-z 0-9`.
    Alnum,
    /// `0-9 a-f A-F`.
    Hex,
    /// `A-Z 0-9`.
    Upper,
    /// `A-Z a-z 0-9 - _`.
    Url,
    /// `A-Z a-z 0-9 - _ .`.
    Dotted,
    /// `A-Z a-z 0-9 + / - _ = %`.
    Base64,
}

impl Set {
    /// Is `b` one of the set?
    pub fn has(self, b: u8) -> bool {
        match self {
            Set::Alnum => b.is_ascii_alphanumeric(),
            Set::Hex => b.is_ascii_hexdigit(),
            Set::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Set::Url => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'),
            Set::Dotted => b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'),
            Set::Base64 => {
                b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_' | b'=' | b'%')
            }
        }
    }
}

/// How much a prefix says by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Nothing else looks like it: it counts even in the middle of a word.
    Loud,
    /// Counts at the start of a word.
    Word,
    /// Counts at the start of a word when the body was drawn at random.
    Random,
}

/// How a row is decided.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// One of `starts`, then at least `min` characters of `set`.
    Prefix {
        /// The prefixes, case kept.
        starts: &'static [&'static str],
        /// Characters of the body.
        set: Set,
        /// Fewest characters of the body.
        min: usize,
        /// What the prefix says by itself.
        weight: Weight,
    },
    /// An address of this host and path whose rest is a credential.
    Hook(&'static str),
    /// A rule in code; the word names the module and the function.
    Rule(&'static str),
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    /// What a hit is called.
    pub kind: Kind,
    /// How the row is decided.
    pub how: How,
    /// What the row finds, in one sentence.
    pub finds: &'static str,
}

macro_rules! patterns {
    ($($kind:expr, $how:tt $args:tt, $finds:literal;)*) => {
        /// The table.
        pub const PATTERNS: &[Pattern] = &[$(Pattern { kind: $kind, how: patterns!(@how $how $args), finds: $finds },)*];
    };
    (@how prefix ([$($start:literal)*], $set:ident, $min:literal, $weight:ident)) => {
        How::Prefix { starts: &[$($start),*], set: Set::$set, min: $min, weight: Weight::$weight }
    };
    (@how hook ($start:literal)) => { How::Hook($start) };
    (@how rule ($name:literal)) => { How::Rule($name) };
}

use Kind::VendorToken as Of;

patterns! {
    Kind::PrivateKey, rule("key::pem"), "A PEM, SSH2 or PGP block that says it is a private key; public keys and certificates pass.";
    Kind::PrivateKey, prefix(["PuTTY-User-Key-File-"], Alnum, 1, Word), "The head of a PuTTY key file.";
    Kind::PrivateKey, prefix(["b3BlbnNzaC1rZXktdj"], Base64, 2, Loud), "The body of an OpenSSH private key whose head was cut off.";
    Kind::PrivateKey, prefix(["MIIEvQIBADAN" "MIIEvgIBADAN" "MIIEvAIBADAN" "MIIJQgIBADAN" "MIIJQwIBADAN" "MIIEpAIBAAKC" "MIIEowIBAAKC" "MIIEogIBAAKC" "MIIJKQIBAAKC" "MIIJKAIBAAKC" "MC4CAQAwBQYDK2Vw" "MHcCAQEEI" "MIGHAgEAMBMGByqG"], Base64, 16, Word), "The body of an RSA, EC or Ed25519 private key whose head was cut off.";
    Kind::PrivateKey, prefix(["AGE-SECRET-KEY-" "AGE-PLUGIN-"], Upper, 20, Loud), "A secret key of age, or of a plugin of it.";
    Kind::PrivateKey, prefix(["xprv" "tprv" "yprv" "zprv"], Alnum, 80, Word), "An extended private key of a wallet.";
    Kind::PrivateKey, rule("key::jwk"), "The private part of a JSON web key.";
    Kind::Jwt, rule("token::jwt"), "A signed or encrypted JSON web token: head and payload; a head alone passes.";
    Of("AWS"), prefix(["AKIA" "ASIA" "ABIA" "ACCA"], Upper, 16, Word), "An AWS access key id.";
    Of("AWS"), prefix(["ABSK" "bedrock-api-key-"], Base64, 40, Word), "An API key of Amazon Bedrock.";
    Of("Alibaba"), prefix(["LTAI"], Alnum, 12, Word), "An access key id of Alibaba Cloud.";
    Of("Tencent"), prefix(["AKID"], Alnum, 28, Random), "A secret id of Tencent Cloud.";
    Of("Volcengine"), prefix(["AKLT"], Base64, 16, Word), "An access key id of Volcengine.";
    Of("Volcengine"), prefix(["ark-"], Url, 32, Word), "An API key of Volcengine Ark.";
    Of("Yandex"), prefix(["AQVN" "YCAJ" "YCP"], Url, 30, Random), "A key of Yandex Cloud.";
    Of("Yandex"), prefix(["y0_" "t1."], Dotted, 50, Random), "An OAuth or IAM token of Yandex.";
    Of("Google"), prefix(["AIza"], Url, 30, Loud), "A Google API key.";
    Of("Google"), prefix(["GOCSPX-"], Url, 20, Loud), "A client secret of Google OAuth.";
    Of("Google"), prefix(["ya29."], Dotted, 20, Word), "An access token of Google OAuth.";
    Of("Google"), prefix(["AQ.Ab"], Url, 30, Word), "An API key of Google AI Studio.";
    Of("Google"), rule("token::google_refresh"), "A refresh token of Google OAuth, `1//0...`.";
    Of("GitHub"), prefix(["ghp_" "gho_" "ghu_" "ghs_" "ghr_"], Alnum, 16, Loud), "A GitHub token, classic, OAuth, user, server or refresh.";
    Of("GitHub"), prefix(["github_pat_"], Url, 16, Loud), "A fine-grained GitHub token.";
    Of("GitLab"), prefix(["glpat-" "gldt-" "glrt-" "glrtr-" "glptt-" "glcbt-" "glft-" "glimt-" "glagent-" "gloas-" "glsoat-" "glffct-" "glwt-"], Dotted, 16, Loud), "A GitLab token of any family.";
    Of("GitLab"), prefix(["GR1348941"], Url, 16, Loud), "A registration token of a GitLab runner.";
    Of("Slack"), prefix(["xoxa-" "xoxb-" "xoxp-" "xoxr-" "xoxs-" "xoxe-" "xoxc-" "xoxd-" "xoxo-" "xoxe.xox" "xapp-"], Base64, 11, Loud), "A Slack token of any family.";
    Of("Slack"), hook("hooks.slack.com/services/"), "An incoming webhook of Slack.";
    Of("Slack"), hook("hooks.slack.com/workflows/"), "A workflow webhook of Slack.";
    Of("Slack"), hook("hooks.slack.com/triggers/"), "A trigger of Slack.";
    Of("Stripe"), prefix(["sk_live_" "sk_test_" "rk_live_" "rk_test_" "sk_org_"], Alnum, 12, Loud), "A secret or restricted key of Stripe; publishable keys pass.";
    Of("Stripe"), prefix(["whsec_"], Base64, 16, Loud), "A webhook secret of Stripe or Svix.";
    Of("Anthropic"), prefix(["sk-ant-"], Url, 12, Word), "A key of Anthropic.";
    Of("OpenRouter"), prefix(["sk-or-"], Url, 20, Word), "A key of OpenRouter.";
    Of("Langfuse"), prefix(["sk-lf-"], Url, 20, Word), "A secret key of Langfuse.";
    Of("OpenAI"), prefix(["sk-proj-" "sk-svcacct-" "sk-admin-" "sk-None-"], Url, 16, Word), "A project, service or admin key of OpenAI.";
    Of("OpenAI"), rule("token::sk"), "A key of the `sk-` family: OpenAI, DeepSeek and others.";
    Of("Hugging Face"), prefix(["hf_" "api_org_"], Alnum, 24, Word), "A token of Hugging Face.";
    Of("npm"), prefix(["npm_"], Alnum, 28, Word), "An access token of npm.";
    Of("PyPI"), prefix(["pypi-AgE"], Url, 16, Loud), "An API token of PyPI.";
    Of("PyPI"), prefix(["pypi-"], Url, 24, Random), "An API token of PyPI in an older form.";
    Of("crates.io"), prefix(["cio"], Alnum, 28, Random), "An API token of crates.io.";
    Of("RubyGems"), prefix(["rubygems_"], Hex, 32, Word), "An API key of RubyGems.";
    Of("NuGet"), prefix(["oy2"], Alnum, 40, Random), "An API key of NuGet.";
    Of("Clojars"), prefix(["CLOJARS_"], Alnum, 40, Word), "A deploy token of Clojars.";
    Of("Docker"), prefix(["dckr_pat_" "dckr_oat_"], Url, 20, Loud), "A personal or organisation token of Docker Hub.";
    Of("JFrog"), prefix(["AKCp"], Alnum, 50, Word), "An API key of Artifactory.";
    Of("JFrog"), prefix(["cmVmdGtuOj"], Alnum, 40, Word), "A reference token of Artifactory.";
    Of("DigitalOcean"), prefix(["dop_v1_" "doo_v1_" "dor_v1_"], Hex, 32, Loud), "A token of DigitalOcean.";
    Of("Twilio"), prefix(["SK" "AC"], Hex, 32, Word), "An API key or account id of Twilio.";
    Of("SendGrid"), rule("token::sendgrid"), "An API key of SendGrid, `SG.` and two parts.";
    Of("Mailgun"), prefix(["key-"], Alnum, 32, Random), "A private key of Mailgun.";
    Of("Mailgun"), rule("token::mailgun"), "A key of Mailgun in its newer form: 32, 8 and 8 hexadecimal digits.";
    Of("Mailchimp"), rule("token::mailchimp"), "A key of Mailchimp: 32 hexadecimal digits and a data centre.";
    Of("Brevo"), prefix(["xkeysib-" "xsmtpsib-"], Url, 32, Loud), "A key of Brevo.";
    Of("MailerSend"), prefix(["mlsn."], Hex, 32, Word), "A token of MailerSend.";
    Of("Resend"), prefix(["re_"], Url, 26, Random), "A key of Resend.";
    Of("Telegram"), rule("token::telegram"), "A bot token of Telegram: the bot's number, a colon and 35 characters.";
    Of("Discord"), rule("token::discord"), "A bot or user token of Discord: three parts, the first an encoded number.";
    Of("Discord"), hook("discord.com/api/webhooks/"), "A webhook of Discord.";
    Of("Discord"), hook("discordapp.com/api/webhooks/"), "A webhook of Discord under its earlier name.";
    Of("Microsoft Teams"), hook("webhook.office.com/webhookb2/"), "A webhook of Teams.";
    Of("Feishu"), hook("open.feishu.cn/open-apis/bot/v2/hook/"), "A bot hook of Feishu.";
    Of("Lark"), hook("open.larksuite.com/open-apis/bot/v2/hook/"), "A bot hook of Lark.";
    Of("WeCom"), hook("qyapi.weixin.qq.com/cgi-bin/webhook/send?key="), "A bot hook of WeCom.";
    Of("DingTalk"), hook("oapi.dingtalk.com/robot/send?access_token="), "A robot hook of DingTalk.";
    Of("DingTalk"), prefix(["SEC"], Hex, 64, Word), "A signing secret of a DingTalk robot.";
    Of("Zapier"), hook("hooks.zapier.com/hooks/catch/"), "A catch hook of Zapier.";
    Of("Azure"), rule("token::azure_client"), "A client secret of Microsoft Entra, with `Q~` in the fifth place.";
    Of("Databricks"), prefix(["dapi" "dkea" "dose"], Hex, 32, Word), "An access token of Databricks.";
    Of("Shopify"), prefix(["shpat_" "shpca_" "shppa_" "shpss_" "shptka_" "shpua_"], Alnum, 24, Loud), "A token or shared secret of Shopify.";
    Of("Square"), prefix(["sq0atp-" "sq0csp-" "sq0idp-"], Url, 20, Loud), "A token or secret of Square.";
    Of("Square"), prefix(["EAAAE" "EAAAl"], Url, 54, Random), "An access token of Square.";
    Of("Facebook"), prefix(["EAA"], Alnum, 80, Random), "An access token of Facebook.";
    Of("PayPal"), prefix(["access_token$production$"], Url, 16, Loud), "An access token of PayPal or Braintree.";
    Of("Plaid"), prefix(["access-sandbox-" "access-production-" "access-development-"], Hex, 8, Random), "An access token of Plaid.";
    Of("Dropbox"), prefix(["sl."], Dotted, 50, Random), "An access token of Dropbox.";
    Of("Linear"), prefix(["lin_api_" "lin_oauth_" "lin_wh_"], Alnum, 24, Loud), "A key of Linear.";
    Of("Notion"), prefix(["secret_" "ntn_"], Alnum, 36, Word), "An integration token of Notion.";
    Of("Figma"), prefix(["figd_" "figu_" "figo_"], Url, 30, Word), "A token of Figma.";
    Of("Airtable"), rule("token::airtable"), "A personal token of Airtable.";
    Of("Atlassian"), prefix(["ATATT3" "ATCTT3" "ATSTT3"], Base64, 30, Loud), "An API token of Atlassian.";
    Of("Bitbucket"), prefix(["ATBB"], Base64, 24, Word), "An app password of Bitbucket.";
    Of("Vault"), prefix(["hvs." "hvb." "hvr."], Url, 20, Loud), "A token of HashiCorp Vault.";
    Of("Vault"), prefix(["s." "b."], Alnum, 24, Random), "An older token of HashiCorp Vault.";
    Of("Terraform"), rule("token::terraform"), "An API token of Terraform Cloud, with `.atlasv1.` inside.";
    Of("Doppler"), prefix(["dp.pt." "dp.st." "dp.ct." "dp.sa." "dp.said." "dp.scim." "dp.audit." "dp.cli."], Dotted, 24, Word), "A token of Doppler.";
    Of("Grafana"), prefix(["glsa_"], Url, 24, Loud), "A service account token of Grafana.";
    Of("Grafana"), prefix(["glc_" "eyJrIjoi"], Base64, 24, Word), "A cloud token or older key of Grafana.";
    Of("PlanetScale"), prefix(["pscale_tkn_" "pscale_pw_" "pscale_oauth_"], Dotted, 20, Loud), "A token or password of PlanetScale.";
    Of("Supabase"), prefix(["sbp_"], Alnum, 32, Word), "A token of Supabase.";
    Of("Supabase"), prefix(["sb_secret_"], Url, 16, Loud), "A secret key of Supabase; publishable keys pass.";
    Of("Fly"), prefix(["fm1r_" "fm1a_" "fm2_" "fo1_"], Base64, 32, Word), "A macaroon or token of Fly, with or without `FlyV1` before it.";
    Of("Cloudflare"), prefix(["v1.0-"], Url, 48, Random), "An origin key of Cloudflare.";
    Of("Cloudflare"), prefix(["cfut_" "cfat_" "cfk_"], Url, 30, Word), "A token of Cloudflare in its newer form.";
    Of("Heroku"), prefix(["HRKU-"], Url, 30, Loud), "A key of Heroku.";
    Of("Netlify"), prefix(["nfp_" "nfc_" "nfo_"], Alnum, 30, Word), "A token of Netlify.";
    Of("Vercel"), prefix(["vcp_" "vci_" "vca_" "vcr_" "vck_"], Alnum, 24, Word), "A token of Vercel.";
    Of("Render"), prefix(["rnd_"], Alnum, 28, Word), "A key of Render.";
    Of("New Relic"), prefix(["NRAK-" "NRJS-" "NRII-" "NRRA-" "NRIQ-" "NRSP-"], Url, 16, Word), "A key of New Relic.";
    Of("Sentry"), prefix(["sntrys_" "sntryu_" "sntrya_" "sntryi_"], Base64, 24, Loud), "A token of Sentry.";
    Of("Dynatrace"), prefix(["dt0c01." "dt0s16." "dt0s02."], Dotted, 24, Word), "A token of Dynatrace.";
    Of("PostHog"), prefix(["phx_" "phs_"], Alnum, 32, Word), "A personal key of PostHog; project keys pass.";
    Of("Postman"), prefix(["PMAK-"], Url, 32, Loud), "A key of Postman.";
    Of("Contentful"), prefix(["CFPAT-"], Url, 30, Loud), "A management token of Contentful.";
    Of("Pulumi"), prefix(["pul-"], Hex, 40, Word), "An access token of Pulumi.";
    Of("Buildkite"), prefix(["bkua_" "bkaj_"], Alnum, 32, Word), "A token of Buildkite.";
    Of("CircleCI"), prefix(["CCIPAT_" "CCIPRJ_"], Url, 24, Loud), "A token of CircleCI.";
    Of("LaunchDarkly"), prefix(["sdk-" "mob-" "api-"], Url, 36, Random), "A key of LaunchDarkly.";
    Of("Groq"), prefix(["gsk_"], Alnum, 32, Word), "A key of Groq.";
    Of("xAI"), prefix(["xai-"], Alnum, 32, Word), "A key of xAI.";
    Of("Perplexity"), prefix(["pplx-"], Alnum, 32, Word), "A key of Perplexity.";
    Of("Replicate"), prefix(["r8_"], Alnum, 32, Word), "A token of Replicate.";
    Of("Fireworks"), prefix(["fw_"], Alnum, 20, Random), "A key of Fireworks.";
    Of("Together"), prefix(["tgp_v1_"], Url, 30, Loud), "A key of Together.";
    Of("NVIDIA"), prefix(["nvapi-"], Url, 40, Word), "A key of NVIDIA.";
    Of("Cerebras"), prefix(["csk-"], Alnum, 32, Word), "A key of Cerebras.";
    Of("LangSmith"), prefix(["lsv2_"], Url, 32, Word), "A key of LangSmith.";
    Of("Pinecone"), prefix(["pcsk_"], Url, 32, Word), "A key of Pinecone.";
    Of("Tavily"), prefix(["tvly-"], Url, 24, Random), "A key of Tavily.";
    Of("ElevenLabs"), prefix(["sk_"], Hex, 40, Word), "A key of ElevenLabs.";
    Of("E2B"), prefix(["e2b_"], Hex, 32, Word), "A key of E2B.";
    Of("Firecrawl"), prefix(["fc-"], Hex, 32, Word), "A key of Firecrawl.";
    Of("Mapbox"), prefix(["sk.eyJ"], Dotted, 40, Word), "A secret token of Mapbox; public tokens pass.";
    Of("Adafruit"), prefix(["aio_"], Alnum, 26, Random), "A key of Adafruit IO.";
    Of("Shippo"), prefix(["shippo_live_" "shippo_test_"], Hex, 24, Loud), "A token of Shippo.";
    Of("EasyPost"), prefix(["EZAK" "EZTK"], Alnum, 50, Word), "A key of EasyPost.";
    Of("Typeform"), prefix(["tfp_"], Url, 40, Word), "A token of Typeform.";
    Of("ReadMe"), prefix(["rdme_"], Alnum, 40, Word), "A key of ReadMe.";
    Of("Prefect"), prefix(["pnu_" "pnb_"], Alnum, 30, Word), "A key of Prefect.";
    Of("Infracost"), prefix(["ico-"], Alnum, 30, Word), "A key of Infracost.";
    Of("Duffel"), prefix(["duffel_live_" "duffel_test_"], Url, 30, Loud), "A token of Duffel.";
    Of("Frame.io"), prefix(["fio-u-"], Url, 40, Word), "A token of Frame.io.";
    Of("Tailscale"), prefix(["tskey-"], Url, 16, Word), "A key of Tailscale.";
    Of("1Password"), prefix(["ops_eyJ"], Base64, 40, Loud), "A service account token of 1Password.";
    Of("Neon"), prefix(["napi_" "npg_"], Alnum, 12, Random), "A key or database password of Neon.";
    Of("Turso"), prefix(["turso_"], Url, 24, Random), "A token of Turso.";
    Of("Snyk"), prefix(["snyk_uat." "snyk_sat."], Dotted, 24, Word), "A token of Snyk.";
    Of("SonarQube"), prefix(["sqp_" "squ_" "sqa_"], Hex, 32, Word), "A token of SonarQube.";
    Of("Scaleway"), prefix(["SCW"], Upper, 17, Random), "An access key of Scaleway.";
    Kind::Authorization, rule("header::authorization"), "The credential of an Authorization header, and what stands behind Bearer or Basic.";
    Kind::Cookie, rule("header::cookies"), "The pairs of a Cookie or Set-Cookie header, and session cookies by their usual names.";
    Kind::UrlCredentials, rule("address::credentials"), "User and password, or a random user, before the host of an address or a data source name.";
    Kind::NamedSecret, rule("named::assignment"), "A literal value given to a name that says password, secret, token, credential or key; decided by shape and entropy of the value.";
    Kind::HomePath, rule("path::home"), "/home/name, /Users/name, /root/, X:\\Users\\name, ~name/; `~/` and paths without a person pass.";
    Kind::UncPath, rule("path::unc"), "\\\\host\\share, also escaped.";
    Kind::HiddenCharacters, rule("view::hidden"), "Direction overrides, tag characters and runs of invisible characters.";
}

/// Rows that begin with a prefix, by the first byte of the prefix, in table order.
/// Built by the compiler; a row beyond the width of a bucket fails the build.
pub(super) const BUCKETS: [[u8; 24]; 128] = buckets();

/// For each first byte, the second bytes that prefixes go on with, as bits. Nearly all
/// places of a run are told apart by these two.
pub(super) const SECONDS: [u128; 128] = seconds();

// Runs in the compiler only.
#[allow(clippy::indexing_slicing)]
const fn seconds() -> [u128; 128] {
    let mut seconds = [0; 128];
    let mut row = 0;
    while row < PATTERNS.len() {
        if let How::Prefix { starts, .. } = PATTERNS[row].how {
            let mut at = 0;
            while at < starts.len() {
                let start = starts[at].as_bytes();
                seconds[start[0] as usize] |= 1 << start[1];
                at += 1;
            }
        }
        row += 1;
    }
    seconds
}

/// Marks an unused place of a bucket.
pub(super) const NONE: u8 = u8::MAX;

// Indexing here runs in the compiler only: past the end is a failed build.
#[allow(clippy::indexing_slicing)]
const fn buckets() -> [[u8; 24]; 128] {
    let mut buckets = [[NONE; 24]; 128];
    let mut row = 0;
    while row < PATTERNS.len() {
        if let How::Prefix { starts, .. } = PATTERNS[row].how {
            let mut at = 0;
            while at < starts.len() {
                let first = starts[at].as_bytes()[0] as usize;
                let mut place = 0;
                while buckets[first][place] != NONE && buckets[first][place] != row as u8 {
                    place += 1;
                }
                buckets[first][place] = row as u8;
                at += 1;
            }
        }
        row += 1;
    }
    buckets
}
