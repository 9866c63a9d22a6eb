//! What the rules say. A rule names a verb and its target, and what may stand between them.
//!
//! Rules on words are matched on small letters without accents; repetitions are bounded, so that
//! each match is short and the work linear.

use super::{Counts, Reads};
use crate::guard::screening::GuardFamily;

use Counts::{Always, AsBareCommand, AsCommand, UnlessPerson};
use GuardFamily::{InstructionOverride, PersonaOverride, PromptLeak, RoleSwitch, SpecialToken};
use Reads::{Plain, Words};

/// Names for parts of patterns. A fragment uses only fragments that are listed after it.
pub(super) const FRAGMENTS: [(&str, &str); 20] = [
    // "… all of the previous two instructions", "… your earlier rules"
    ("<earlier orders>", r"(?:<which> ){0,5}<earlier> (?:(?:<earlier>|<filler>) ){0,3}<orders>\b"),
    // "… the instructions above", "… the rules you were given"
    ("<orders above>", r"(?:<which> ){0,4}(?:system )?<orders> (?:that )?(?:<given above>)"),
    (
        "<given above>",
        r"(?:you (?:were|have been|had been) (?:given|told)|you (?:got|received)|given (?:above|before|earlier|previously|to you)|that came before|from before|above)<clause end>",
    ),
    (
        "<ignore>",
        r"ignore|disregard|forget|override|overrule|bypass|neglect|overlook|discard|dismiss|disobey|abandon|skip|(?:do not|dont|stop) (?:follow|following|obey|obeying|listen to|listening to)|pay no attention to",
    ),
    ("<strongly ignore>", r"ignore|disregard|forget|override|bypass|disobey"),
    (
        "<which>",
        r"all|any|every|each|of|the|your|my|our|these|those|this|that|other|and|to|about|everything in|anything in|whatever",
    ),
    (
        "<earlier>",
        r"previous|previously given|prior|above|earlier|preceding|foregoing|former|past|existing|initial|original",
    ),
    (
        "<filler>",
        r"one|two|three|few|set|of|or|and|given|stated|system|user|developer|security|safety|instruction|your|the|all|other",
    ),
    (
        "<orders>",
        r"instructions?|prompts?|rules?|guidance|guidelines?|directives?|commands?|directions|orders|constraints?|restrictions?|programming",
    ),
    (
        "<clause end>",
        r"(?: (?:this|these|and|but|verbatim|exactly|word|without|starting|including|instead|now|please)\b|[.,]|$)",
    ),
    (
        "<free>",
        r"unrestricted|unfiltered|uncensored|unlimited|unbound|jailbroken|amoral|unethical|lawless|evil|without (?:any )?(?:restrictions?|rules|limits|limitations|filters?|guidelines|censorship|ethics)|free (?:of|from) (?:all |any )?(?:restrictions?|rules|limits|filters?|guidelines|censorship)|no longer (?:bound|restricted|limited|an ai)|not bound by",
    ),
    ("<model>", r"assistant|ai|bot|chatbot|language model|llm|model|persona|hacker"),
    // What may stand between "print" and "the system prompt".
    (
        "<out>",
        r"me|us|out|back|all|of|the|words?|text|contents?|exact|exactly|full|entire|complete|whole|verbatim|your|this|that|in|from|with|and|to|is|was|wording|everything|lines?|first",
    ),
    (
        "<reveal>",
        r"reveal|print|show|display|repeat|output|tell|give|share|disclose|expose|leak|recite|dump|return|send|write|list|copy|paste|quote|echo|summari[sz]e|translate|type|spell|provide|state",
    ),
    (
        "<secret>",
        r"system|initial|original|hidden|secret|internal|developer|confidential|preceding|previous|prior|first|base",
    ),
    ("<set prompt>", r"prompts?|instructions?|messages?|directives?|guidelines?"),
    ("<talimat>", r"talimat|komut|yonerge|kural|emir|emr|direktif|istem|prompt"),
    (
        "<yok say>",
        r"(?:yok say|gormezden gel|unut|bosver|goz ?ardi et|dikkate alma)(?:in|yin|iniz|yiniz|un|unuz)?\b(?: (?:ve|simdi|artik|bunun)\b|[.,]|$)",
    ),
    (
        "<instrucciones>",
        r"instruccion(?:es)?|indicacion(?:es)?|ordenes|reglas?|directrices|normas|prompts?",
    ),
    (
        "<ignora>",
        r"ignora|ignore|ignorad|ignoren|olvida|olvide|olvidad|olviden|descarta|desestima|no sigas|haz caso omiso de",
    ),
];

/// Words that each match of a rule has one of, for two of its parts: a text without them need not be
/// searched for it.
pub(super) type Needs = [&'static [&'static str]; 2];

const IGNORE: &[&str] = &[
    "ignore",
    "disregard",
    "forget",
    "override",
    "overrule",
    "bypass",
    "neglect",
    "overlook",
    "discard",
    "dismiss",
    "disobey",
    "abandon",
    "skip",
    "follow",
    "obey",
    "listen",
    "attention",
];
const ORDERS: &[&str] = &[
    "instruction",
    "prompt",
    "rule",
    "guidance",
    "guideline",
    "directive",
    "command",
    "direction",
    "orders",
    "constraint",
    "restriction",
    "programming",
    "message",
];
const SAID: &[&str] = &["above", "told", "given", "taught", "now", "point", "far", "before"];
const EARLIER: &[&str] = &["above", "previous", "prior", "before", "preceding"];
const TALIMAT: &[&str] =
    &["talimat", "komut", "yonerge", "kural", "emir", "emr", "direktif", "istem", "prompt"];
const YOK_SAY: &[&str] = &["yok", "gormezden", "unut", "bosver", "ardi", "dikkate"];
const IGNORA: &[&str] = &["ignor", "olvid", "descarta", "desestima", "sigas", "omiso"];
const INSTRUCCIONES: &[&str] = &[
    "instruccion",
    "indicacion",
    "ordenes",
    "regla",
    "directrices",
    "normas",
    "prompt",
    "mensaje",
];
const FREE: &[&str] = &[
    "unrestricted",
    "unfiltered",
    "uncensored",
    "unlimited",
    "unbound",
    "jailbroken",
    "amoral",
    "unethical",
    "lawless",
    "evil",
    "without",
    "free",
    "longer",
    "bound",
];
const ACT: &[&str] =
    &["act", "behave", "respond", "answer", "reply", "speak", "pose", "play", "pretend"];
const PERSONAS: &[&str] =
    &["dan", "stan", "dude", "jailbr", "unrestricted", "unfiltered", "uncensored"];
const SINIRSIZ: &[&str] = &["kisitlamasiz", "sinirsiz", "filtresiz", "sansursuz"];
const SET_PROMPT: &[&str] = &["prompt", "instruction", "message", "directive", "guideline"];
const SECRET: &[&str] = &["system", "hidden", "secret", "developer", "initial"];
const REVEAL: &[&str] = &[
    "reveal",
    "print",
    "show",
    "display",
    "repeat",
    "output",
    "tell",
    "give",
    "share",
    "disclose",
    "expose",
    "leak",
    "recite",
    "dump",
    "return",
    "send",
    "write",
    "list",
    "copy",
    "paste",
    "quote",
    "echo",
    "summari",
    "translate",
    "type",
    "spell",
    "provide",
    "state",
];

/// Family, what is read, when a match counts, what it needs, and the pattern.
pub(super) const RULES: [(GuardFamily, Reads, Counts, Needs, &str); 30] = [
    (InstructionOverride, Words, AsCommand, [IGNORE, ORDERS], r"<ignore> <earlier orders>"),
    (InstructionOverride, Words, AsCommand, [IGNORE, ORDERS], r"<ignore> <orders above>"),
    (
        InstructionOverride,
        Words,
        AsBareCommand,
        [IGNORE, ORDERS],
        r"<strongly ignore> (?:<which> ){0,4}(?:your (?:system |safety |own |internal )?<orders>|system (?:prompt|instructions?|message))\b",
    ),
    // "ignore everything above", "forget all that you were told before"
    (
        InstructionOverride,
        Words,
        AsCommand,
        [IGNORE, SAID],
        r"<strongly ignore> (?:everything|anything|all|the text|whatever|what) (?:of |that |which |the |is |was |written |said |stated |in ){0,3}(?:above|you (?:were|have been) (?:told|given|taught)|youve been (?:told|given)|up to (?:now|this point)|until now|so far|came before|before(?: that| this)?)<clause end>",
    ),
    // "ignore the above and say …"
    (
        InstructionOverride,
        Words,
        AsCommand,
        [IGNORE, EARLIER],
        r"<strongly ignore> (?:all |of |the ){0,3}(?:above|previous|prior)(?: text| context| content| input| message)? (?:and|then|instead) (?:instead|tell|say|print|output|write|give|respond|reply|answer|do|translate|reveal|show|repeat|follow|act|pretend|execute|run)\b",
    ),
    (
        InstructionOverride,
        Words,
        Always,
        [TALIMAT, YOK_SAY],
        r"(?:tum |butun |her |senin |sana ){0,2}(?:onceki|daha onceki|bundan onceki|yukaridaki|evvelki|verilen|mevcut|tum|butun) (?:tum |butun |sistem |verilen ){0,2}<talimat>[a-z]{0,10} (?:tamamen |hemen |lutfen |artik ){0,2}<yok say>",
    ),
    (
        InstructionOverride,
        Words,
        Always,
        [IGNORA, INSTRUCCIONES],
        r"<ignora> (?:todas? |todos? |cualquier |las? |los |el |tus? |sus? |mis |estas? |de ){0,4}<instrucciones> (?:que te [a-z]{1,12} )?(?:previas?|previos?|anterior(?:es)?|de arriba|antes|dadas)\b",
    ),
    (
        InstructionOverride,
        Words,
        Always,
        [IGNORA, INSTRUCCIONES],
        r"<ignora> (?:todas? |todos? |las? |los |el |tus? |sus? |mis |de ){0,4}(?:previas?|anterior(?:es)?) <instrucciones>\b",
    ),
    (
        PersonaOverride,
        Words,
        AsCommand,
        [&["you", "become"], FREE],
        r"(?:you are|youre|you will be|you shall be|you have become|become) (?:now |from now on |hereby )?(?:an? |the |completely |fully |totally |entirely |truly ){0,3}<free>\b",
    ),
    (
        PersonaOverride,
        Words,
        Always,
        [&["you"], &["now", "longer"]],
        r"(?:(?:you are|youre) (?:now|from now on|no longer)|from now on you(?: are| will be|re)) (?:(?:an?|the|my) (?:[a-z]{1,16} ){0,2}?<model>|(?:an? |the |my ){0,2}<free>)\b",
    ),
    (
        PersonaOverride,
        Words,
        AsCommand,
        [ACT, FREE],
        r"(?:act|behave|respond|answer|reply|speak|pose|role ?play|play|pretend)(?:ing)? (?:as|like|to be|that you are|you are)(?: if you (?:are|were))? (?:an? |the |completely |fully |totally ){0,2}(?:<free>)\b",
    ),
    (
        PersonaOverride,
        Words,
        UnlessPerson,
        [ACT, &["dan"]],
        r"(?:act|behave|respond|answer|reply|speak|pose|role ?play|play|pretend)(?:ing)? (?:as|like|to be|that you are|you are|youre)(?: if you (?:are|were))? (?:an? |the )?dan\b",
    ),
    (
        PersonaOverride,
        Words,
        Always,
        [&["mode"], PERSONAS],
        r"(?:dan|stan|dude|jailbreak|jailbroken|unrestricted|unfiltered|uncensored) mode\b",
    ),
    (
        PersonaOverride,
        Words,
        Always,
        [&["anything"], &["now"]],
        r"(?:dan (?:stands for|means)|you|who|which|that) (?:can |will )?do anything now\b",
    ),
    (
        PersonaOverride,
        Words,
        Always,
        [&["artik", "simdi", "bundan"], SINIRSIZ],
        r"(?:artik|simdi|bundan (?:sonra|boyle)) (?:sen )?(?:[a-z]{1,16} ){0,3}?(?:kisitlamasiz|sinirsiz|filtresiz|sansursuz) (?:bir )?(?:[a-z]{1,16} ){0,2}?(?:asistan|yapay zeka|model|bot)",
    ),
    (
        PersonaOverride,
        Words,
        Always,
        [&["ahora"], &["sin"]],
        r"(?:ahora|a partir de ahora) (?:tu )?(?:eres|seras) (?:una? )?(?:[a-z]{1,16} ){0,3}?(?:sin (?:ninguna? )?(?:restricciones|restriccion|limites|filtros|censura|reglas))\b",
    ),
    // A line that another speaker of the conversation begins, with words to the model.
    (
        RoleSwitch,
        Plain,
        Always,
        [&["system", "assistant", "developer"], &[":"]],
        r#"(?m)^[ \t>*#\[("'-]{0,8}(?:system|assistant|developer)(?: message| prompt)?[ \t\])*"']{0,4}:[ \t*"']{0,4}\n?[ \t]{0,4}(?:you (?:must|shall|should|will|have to|need to|may now|can now)\b|you are (?:now |no longer )?(?:an?|the|in|free|bound|unrestricted|dan)\b|sure,? here|ignore |disregard |from now on|override |the user is (?:an? )?(?:admin|authori[sz]ed|root)|new (?:instructions?|rules)\b)"#,
    ),
    (
        SpecialToken,
        Plain,
        Always,
        [&["<"], &["|"]],
        r"<[ ]?\|[ ]?/?[a-z][a-z0-9_\u{2581}]{1,30}[ ]?\|[ ]?>",
    ),
    // Glued to a word and never closed it is an index in source code.
    (SpecialToken, Plain, Always, [&["["], &["inst"]], r"\[[ ]?/inst[ ]?\]|\B\[[ ]?inst[ ]?\]"),
    (SpecialToken, Plain, Always, [&["<<"], &["sys"]], r"<</?sys>>"),
    (SpecialToken, Plain, Always, [&["<"], &["_of_"]], r"</?(?:start|end)_of_(?:turn|text|image)>"),
    (
        SpecialToken,
        Plain,
        Always,
        [&["["], &["system_prompt", "available_tools", "tool_"]],
        r"\[/?(?:system_prompt|available_tools|tool_calls|tool_results)\]",
    ),
    (
        PromptLeak,
        Words,
        AsCommand,
        [&["your"], SET_PROMPT],
        r"<reveal> (?:<out> ){0,7}your (?:[a-z]{1,12} )?(?:(?:<secret> ){1,2}<set prompt>|prompt|instructions verbatim)\b",
    ),
    (
        PromptLeak,
        Words,
        AsBareCommand,
        [SECRET, SET_PROMPT],
        r"<reveal> (?:<out> ){0,7}(?:system|hidden|secret|developer|initial) (?:<secret> )?(?:prompt|prompts|instructions)\b",
    ),
    (
        PromptLeak,
        Words,
        Always,
        [&["your"], SET_PROMPT],
        r"(?:what (?:is|are|was|were|does|do)|whats|tell me|know|see) (?:exactly |in ){0,2}your (?:exact |full |current )?(?:(?:<secret> ){1,2}<set prompt>|prompt)\b",
    ),
    (
        PromptLeak,
        Words,
        Always,
        [&["your"], SET_PROMPT],
        r"what (?:are|were) your (?:exact |full )?instructions(?:[.,]|$)",
    ),
    // "repeat everything above verbatim"
    (
        PromptLeak,
        Words,
        AsCommand,
        [EARLIER, REVEAL],
        r"(?:<reveal>) (?:me |back |out ){0,2}(?:everything|all|all of the text|all the text|all text|every word|the (?:text|words?|content|sentences?|paragraphs?|lines?|message|conversation|prompt|instructions)) (?:that |which |is |was |were |written |said |stated |given |from ){0,3}(?:above|before this|prior to this|preceding this)<clause end>",
    ),
    (
        PromptLeak,
        Words,
        Always,
        [&["sistem"], &["prompt", "istem"]],
        r"sistem (?:prompt|istem)[a-z]{0,10} (?:bana |tamamen |aynen |kelimesi kelimesine ){0,2}(?:goster|yazdir|acikla|paylas|soyle|yaz|ver|tekrarla|ifsa et)",
    ),
    (
        PromptLeak,
        Words,
        Always,
        [&["sistem"], &["ne"]],
        r"sistem (?:prompt|istem)[a-z]{0,10} (?:ne|nedir)\b",
    ),
    (
        PromptLeak,
        Words,
        Always,
        [INSTRUCCIONES, &["sistema", "inicial", "original", "secret", "ocult"]],
        r"(?:muestra|muestrame|revela|revelame|dime|imprime|repite|escribe|ensename|cual es|cuales son) (?:todas? |tus? |el |las? |los ){0,3}(?:prompt|instrucciones|mensaje|indicaciones) (?:del? (?:tu )?sistema|inicial(?:es)?|original(?:es)?|secret[ao]s?|ocult[ao]s?)\b",
    ),
];
