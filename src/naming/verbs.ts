/** Verbs that names may begin with, in base form. */
const VERBS = new Set(
  `add aggregate alert analyse analyze answer append approve archive assign ask audit average backup benchmark blame book
  build bump calculate call cancel capture categorise categorize chart check classify clean clear click clone close collect
  combine commit compare compile compress compute concat concatenate connect convert copy count crawl create debug decode
  decrypt deduplicate delete deploy describe detect diff disable display double download draft draw echo edit email embed enable
  encode encrypt estimate evaluate execute expand explain export extract fetch fill filter finalise finalize find fix flatten
  follow forecast forget fork format forward generate get grep group highlight import increase increment index initialise inspect
  insert install invite invoice join kill label link lint list load lock login logout lookup mail make map mark measure merge
  message migrate monitor move normalise normalize notify open optimise optimize order organise organize parse pause pay ping
  pin plan plot post predict prepare print process prune publish pull push query raise rank rate read rebase rebuild record
  recommend redact reduce refactor refresh refund register release remember remind remove rename render reopen reorder
  replace reply report request research reserve reset resize resolve restart restore resume retrieve reverse revert review revoke
  rollback rotate round run sample save scaffold scale scan schedule scrape search select send set setup share show shorten sign simplify
  simulate skip snapshot solve sort split stage start stop store stream strip subscribe submit subtract sum summarise
  summarize suspend switch sync synchronise tag take tail test think tokenize toggle total trace track train transcribe transfer
  transform transition translate trigger trim triage turn unlock unsubscribe update upgrade upload upsert validate verify
  view visit visualise visualize wait warn watch write zip`.split(/\s+/),
);

/** Shorter or more common synonyms. */
const PLAIN_SYNONYMS: Readonly<Record<string, string>> = {
  retrieve: "get",
  obtain: "get",
  grab: "get",
  gather: "collect",
  display: "show",
  see: "show",
  view: "show",
  tell: "show",
  give: "get",
  look: "find",
  locate: "find",
  determine: "get",
  "sign-in": "login",
  erase: "delete",
  persist: "save",
  memorise: "remember",
  synchronise: "sync",
  synchronize: "sync",
  initialise: "setup",
  initialize: "setup",
};

/** Returns the base form if the word can be a name's verb. Plurals such as `invoices` count as nouns. */
export function findVerb(word: string): string | undefined {
  return baseForms(word)
    .map((form) => PLAIN_SYNONYMS[form] ?? form)
    .find((form) => VERBS.has(form));
}

/** Undoes `fetching`, `storing`, `stopping`. */
function baseForms(word: string): string[] {
  const stem = /^(.{2,})ing$/.exec(word)?.[1];
  return stem === undefined ? [word] : [word, stem, `${stem}e`, stem.replace(/([bdgmnprt])\1$/, "$1")];
}

/** Verbs that are one word in a name and two in a sentence. */
export const TWO_WORD_VERBS: readonly (readonly [RegExp, string])[] = [
  [/\blog(?:ging)? in(?:to)?\b/g, "login"],
  [/\bsign(?:ing)? in(?:to)?\b/g, "login"],
  [/\blog(?:ging)? out\b/g, "logout"],
  [/\blook(?:ing)? up\b/g, "lookup"],
  [/\blook(?:ing)? for\b/g, "find"],
  [/\bback(?:ing)? up\b/g, "backup"],
  [/\bset(?:ting)? up\b/g, "setup"],
  [/\bclean(?:ing)? up\b/g, "clean"],
  [/\bfill(?:ing)? (?:in|out)\b/g, "fill"],
  [/\bfind(?:ing)? out\b/g, "find"],
  [/\bturn(?:ing)? off\b/g, "disable"],
  [/\bturn(?:ing)? on\b/g, "enable"],
  [/\bcheck(?:ing)? out\b/g, "checkout"],
  [/\broll(?:ing)? back\b/g, "rollback"],
  [/\bfigur(?:e|ing) out\b/g, "find"],
  [/\bdouble-?check/g, "check"],
  [/\btl;?dr(?: of)?\b/g, "summarise"],
  [/\be-mail/g, "email"],
  [/\bweb ?pages?\b/g, "page"],
];

/** Words without meaning for a name. */
const FILLERS = new Set(
  `a an the this that these those my your our their his her its all any every each some several many few more most very just
  also both given existing specific certain particular single whole entire own new newest current latest recent here there now
  today todays yesterday tomorrow please me us you i we it them one two three four five six seven eight nine ten first last
  next other another same different following above below such it's i'm expected various simple quick full complete`.split(
    /\s+/,
  ),
);

export function isFiller(word: string): boolean {
  return FILLERS.has(word) || /^\d+$/.test(word) || word.endsWith("ly");
}

/** Words that a noun or an adjective follows. */
export const DETERMINERS = new Set(
  `a an the this these those my your our their his her its all any every each`.split(" "),
);

/** Nouns too general to make a name on their own. */
const VAGUE = new Set(
  `thing things stuff data task tasks step steps test job work something anything everything code program script tool tools
  example demo request action operation item items info information it way`.split(/\s+/),
);

export function isVague(word: string): boolean {
  return VAGUE.has(word);
}

/** Words that end a noun phrase. */
export const PREPOSITIONS = new Set(
  `from in into to for with of by on at between about without within through via per across under over as since before after
  while during until against using based inside where onto off than like`.split(/\s+/),
);

export const CLAUSE_WORDS = new Set(
  `that which who whose whom whether if when once what how why because so then but unless`.split(/\s+/),
);

/** Verbs that follow their noun; excludes words that are also nouns. */
const FINITE = new Set(
  `is are was were be been has have had do does did can could may might will would should must not point points match matches
  listen listens work works wait waits own owns exist exists contain contains need needs use uses belong belongs happen happens
  named called sorted ordered grouped filtered assigned said left older newer larger smaller greater wrote`.split(
    /\s+/,
  ),
);

export function isFinite(word: string): boolean {
  return FINITE.has(word);
}

/** Nouns that only point to the one after `of`. */
export const POINTERS = new Set(
  `list set number count amount contents content copy kind kinds bunch piece part parts series rest text result results group`.split(
    /\s+/,
  ),
);

/** Words that only join others. */
export function isFunctionWord(word: string): boolean {
  return isFiller(word) || PREPOSITIONS.has(word) || CLAUSE_WORDS.has(word) || isFinite(word);
}

export const DATA_FORMATS = new Set(
  `json csv tsv yaml yml xml toml html markdown md pdf txt env ini sql parquet xlsx excel jsonl`.split(/\s+/),
);

/** Words that a name in `fs` can do without. */
export const CONTAINERS = new Set(["file", "files", "folder", "directory"]);

export function splitWords(text: string): string[] {
  return text
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}
