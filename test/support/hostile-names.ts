/** Names that are valid upstream, but illegal or colliding in most clients. Each tool answers with its own name. */
export const HOSTILE_NAMES: readonly string[] = [
  "a.b",
  "a-b",
  "a_b",
  "A_B",
  "dots.in.the.name",
  "slash/in/name",
  "colon:in:name",
  "größe-π",
  "日本語",
  "x".repeat(200),
  `${"x".repeat(199)}y`,
  "listed.twice",
];
