//! The formats in which vendors issue keys and tokens.

/// Formats that are unmistakable. Each is a prefix and at least so many characters; what follows of
/// the same characters belongs to the token.
pub(super) const PREFIXED: [&str; 35] = [
    // Model providers
    r"sk-(?:proj|svcacct|admin|ant-[a-z]{2,8}[0-9]{2}|or-v[0-9])-[A-Za-z0-9_-]{16,}",
    r"gsk_[A-Za-z0-9]{20,}",
    r"hf_[A-Za-z0-9]{20,}",
    r"r8_[A-Za-z0-9]{20,}",
    r"xai-[A-Za-z0-9]{20,}",
    r"pplx-[A-Za-z0-9]{20,}",
    r"tvly-[A-Za-z0-9-]{16,}",
    // Clouds
    r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}[0-9A-Za-z]*",
    r"AIza[0-9A-Za-z_-]{30,}",
    r"ya29\.[0-9A-Za-z_-]{20,}",
    r"GOCSPX-[0-9A-Za-z_-]{20,}",
    r"do[opr]_v1_[0-9A-Za-z]{32,}",
    r"dapi[0-9a-f]{32}[0-9A-Za-z]*",
    // Code hosts and package registries
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|dt|rt|ptt|cbt|ft|soat)-[0-9A-Za-z_-]{16,}",
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-AgE[A-Za-z0-9_-]{16,}",
    r"crates\.io_[A-Za-z0-9]{16,}",
    r"dckr_pat_[A-Za-z0-9_-]{20,}",
    r"rubygems_[0-9A-Za-z]{32,}",
    // Payments and shops
    r"(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{10,}",
    r"whsec_[A-Za-z0-9+/=]{16,}",
    r"shp(?:at|ca|pa|ss)_[0-9A-Za-z]{32,}",
    r"sq0(?:atp|csp|idp)-[0-9A-Za-z_-]{20,}",
    // Messages
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"xapp-[0-9]-[A-Za-z0-9-]{10,}",
    r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,}",
    r"key-[0-9a-f]{32}[0-9A-Za-z]*",
    // Others
    r"hv[sbr]\.[A-Za-z0-9_-]{20,}",
    r"lin_api_[A-Za-z0-9]{20,}",
    r"ntn_[A-Za-z0-9]{20,}",
    r"phc_[A-Za-z0-9]{20,}",
    r"sntrys_[A-Za-z0-9_+/=-]{20,}",
    r"AGE-SECRET-KEY-1[0-9A-Za-z]{50,}",
];

/// A format that ordinary words may have too: its tokens stand apart and have a digit.
pub(super) const WITH_DIGIT: &str = r"[spr]k[-_][A-Za-z0-9]{16,}";

/// JSON Web Tokens, signed (RFC 7515, three parts) and encrypted (RFC 7516, five).
pub(super) const JWT: &str = r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*){1,3}";

/// Credentials behind the word that announces them, as a header, a field, or over two lines: the
/// schemes `Bearer` (RFC 6750) and `Basic` (RFC 7617), and the header of any scheme (RFC 9110). One
/// expression, for each reads the whole text.
pub(super) const CREDENTIALS: &str = r#"(?x-u)
    (?i:authorization) [\s:="'*`]{1,8}
        (?<header> (?: [A-Za-z][A-Za-z-]{1,19} [\s:="'*`]{1,4} )? [A-Za-z0-9._~+/-]{16,}=* )
    | (?i:bearer) [\s:="'*`]{1,8} (?<bearer> [A-Za-z0-9._~+/-]{8,}=* )
    | (?i:basic)  [\s:="'*`]{1,8} (?<basic> [A-Za-z0-9+/]{4,}={0,2} )"#;

/// The user and the password of an address (RFC 3986, section 3.2.1). Brackets are no part of them,
/// so that a placeholder is none.
pub(super) const USER_INFO: &str = r#"://([^\s/?#@:"'<>\[\]]*:[^\s/?#"'<>\[\]]*)@"#;
