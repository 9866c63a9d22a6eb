//! What becomes of a reply when its check breaks.

/// What becomes of a model's reply when it cannot be checked: when the application's masker panics, or
/// gives what is no masked text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputPolicy {
    /// It is held back.
    #[default]
    Strict,
    /// It is given all the same, masked by kuhaku's own recognisers.
    Permissive,
}

crate::named::named!(
    OutputPolicy,
    "policy of the output guard",
    [Strict = "strict", Permissive = "permissive"]
);
