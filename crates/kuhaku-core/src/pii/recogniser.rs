//! Recognisers of your own.

use std::fmt;
use std::ops::Range;

use crate::masking::Placeholder;

/// Finds values that the default recognisers do not know: staff numbers, customer ids, code names.
///
/// Added with [`PiiMasker::with`](crate::PiiMasker::with). For masking to stay idempotent, whether a
/// value is found must depend on the value alone and not on its neighbours, which may be masked.
///
/// ```
/// use std::ops::Range;
/// use kuhaku_core::{Masker, PiiMasker, Placeholder, Recogniser};
///
/// #[derive(Debug)]
/// struct StaffNumbers;
///
/// impl Recogniser for StaffNumbers {
///     fn id(&self) -> &str {
///         "staff-1"
///     }
///     fn kind(&self) -> Placeholder {
///         Placeholder::NationalId
///     }
///     fn find(&self, text: &str) -> Vec<Range<usize>> {
///         text.match_indices("EMP-").map(|(at, _)| at..text.len().min(at + 9)).collect()
///     }
/// }
///
/// let masker = PiiMasker::new().with(StaffNumbers);
/// assert_eq!(masker.mask("ask EMP-12345").text(), "ask [NATIONAL_ID]");
/// assert_eq!(masker.id(), "pii-4+staff-1");
/// ```
pub trait Recogniser: Send + Sync + fmt::Debug {
    /// Names the recogniser and its version. Part of the masker's id: a new version masks stored text
    /// anew.
    fn id(&self) -> &str;

    /// The placeholder of what it finds.
    fn kind(&self) -> Placeholder;

    /// Byte ranges of values in `text`, in any order. Full-width characters are plain ones there, and
    /// what the default recognisers found is masked. Ranges that touch a placeholder or do not lie on
    /// character borders are left out.
    fn find(&self, text: &str) -> Vec<Range<usize>>;
}
