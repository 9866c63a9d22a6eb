//! The address of a service, as it was set.

use std::fmt;

use kuhaku_core::{SettingValue, Value};

/// The address of a service. People paste addresses that hold a password or a key: such an address
/// opens no service, and `Debug` leaves out what may be one.
///
/// ```
/// use kuhaku_llm::BaseUrl;
/// let url = BaseUrl::from("https://me:secret@gateway.example/v1?key=secret");
/// assert_eq!(format!("{url:?}"), "https://[…]@gateway.example/v1?[…]");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// The address as it was set, secrets included.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        if !scheme.is_empty() {
            write!(f, "{scheme}://")?;
        }
        // The last `@`, since a password may hold one, and a slash as well.
        let rest = match rest.rsplit_once('@') {
            Some((_, rest)) => {
                f.write_str("[…]@")?;
                rest
            }
            None => rest,
        };
        match rest.split_once(['?', '#']) {
            Some((rest, _)) => write!(f, "{rest}?[…]"),
            None => f.write_str(rest),
        }
    }
}

impl From<&str> for BaseUrl {
    fn from(url: &str) -> Self {
        Self(url.into())
    }
}

impl From<String> for BaseUrl {
    fn from(url: String) -> Self {
        Self(url)
    }
}

impl SettingValue for BaseUrl {
    const KIND: &'static str = String::KIND;

    fn read(value: &Value) -> Result<Self, String> {
        String::read(value).map(Self)
    }

    fn show(&self) -> String {
        format!("{self:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_a_secret_is_not_shown() {
        for (url, shown) in [
            ("http://localhost:11434", "http://localhost:11434"),
            ("gpu:1", "gpu:1"),
            ("planted@gpu:1", "[…]@gpu:1"),
            ("https://me:plan/t@ed@h/v1", "https://[…]@h/v1"),
            ("https://me:plan?t#ed@h/v1", "https://[…]@h/v1"),
            ("https://h/v1?key=planted#planted", "https://h/v1?[…]"),
            ("", ""),
        ] {
            let url = BaseUrl::from(url);
            assert_eq!(format!("{url:?}"), shown);
            assert_eq!(url.show(), shown);
        }
    }
}
