//! Spanish.

use crate::guard::rules::table::{Fragment, Language, RuleText};
use crate::guard::screening::GuardFamily::{InstructionOverride, PersonaOverride, PromptLeak};

pub(super) const SPANISH: Language = Language { fragments: &FRAGMENTS, rules: &RULES };

const FRAGMENTS: [Fragment; 2] = [
    (
        "<instrucciones>",
        r"instruccion(?:es)?|indicacion(?:es)?|ordenes|reglas?|directrices|directivas|normas|mandatos|prompts?",
    ),
    (
        "<ignora>",
        r"ignora|ignore|ignorad|ignoren|ignores|olvida|olvide|olvidad|olviden|descarta|descarte|desestima|desobedece|omite|no sigas|no obedezcas|haz caso omiso de|haga caso omiso de|deja de lado|pasa por alto|anula",
    ),
];

const IGNORA: &[&str] = &[
    "ignor",
    "olvid",
    "descart",
    "desestima",
    "desobedece",
    "omite",
    "sigas",
    "obedezcas",
    "omiso",
    "lado",
    "alto",
    "anula",
];
const INSTRUCCIONES: &[&str] = &[
    "instruccion",
    "indicacion",
    "ordenes",
    "regla",
    "directrices",
    "directivas",
    "normas",
    "mandatos",
    "prompt",
    "mensaje",
];

const RULES: [RuleText; 9] = [
RuleText::words(InstructionOverride, [IGNORA, INSTRUCCIONES], r"<ignora> (?:todas? |todos? |cualquier |las? |los |el |tus? |sus? |mis |estas? |de ){0,4}<instrucciones> (?:(?:que|quete) (?:te |le |se |has |ha )?[a-z]{1,12} ?[a-z]{0,12} )?(?:previas?|previos?|anterior(?:es)?|precedentes?|de arriba|antes|dadas|recibidas|iniciales|originales)\b").as_command(),
RuleText::words(InstructionOverride, [IGNORA, INSTRUCCIONES], r"<ignora> (?:todas? |todos? |las? |los |el |tus? |sus? |mis |de ){0,4}(?:previas?|anterior(?:es)?) <instrucciones>\b").as_command(),
RuleText::words(InstructionOverride, [IGNORA, INSTRUCCIONES], r"<ignora> (?:todas (?:las |tus |sus )?|tus |sus )(?:instrucciones|directrices|reglas)(?: y |[.,]|$)").as_command(),
RuleText::words(InstructionOverride, [&["olvid", "ignor"], &["todo", "lo"]], r"(?:olvida|olvide|olviden|ignora|ignore)(?:te)? (?:de )?(?:todo )?lo (?:anterior|dicho|que (?:te|se|he|has|hemos|dije|dijo|dijeron))\b").as_command().signal(),
RuleText::words(PersonaOverride, [&["ahora", "adelante"], &["sin", "libre"]], r"(?:ahora|a partir de ahora|desde ahora|de ahora en adelante) (?:tu )?(?:eres|seras|actua como|actuaras como|responde como|responderas) (?:una? )?(?:[a-z]{1,16} ){0,3}?(?:sin (?:ninguna? |ningun )?(?:tipo de )?(?:restricciones|restriccion|limites|limitaciones|filtros?|censura|reglas)|libre de (?:restricciones|reglas|filtros))\b"),
RuleText::words(PersonaOverride, [&["sin"], &["filtro", "restriccion", "censura"]], r"(?:responde|contesta|actua|habla) (?:[a-z]{1,12} ){0,3}?sin (?:ningun |ninguna )?(?:filtros?|restriccion(?:es)?|censura)\b").signal(),
RuleText::words(PersonaOverride, [&["ahora", "adelante"], &["eres", "seras", "actua", "responde", "debes"]], r"(?:a partir de ahora|desde ahora|de ahora en adelante) (?:tu )?(?:eres|seras|actua|actuaras|responde|responderas|debes)\b").signal(),
RuleText::words(PromptLeak, [INSTRUCCIONES, &["sistema", "inicial", "original", "secret", "ocult"]], r"(?:muestra|muestrame|revela|revelame|dime|imprime|repite|escribe|ensename|comparte|filtra|cual es|cuales son|traduce) (?:todas? |tus? |el |las? |los |sus? |me |contenido |texto |de |completo ){0,5}(?:prompts?|instrucciones|mensaje|indicaciones|directrices) (?:del? (?:tu )?sistema|inicial(?:es)?|original(?:es)?|secret[ao]s?|ocult[ao]s?)\b").as_command(),
RuleText::words(InstructionOverride, [&["siga", "sigue", "lea", "lee", "cumpl"], INSTRUCCIONES], r"(?:siga|sigue|lea|lee|cumpla|cumple) (?:todas? |las? |los |sus? |tus? ){0,3}<instrucciones>\b").excuse(),
];
