//! What each family of embedders was trained with.

/// How token vectors become one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pooling {
    /// The mean of all tokens, special ones included.
    Mean,
    /// The first token.
    Cls,
}

impl Pooling {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
        }
    }
}

/// A family of embedders: which words go before a text, and how token vectors become one, as their
/// makers' model cards say.
///
/// | family | before a query | before a document | pooling |
/// |---|---|---|---|
/// | `E5` | `query: ` | `passage: ` | mean |
/// | `E5Instruct` | an instruction to retrieve passages | | mean |
/// | `MiniLm`, `Mpnet`, `Gte` | | | mean |
/// | `Bge`, `GteCls` (v1.5 and multilingual) | | | first token |
/// | `Plain` | | | mean |
///
/// The makers of bge v1.5 say that its instruction before a query is worth little and can be left out,
/// which is done here; [`OnnxEmbedderBuilder::prefixes`](crate::OnnxEmbedderBuilder::prefixes) puts
/// one in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// e5 and multilingual-e5.
    E5,
    /// multilingual-e5-large-instruct.
    E5Instruct,
    /// all-MiniLM and its like.
    MiniLm,
    /// all-mpnet and its like.
    Mpnet,
    /// bge small, base and large, and bge-m3.
    Bge,
    /// gte small, base and large.
    Gte,
    /// gte-…-v1.5 and gte-multilingual.
    GteCls,
    /// Anything else: no words before a text.
    #[default]
    Plain,
}

impl Family {
    /// The family that a model's name says it belongs to.
    ///
    /// ```
    /// use kuhaku_onnx::Family;
    /// assert_eq!(Family::of("intfloat/multilingual-e5-small"), Family::E5);
    /// assert_eq!(Family::of("my-own-model"), Family::Plain);
    /// ```
    pub fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let part = |part: &str| name.split(['/', '-', '_', '.']).any(|one| one == part);
        let v15 = name.contains("v1.5");
        match () {
            () if part("e5") && part("instruct") => Self::E5Instruct,
            () if part("e5") => Self::E5,
            () if part("bge") => Self::Bge,
            () if part("gte") && (v15 || part("multilingual")) => Self::GteCls,
            () if part("gte") => Self::Gte,
            () if part("minilm") => Self::MiniLm,
            () if part("mpnet") => Self::Mpnet,
            () => Self::Plain,
        }
    }

    /// What goes before a query.
    pub fn query_prefix(self) -> &'static str {
        match self {
            Self::E5 => "query: ",
            Self::E5Instruct => {
                "Instruct: Given a web search query, retrieve relevant passages that answer the \
                 query\nQuery: "
            }
            _ => "",
        }
    }

    /// What goes before a document.
    pub fn document_prefix(self) -> &'static str {
        match self {
            Self::E5 => "passage: ",
            _ => "",
        }
    }

    /// How it pools, unless the model's own files say.
    pub fn pooling(self) -> Pooling {
        match self {
            Self::Bge | Self::GteCls => Pooling::Cls,
            _ => Pooling::Mean,
        }
    }

    /// The length that the makers run a model at where it is shorter than what it can take, in
    /// tokens; their files say so too, but are not always there.
    pub(super) fn longest(self, name: &str) -> Option<usize> {
        let name = name.to_ascii_lowercase();
        let ends = |end: &str| name.ends_with(end);
        match self {
            Self::MiniLm if ends("all-minilm-l6-v2") => Some(256),
            Self::MiniLm if ends("all-minilm-l12-v2") => Some(128),
            Self::Mpnet if ends("all-mpnet-base-v2") => Some(384),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_which_family_a_model_belongs_to() {
        for (name, family) in [
            ("intfloat/multilingual-e5-small", Family::E5),
            ("e5-base-v2", Family::E5),
            ("intfloat/multilingual-e5-large-instruct", Family::E5Instruct),
            ("sentence-transformers/all-MiniLM-L6-v2", Family::MiniLm),
            ("all-mpnet-base-v2", Family::Mpnet),
            ("BAAI/bge-small-en-v1.5", Family::Bge),
            ("BAAI/bge-base-zh-v1.5", Family::Bge),
            ("BAAI/bge-m3", Family::Bge),
            ("thenlper/gte-base", Family::Gte),
            ("Alibaba-NLP/gte-multilingual-base", Family::GteCls),
            ("Alibaba-NLP/gte-base-en-v1.5", Family::GteCls),
            ("the5th-model", Family::Plain),
        ] {
            assert_eq!(Family::of(name), family, "{name}");
        }
    }

    /// ING-10: the prefixes of e5, and none for other models.
    #[test]
    fn only_e5_gets_words_before_a_text() {
        let e5 = Family::of("intfloat/multilingual-e5-small");
        assert_eq!((e5.document_prefix(), e5.query_prefix()), ("passage: ", "query: "));
        for other in
            ["all-MiniLM-L6-v2", "all-mpnet-base-v2", "BAAI/bge-small-en-v1.5", "gte-base", "x"]
        {
            let family = Family::of(other);
            assert_eq!((family.document_prefix(), family.query_prefix()), ("", ""), "{other}");
        }
    }
}
