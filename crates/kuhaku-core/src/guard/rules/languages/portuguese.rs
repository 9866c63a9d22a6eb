//! Portuguese.

use crate::guard::rules::table::{Fragment, Language, RuleText};
use crate::guard::screening::GuardFamily::{InstructionOverride, PersonaOverride, PromptLeak};

pub(super) const PORTUGUESE: Language = Language { fragments: &FRAGMENTS, rules: &RULES };

const FRAGMENTS: [Fragment; 3] = [
    (
        "<instrucoes>",
        r"instruc(?:ao|oes)|regras?|diretrizes|diretivas|ordens|comandos|orientacoes|indicacoes|prompts?",
    ),
    (
        "<ignore>",
        r"ignor(?:e|a|em|ar|es)|esque(?:ca|cam|ce|cas)|desconsider(?:e|a|em|ar)|desobedeca|descarte|nao siga|nao obedeca|deixe de lado|anule|contorne",
    ),
    (
        "<as>",
        r"tod[ao]s? |as |os |a |o |suas? |seus? |tuas |minhas |essas |estas |das |dos |de |quaisquer |qualquer ",
    ),
];

const IGNORE: &[&str] = &[
    "ignor",
    "esque",
    "desconsider",
    "desobedeca",
    "descarte",
    "siga",
    "obedeca",
    "lado",
    "anule",
    "contorne",
];
const INSTRUCOES: &[&str] = &[
    "instruc",
    "regra",
    "diretrizes",
    "diretivas",
    "ordens",
    "comandos",
    "orientacoes",
    "indicacoes",
    "prompt",
];
const MOSTRE: &[&str] = &[
    "mostr",
    "revel",
    "repit",
    "imprim",
    "escrev",
    "diga",
    "exib",
    "compartilh",
    "traduz",
    "qual",
    "quais",
    "liste",
];

const RULES: [RuleText; 8] = [
RuleText::words(InstructionOverride, [IGNORE, INSTRUCOES], r"<ignore> (?:<as>){0,4}<instrucoes> (?:[a-z]{1,12} )?(?:anterior(?:es)?|previas?|previos?|precedentes?|acima|de cima|iniciais|originais|dadas|recebidas|que (?:voce|te|lhe|eu) [a-z]{1,12}(?: [a-z]{1,12})?)\b").as_command(),
RuleText::words(InstructionOverride, [IGNORE, INSTRUCOES], r"<ignore> (?:<as>){0,4}(?:anteriores|previas|precedentes) <instrucoes>\b").as_command(),
RuleText::words(InstructionOverride, [IGNORE, INSTRUCOES], r"<ignore> (?:tod[ao]s (?:as |os )?(?:suas |seus |tuas )?|suas |tuas )(?:instrucoes|regras|diretrizes)(?: e |[.,]|$)").as_command(),
RuleText::words(InstructionOverride, [&["esque", "ignor", "desconsider"], &["tudo"]], r"(?:esqueca|esquece|ignore|ignora|desconsidere) tudo (?:o que |que |isso |acima|anterior|antes)[a-z ]{0,16}").as_command().signal(),
RuleText::words(PersonaOverride, [&["agora", "diante"], &["sem", "irrestrit", "livre"]], r"(?:agora|a partir de agora|de agora em diante) (?:voce |tu )?(?:e|es|sera|seras|aja como|responda como|responda) (?:um |uma )?(?:[a-z]{1,16} ){0,3}?(?:sem (?:nenhuma? |qualquer |quaisquer )?(?:restric(?:ao|oes)|limites?|limitacoes|filtros?|censura|regras)|irrestrit[oa]|livre de (?:restricoes|regras))"),
RuleText::words(PersonaOverride, [&["agora"], &["voce", "tu"]], r"(?:a partir de agora|de agora em diante) (?:voce|tu) (?:e|es|sera|vai|deve|responde|respondera|age|agira|ira)\b").signal(),
RuleText::words(PromptLeak, [MOSTRE, &["sistema", "inicia", "origina", "secret", "ocult"]], r"(?:mostr[ea](?:me)?|revel[ea]|repita|imprim[ea]|escreva|diga(?:me)?|exib[ae]|compartilhe|traduza|liste|qual e|quais sao)(?: (?:me|todas?|o|a|as|os|seu|sua|suas|seus|teu|tuas|texto|conteudo|do|completo)){0,6} (?:prompts?|instrucoes|mensagem|diretrizes|regras) (?:d[eo] )?(?:sistema|iniciais|inicial|origina(?:l|is)|secret[ao]s?|ocult[ao]s?)\b").as_command(),
RuleText::words(InstructionOverride, [&["siga", "seguir", "leia", "cumpra"], INSTRUCOES], r"(?:siga|seguir|leia|cumpra) (?:<as>){0,3}<instrucoes>\b").excuse(),
];
