//! Term frequencies and lengths per field.

use crate::query::FieldWeights;

/// How many tokens each field of a chunk has, or all fields of many chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lengths<N> {
    pub(crate) heading: N,
    pub(crate) body: N,
    pub(crate) extra: N,
}

impl Lengths<u64> {
    pub(crate) fn add(&mut self, of: Lengths<u32>) {
        self.heading += u64::from(of.heading);
        self.body += u64::from(of.body);
        self.extra += u64::from(of.extra);
    }

    pub(crate) fn add_all(&mut self, of: Self) {
        self.heading += of.heading;
        self.body += of.body;
        self.extra += of.extra;
    }

    pub(crate) fn subtract(&mut self, of: Self) {
        self.heading = self.heading.saturating_sub(of.heading);
        self.body = self.body.saturating_sub(of.body);
        self.extra = self.extra.saturating_sub(of.extra);
    }

    /// The weighted sum, in tokens.
    pub(crate) fn weighted(&self, weights: &FieldWeights) -> f64 {
        weights.heading * self.heading as f64
            + weights.body * self.body as f64
            + weights.extra * self.extra as f64
    }
}

impl Lengths<u32> {
    /// The sum, in tokens.
    #[inline]
    pub(crate) fn total(self) -> u32 {
        self.heading.saturating_add(self.body).saturating_add(self.extra)
    }

    /// The lesser of two, field by field.
    pub(crate) fn least(self, other: Self) -> Self {
        Self {
            heading: self.heading.min(other.heading),
            body: self.body.min(other.body),
            extra: self.extra.min(other.extra),
        }
    }

    /// The weighted sum, in tokens.
    #[inline]
    pub(crate) fn weighted(&self, weights: &FieldWeights) -> f64 {
        weights.heading * f64::from(self.heading)
            + weights.body * f64::from(self.body)
            + weights.extra * f64::from(self.extra)
    }
}

/// How often a term stands in each field of a chunk: up to 65,535 times in the body and 255 times in
/// the others. More repetition does not count; BM25 would hardly notice it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frequencies {
    pub(crate) heading: u8,
    pub(crate) extra: u8,
    pub(crate) body: u16,
}

impl Frequencies {
    /// The sum.
    #[inline]
    pub(crate) fn total(self) -> u32 {
        u32::from(self.heading) + u32::from(self.extra) + u32::from(self.body)
    }

    /// The greater of two, field by field.
    pub(crate) fn most(self, other: Self) -> Self {
        Self {
            heading: self.heading.max(other.heading),
            extra: self.extra.max(other.extra),
            body: self.body.max(other.body),
        }
    }

    /// The weighted sum.
    #[inline]
    pub(crate) fn weighted(self, weights: &FieldWeights) -> f64 {
        weights.heading * f64::from(self.heading)
            + weights.body * f64::from(self.body)
            + weights.extra * f64::from(self.extra)
    }
}
