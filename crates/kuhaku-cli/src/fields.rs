//! Fields as the command line writes them: `quantity:number?=how many boxes`.

use kuhaku::Fields;
use kuhaku::extract::{Item, Kind};

/// The kinds that have a name.
const KINDS: [(&str, Kind); 5] = [
    ("text", Kind::Text),
    ("number", Kind::Number),
    ("integer", Kind::Integer),
    ("boolean", Kind::Boolean),
    ("date", Kind::Date),
];

/// One field.
#[derive(Clone, Debug)]
pub(crate) struct FieldArg {
    pub(crate) name: String,
    item: Item,
    optional: bool,
    description: Option<String>,
}

impl FieldArg {
    /// Reads `NAME[:KIND][?][=DESCRIPTION]`.
    ///
    /// # Errors
    /// What is wrong with it, and how to write it.
    pub(crate) fn parse(written: &str) -> Result<Self, String> {
        let (head, description) = match written.split_once('=') {
            Some((head, description)) => (head, Some(description.trim().to_owned())),
            None => (written, None),
        };
        let head = head.trim();
        let (head, optional) = match head.strip_suffix('?') {
            Some(head) => (head, true),
            None => (head, false),
        };
        let (name, kind) = head.split_once(':').unwrap_or((head, "text"));
        if name.trim().is_empty() {
            return Err("give it a name, as in quantity:number".into());
        }
        if name.contains(char::is_whitespace) {
            return Err("a text comes after --, and a description after =".into());
        }
        if let Some(name) = name.strip_suffix("[]") {
            return Err(format!("a list is {name}:text[], or another kind before []"));
        }
        if name.contains(['[', ']', '|']) {
            return Err("a kind comes after :, as in tags:text[] or size:small|large".into());
        }
        if name.contains(char::is_control) {
            return Err("a name has no control characters".into());
        }
        if description.as_deref() == Some("") {
            return Err("write its description after =, or leave = out".into());
        }
        Ok(Self { name: name.into(), item: item(kind.trim())?, optional, description })
    }

    /// The list of such fields.
    pub(crate) fn list(fields: &[Self]) -> Fields {
        fields.iter().fold(Fields::new(), |list, field| {
            let list = list.field(&field.name, field.item.clone());
            let list = if field.optional { list.optional() } else { list };
            match &field.description {
                Some(description) => list.described(description),
                None => list,
            }
        })
    }
}

/// What a kind takes.
fn item(kind: &str) -> Result<Item, String> {
    if let Some(of) = kind.strip_suffix("[]") {
        return Ok(Item::list(item(of)?));
    }
    if let Some((_, kind)) = KINDS.iter().find(|(name, _)| *name == kind) {
        return Ok((*kind).into());
    }
    let options: Vec<&str> = kind.split('|').map(str::trim).collect();
    if options.len() > 1 && options.iter().all(|option| !option.is_empty()) {
        return Ok(Item::one_of(options));
    }
    Err("a kind is text, number, integer, boolean, date or a choice such as small|large; for more, \
         write a JSON Schema and give it with --schema"
        .into())
}

#[cfg(test)]
mod tests {
    use kuhaku::Schema;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_a_name_a_kind_and_a_description() {
        let written = [
            "product",
            "quantity:number=how many = boxes",
            "note:text?",
            "size:s|m",
            "tags:text[]",
        ];
        let fields: Vec<FieldArg> = written.iter().map(|it| FieldArg::parse(it).unwrap()).collect();
        let schema = Schema::from_fields(FieldArg::list(&fields)).unwrap();
        let document = schema.document();
        let required = &document["required"];
        assert_eq!(required, &json!(["product", "quantity", "size", "tags"]));
        assert_eq!(document["properties"]["quantity"]["description"], "how many = boxes");
        let valid = json!({"product": "tea", "quantity": 2.5, "size": "s", "tags": ["a"]});
        assert!(schema.is_valid(&valid), "{document}");
        let invalid = json!({"product": "tea", "quantity": 2.5, "size": "x", "tags": ["a"]});
        assert!(!schema.is_valid(&invalid));
    }

    #[test]
    fn a_wrong_field_is_refused_with_a_way_to_write_it() {
        for (written, says) in [
            ("", "a name"),
            (":text", "a name"),
            ("?", "a name"),
            ("tea please", "after --"),
            ("tags[]", "tags:text[]"),
            ("small|large", "size:small|large"),
            ("a[", "tags:text[]"),
            ("a\u{1b}[2J", "after :"),
            ("a\u{7}", "control characters"),
            ("a:float", "text, number"),
            ("a:", "text, number"),
            ("a:x|", "text, number"),
            ("a:text=", "description"),
        ] {
            let error = FieldArg::parse(written).map(|field| field.name).unwrap_err();
            assert!(error.contains(says), "{written}: {error}");
        }
    }
}
