//! Vectors as they may be given to others.

use serde_json::Value;

use crate::fault::Fault;

/// A list of numbers as a vector.
pub(crate) fn vector(list: &Value) -> Option<Vec<f32>> {
    let numbers = list.as_array()?.iter();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "services send more digits than models have"
    )]
    numbers.map(|number| number.as_f64().map(|number| number as f32)).collect()
}

/// Checks that there is one vector per text, all of `dimension` when it is known and of one length
/// when it is not, and makes them of length 1: services do not when the dimension is reduced.
pub(crate) fn settle(
    mut vectors: Vec<Vec<f32>>,
    texts: usize,
    dimension: Option<usize>,
) -> Result<Vec<Vec<f32>>, Fault> {
    if vectors.len() != texts {
        let wrong = format!("it gave {} vectors for {texts} texts", vectors.len());
        return Err(Fault::malformed(wrong));
    }
    let Some(wanted) = dimension.or_else(|| vectors.first().map(Vec::len)) else {
        return Ok(vectors);
    };
    for vector in &mut vectors {
        if vector.len() != wanted {
            let wrong = format!("it gave a vector of {} numbers, not {wanted}", vector.len());
            let next = "set the dimension that the model has, and index again after a change";
            return Err(Fault::malformed(wrong).next(next));
        }
        let square: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
        let length = square.sqrt();
        if !length.is_finite() || length <= 0.0 {
            return Err(Fault::malformed("it gave a vector without a direction"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "the quotient is at most 1")]
        vector.iter_mut().for_each(|x| *x = (f64::from(*x) / length) as f32);
    }
    Ok(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_made_of_length_one() {
        let settled = settle(vec![vec![3.0, 4.0], vec![0.0, -2.0]], 2, Some(2)).unwrap();
        assert_eq!(settled, [[0.6, 0.8], [0.0, -1.0]]);
        assert_eq!(settle(Vec::new(), 0, None).unwrap(), Vec::<Vec<f32>>::new());
    }

    #[test]
    fn what_is_not_a_vector_per_text_of_the_dimension_is_refused() {
        for (vectors, texts, dimension) in [
            (vec![vec![1.0]], 2, None),
            (vec![vec![1.0], vec![1.0]], 1, None),
            (vec![vec![1.0, 0.0]], 1, Some(3)),
            (vec![vec![1.0, 0.0], vec![1.0]], 2, None),
            (vec![vec![0.0, 0.0]], 1, None),
            (vec![vec![f32::NAN, 1.0]], 1, None),
            (vec![vec![f32::INFINITY]], 1, None),
            (vec![vec![]], 1, None),
        ] {
            assert!(settle(vectors.clone(), texts, dimension).is_err(), "{vectors:?}");
        }
    }

    #[test]
    fn a_list_with_anything_but_numbers_is_no_vector() {
        assert_eq!(vector(&serde_json::json!([1, 0.5])), Some(vec![1.0, 0.5]));
        assert_eq!(vector(&serde_json::json!([1, null])), None);
        assert_eq!(vector(&serde_json::json!("1")), None);
    }
}
