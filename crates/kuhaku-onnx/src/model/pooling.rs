//! From what a model gives to numbers per row.

/// What is read of a model's output, per row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Head {
    /// The mean of the vectors of a row's tokens, special ones included.
    Mean,
    /// The vector of the first token.
    Cls,
    /// The numbers that the model gives per row.
    #[allow(dead_code, reason = "for rerankers and classifiers")]
    Logits,
}

impl Head {
    /// Whether it reads a vector per token.
    pub(crate) fn is_hidden(self) -> bool {
        self != Self::Logits
    }

    /// Of the output: rows, tokens, numbers; or rows, numbers.
    pub(crate) fn dimensions(self) -> usize {
        if self.is_hidden() { 3 } else { 2 }
    }

    /// What such an output is usually called.
    pub(crate) fn usual_outputs(self) -> &'static [&'static str] {
        match self {
            Self::Mean | Self::Cls => &["last_hidden_state", "token_embeddings", "hidden_states"],
            Self::Logits => &["logits"],
        }
    }

    /// The numbers per token or row, when the shape is the one that this batch must give.
    pub(crate) fn fits(self, shape: &[i64], rows: usize, longest: usize) -> Option<usize> {
        let number = |n: &i64| usize::try_from(*n).ok();
        let (width, rest) = shape.split_last()?;
        let rest: Vec<_> = rest.iter().map(number).collect::<Option<_>>()?;
        let expected: &[usize] = if self.is_hidden() { &[rows, longest] } else { &[rows] };
        (rest == expected).then(|| number(width)).flatten().filter(|width| *width > 0)
    }

    /// Per row its numbers. Sums go in the order of the tokens, so they depend on the row alone.
    pub(crate) fn reduce(
        self,
        numbers: &[f32],
        width: usize,
        longest: usize,
        lengths: impl Iterator<Item = usize>,
    ) -> Vec<Vec<f32>> {
        let per_row = if self.is_hidden() { width * longest } else { width };
        let rows = numbers.chunks_exact(per_row.max(1)).zip(lengths);
        rows.map(|(row, length)| match self {
            Self::Mean => mean(row, width, length),
            Self::Cls | Self::Logits => row.iter().take(width).copied().collect(),
        })
        .collect()
    }
}

fn mean(row: &[f32], width: usize, length: usize) -> Vec<f32> {
    let mut sum = vec![0.0; width];
    for token in row.chunks_exact(width).take(length) {
        for (sum, number) in sum.iter_mut().zip(token) {
            *sum += number;
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "rows have few tokens")]
    let count = length.max(1) as f32;
    for sum in &mut sum {
        *sum /= count;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_leaves_filled_in_tokens_out() {
        let numbers =
            [1.0, 2.0, 3.0, 6.0, 9.0, 9.0, /* second row */ 5.0, 5.0, 9.0, 9.0, 9.0, 9.0];
        let vectors = Head::Mean.reduce(&numbers, 2, 3, [2, 1].into_iter());
        assert_eq!(vectors, [[2.0, 4.0], [5.0, 5.0]]);
        let vectors = Head::Cls.reduce(&numbers, 2, 3, [2, 1].into_iter());
        assert_eq!(vectors, [[1.0, 2.0], [5.0, 5.0]]);
    }

    #[test]
    fn a_shape_that_is_not_of_the_batch_does_not_fit() {
        assert_eq!(Head::Mean.fits(&[2, 7, 384], 2, 7), Some(384));
        assert_eq!(Head::Mean.fits(&[2, 384], 2, 7), None);
        assert_eq!(Head::Mean.fits(&[7, 2, 384], 2, 7), None);
        assert_eq!(Head::Logits.fits(&[2, 3], 2, 7), Some(3));
        assert_eq!(Head::Logits.fits(&[2, 0], 2, 7), None);
    }
}
