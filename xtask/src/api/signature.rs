//! Types, generics and functions of rustdoc's JSON as one line of Rust.
//!
//! What `async_trait` makes of an `async fn` is written as an `async fn` again.

use serde_json::Value;

use super::names::Names;

/// A type, as `&'static str` or `Vec<kuhaku_core::ChunkId>`.
pub(super) fn type_(names: &Names<'_>, json: &Value) -> String {
    let Some((kind, inner)) = variant(json) else {
        return json.as_str().unwrap_or("_").to_owned();
    };
    let of = |key: &str| type_(names, field(inner, key));
    match kind {
        "resolved_path" => path(names, inner),
        "generic" | "primitive" => text(inner).to_owned(),
        "dyn_trait" => {
            let traits = list(inner, "traits").iter().map(|bound| poly_trait(names, bound));
            let lifetime = field(inner, "lifetime").as_str().map(str::to_owned);
            format!("dyn {}", traits.chain(lifetime).collect::<Vec<_>>().join(" + "))
        }
        "impl_trait" => format!("impl {}", bounds(names, elements(inner))),
        "tuple" => {
            let types: Vec<_> = elements(inner).iter().map(|json| type_(names, json)).collect();
            if types.len() == 1 {
                format!("({},)", types.concat())
            } else {
                format!("({})", types.join(", "))
            }
        }
        "slice" => format!("[{}]", type_(names, inner)),
        "array" => format!("[{}; {}]", of("type"), text(field(inner, "len"))),
        "raw_pointer" => {
            let mutability = if flag(inner, "is_mutable") { "mut" } else { "const" };
            format!("*{mutability} {}", of("type"))
        }
        "borrowed_ref" => {
            let lifetime = field(inner, "lifetime").as_str().filter(|name| !is_invented(name));
            let lifetime = lifetime.map(|name| format!("{name} ")).unwrap_or_default();
            let mutability = if flag(inner, "is_mutable") { "mut " } else { "" };
            format!("&{lifetime}{mutability}{}", of("type"))
        }
        "qualified_path" => {
            let name = text(field(inner, "name"));
            let owner = of("self_type");
            match field(inner, "trait") {
                Value::Null => format!("{owner}::{name}"),
                owning if text(field(owning, "path")).is_empty() => format!("{owner}::{name}"),
                owning => format!("<{owner} as {}>::{name}", path(names, owning)),
            }
        }
        "function_pointer" => {
            let (inputs, output) = signature(names, field(inner, "sig"));
            format!("fn({inputs}){output}")
        }
        other => other.to_owned(),
    }
}

/// A function from its keywords to its result, without visibility: `fn a::b(&self) -> C`.
pub(super) fn function(names: &Names<'_>, called: &str, json: &Value) -> String {
    let header = field(json, "header");
    let mut output = field(field(json, "sig"), "output");
    let rewritten = list(field(json, "generics"), "params")
        .iter()
        .any(|param| text(field(param, "name")) == "'async_trait");
    if rewritten {
        output = future_output(output).unwrap_or(output);
    }
    let mut keywords = String::new();
    for (key, keyword) in [("is_const", "const "), ("is_async", "async "), ("is_unsafe", "unsafe ")]
    {
        if flag(header, key) || (key == "is_async" && rewritten) {
            keywords.push_str(keyword);
        }
    }
    let (params, predicates) = generics(names, field(json, "generics"));
    let inputs = inputs(names, field(json, "sig"));
    format!("{keywords}fn {called}{params}({inputs}){}{predicates}", result(names, output))
}

/// Generic parameters and where clause: `<T: Clone>` and ` where T: Send`.
pub(super) fn generics(names: &Names<'_>, json: &Value) -> (String, String) {
    let params: Vec<_> = list(json, "params")
        .iter()
        .filter(|param| !is_invented(text(field(param, "name"))))
        .filter_map(|param| generic_param(names, param))
        .collect();
    let predicates: Vec<_> = list(json, "where_predicates")
        .iter()
        .filter_map(|predicate| where_predicate(names, predicate))
        .collect();
    let params = if params.is_empty() { String::new() } else { format!("<{}>", params.join(", ")) };
    let predicates = if predicates.is_empty() {
        String::new()
    } else {
        format!(" where {}", predicates.join(", "))
    };
    (params, predicates)
}

/// A path with its arguments.
pub(super) fn path(names: &Names<'_>, json: &Value) -> String {
    let written = text(field(json, "path"));
    let name = match field(json, "id").as_u64() {
        Some(id) => names.of(id, written),
        None => written.to_owned(),
    };
    format!("{name}{}", arguments(names, field(json, "args")))
}

/// Bounds joined by `+`.
pub(super) fn bounds(names: &Names<'_>, json: &[Value]) -> String {
    json.iter().filter_map(|json| bound(names, json)).collect::<Vec<_>>().join(" + ")
}

fn bound(names: &Names<'_>, json: &Value) -> Option<String> {
    let (kind, inner) = variant(json)?;
    match kind {
        "trait_bound" => {
            let mark = if text(field(inner, "modifier")) == "maybe" { "?" } else { "" };
            Some(format!("{mark}{}", poly_trait(names, inner)))
        }
        "outlives" => Some(text(inner).to_owned()).filter(|name| !is_invented(name)),
        _ => None,
    }
}

fn poly_trait(names: &Names<'_>, json: &Value) -> String {
    let params: Vec<_> =
        list(json, "generic_params").iter().map(|param| text(field(param, "name"))).collect();
    let quantified =
        if params.is_empty() { String::new() } else { format!("for<{}> ", params.join(", ")) };
    format!("{quantified}{}", path(names, field(json, "trait")))
}

fn generic_param(names: &Names<'_>, json: &Value) -> Option<String> {
    let name = text(field(json, "name"));
    let (kind, inner) = variant(field(json, "kind"))?;
    match kind {
        "lifetime" => {
            let outlives: Vec<_> = list(inner, "outlives").iter().map(text).collect();
            Some(constrained(name, &outlives.join(" + ")))
        }
        // `impl Trait` among the arguments.
        "type" if flag(inner, "is_synthetic") => None,
        "type" => {
            let bounded = constrained(name, &bounds(names, list(inner, "bounds")));
            Some(match field(inner, "default") {
                Value::Null => bounded,
                default => format!("{bounded} = {}", type_(names, default)),
            })
        }
        "const" => Some(format!("const {name}: {}", type_(names, field(inner, "type")))),
        _ => None,
    }
}

fn where_predicate(names: &Names<'_>, json: &Value) -> Option<String> {
    let (kind, inner) = variant(json)?;
    match kind {
        "bound_predicate" => {
            let bounds = bounds(names, list(inner, "bounds"));
            let subject = type_(names, field(inner, "type"));
            (!bounds.is_empty()).then(|| format!("{subject}: {bounds}"))
        }
        "lifetime_predicate" => {
            let name = text(field(inner, "lifetime"));
            let outlives: Vec<_> = list(inner, "outlives").iter().map(text).collect();
            (!is_invented(name)).then(|| constrained(name, &outlives.join(" + ")))
        }
        _ => None,
    }
}

fn constrained(name: &str, bounds: &str) -> String {
    if bounds.is_empty() { name.to_owned() } else { format!("{name}: {bounds}") }
}

fn arguments(names: &Names<'_>, json: &Value) -> String {
    let Some((kind, inner)) = variant(json) else { return String::new() };
    match kind {
        "angle_bracketed" => {
            let args = list(inner, "args").iter().filter_map(|arg| argument(names, arg));
            let constraints =
                list(inner, "constraints").iter().filter_map(|json| constraint(names, json));
            let all: Vec<_> = args.chain(constraints).collect();
            if all.is_empty() { String::new() } else { format!("<{}>", all.join(", ")) }
        }
        "parenthesized" => {
            let inputs: Vec<_> =
                list(inner, "inputs").iter().map(|json| type_(names, json)).collect();
            format!("({}){}", inputs.join(", "), result(names, field(inner, "output")))
        }
        _ => String::new(),
    }
}

fn argument(names: &Names<'_>, json: &Value) -> Option<String> {
    let (kind, inner) = variant(json)?;
    match kind {
        "lifetime" => Some(text(inner).to_owned()).filter(|name| !is_invented(name)),
        "type" => Some(type_(names, inner)),
        "const" => Some(text(field(inner, "expr")).to_owned()),
        _ => None,
    }
}

fn constraint(names: &Names<'_>, json: &Value) -> Option<String> {
    let name = text(field(json, "name"));
    let (kind, inner) = variant(field(json, "binding"))?;
    match kind {
        "equality" => {
            let (_, term) = variant(inner)?;
            Some(format!("{name} = {}", type_(names, term)))
        }
        "constraint" => Some(format!("{name}: {}", bounds(names, elements(inner)))),
        _ => None,
    }
}

fn signature(names: &Names<'_>, json: &Value) -> (String, String) {
    (inputs(names, json), result(names, field(json, "output")))
}

fn inputs(names: &Names<'_>, json: &Value) -> String {
    let inputs = list(json, "inputs").iter().map(|input| {
        let name = input.get(0).map_or("_", text);
        let shown = type_(names, input.get(1).unwrap_or(&Value::Null));
        match (name, shown.as_str()) {
            ("self", "Self") => "self".to_owned(),
            ("self", "&Self") => "&self".to_owned(),
            ("self", "&mut Self") => "&mut self".to_owned(),
            _ => format!("{name}: {shown}"),
        }
    });
    inputs.collect::<Vec<_>>().join(", ")
}

fn result(names: &Names<'_>, output: &Value) -> String {
    if output.is_null() { String::new() } else { format!(" -> {}", type_(names, output)) }
}

/// The `T` of `Pin<Box<dyn Future<Output = T> + …>>`.
fn future_output(json: &Value) -> Option<&Value> {
    let boxed = first_argument(json)?;
    let future = first_argument(boxed)?.get("dyn_trait")?.get("traits")?.get(0)?.get("trait")?;
    let constraints = future.get("args")?.get("angle_bracketed")?.get("constraints")?;
    constraints.get(0)?.get("binding")?.get("equality")?.get("type")
}

fn first_argument(json: &Value) -> Option<&Value> {
    let args = json.get("resolved_path")?.get("args")?.get("angle_bracketed")?.get("args")?;
    args.get(0)?.get("type")
}

/// Lifetimes that `async_trait` adds.
fn is_invented(lifetime: &str) -> bool {
    let numbered = lifetime
        .strip_prefix("'life")
        .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()));
    numbered || lifetime == "'async_trait"
}

/// The name and content of an enum value: `{"name": content}`.
pub(super) fn variant(json: &Value) -> Option<(&str, &Value)> {
    let (name, inner) = json.as_object()?.iter().next()?;
    Some((name, inner))
}

/// A field, or null.
pub(super) fn field<'a>(json: &'a Value, key: &str) -> &'a Value {
    json.get(key).unwrap_or(&Value::Null)
}

/// The elements of the list in a field.
pub(super) fn list<'a>(json: &'a Value, key: &str) -> &'a [Value] {
    elements(field(json, key))
}

/// Whether the field is true.
pub(super) fn flag(json: &Value, key: &str) -> bool {
    field(json, key).as_bool() == Some(true)
}

/// A text, or nothing.
pub(super) fn text(json: &Value) -> &str {
    json.as_str().unwrap_or_default()
}

fn elements(json: &Value) -> &[Value] {
    json.as_array().map_or(&[], Vec::as_slice)
}
